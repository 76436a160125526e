// Stands in for the storage library `lmdb` in the sources: the part of it that they use, on the simulated disk, with the
// library's promises and no more. A transaction is on disk, data first and then the page that names it, when the call or the
// promise says so; in between it may be seen and lost. A handle reads what was committed when its event turn began. What
// `getBinaryFast` lends is overwritten by the next such call. After a commit that failed an environment may refuse
// everything until all have closed it.

import {
  type Contents,
  pageBytes,
  pagesOf,
  placeOf,
  type Table,
  Transaction,
  tableOf,
  valueAt,
} from './contents.ts';
import { type CommitFault, diskError, type Machine, theMachine } from './machine.ts';
import { EnvironmentFile, Folder } from './volume.ts';

type Key = number | string | Uint8Array;
interface Range {
  readonly start?: Key;
  readonly end?: Key;
  readonly reverse?: boolean;
  readonly limit?: number;
  readonly exclusiveStart?: boolean;
  readonly transaction?: ReadTransaction;
}

/** What was there at one moment, for as long as somebody reads it. */
interface ReadTransaction {
  readonly contents: Contents;
  done(): void;
}

const panic = -30795;
/** The library lends one buffer. */
const lent = Buffer.alloc(1 << 20);

/** Numbers come before texts, and a table has keys of one kind only. */
function textOf(key: Key): string {
  if (typeof key === 'number') return `\u0001${String(key).padStart(16, '0')}`;
  if (typeof key === 'string') return `\u0002${key}`;
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}

function keyOf(text: string, isBinary: boolean): Key {
  if (isBinary) return Buffer.from(text, 'latin1');
  return text[0] === '\u0001' ? Number(text.slice(1)) : text.slice(1);
}

/** How often another process opens an environment just when a transaction is committed. */
const openedAtCommit = 1 / 20;

/** What all databases of one handle share. */
class Handle {
  readonly machine: Machine = theMachine();
  readonly file: EnvironmentFile;
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly isApart: boolean;
  readonly close: () => void;
  transaction: Transaction | null = null;
  /** Puts that `batch` gathers. */
  gathered: ((transaction: Transaction) => void)[] | null = null;
  isClosed = false;
  /** How many ranges have begun to be read, and snapshots, that nobody has ended yet. */
  reads = 0;
  #seen: Contents | null = null;
  #seenUntilMs = 0;

  constructor(path: string, file: EnvironmentFile, isReadOnly: boolean) {
    this.path = path;
    this.file = file;
    this.isReadOnly = isReadOnly;
    // What the library knows of an environment, it knows within one process.
    this.isApart = this.machine.isApart();
    if (!this.isApart) file.handles++;
    // OpenLDAP's ITS#9496: see src/disk/environment-file.ts.
    else if (file.handles > 0 && this.machine.random.chance(openedAtCommit)) file.isBehind = true;
    this.close = this.machine.opened(path, () => {
      this.isClosed = true;
      if (this.isApart) return;
      file.handles = Math.max(0, file.handles - 1);
      if (file.handles === 0) file.isPoisoned = false;
    });
  }

  check(): void {
    this.machine.step();
    if (this.isClosed) throw new Error(`${this.path} is closed`);
    if (this.file.isPoisoned && !this.isApart) throw Object.assign(new Error('MDB_PANIC'), { code: panic });
  }

  renew(): void {
    this.#seen = null;
  }

  table(name: string): Table {
    if (this.transaction !== null) return this.transaction.table(name);
    const { nowMs } = this.machine.simulation;
    if (this.#seen === null || nowMs > this.#seenUntilMs) {
      this.#seen = this.file.contents;
      this.#seenUntilMs = nowMs + this.machine.random.skewed(0.01, 10);
    }
    return tableOf(this.#seen, name);
  }

  /** Writes a transaction now, or fails as the fault says. */
  write(transaction: Transaction, fault: CommitFault | undefined): void {
    if (fault === undefined || fault.isWritten) this.file.write(transaction.finish());
    if (fault === undefined) return;
    if (fault.isWritten) this.machine.sync(this.file);
    if (!this.isApart) this.file.isPoisoned = fault.poisons;
    this.renew();
    this.machine.failedLane = this.machine.simulation.current;
    throw diskError(fault.fault);
  }
}

class Database {
  readonly #handle: Handle;
  readonly #name: string;
  readonly #isBinary: boolean;

  constructor(handle: Handle, name: string, isBinary: boolean) {
    this.#handle = handle;
    this.#name = name;
    this.#isBinary = isBinary;
  }

  get path(): string {
    return this.#handle.path;
  }

  openDB({ name, keyEncoding }: { name: string; keyEncoding?: string }): Database {
    this.#handle.check();
    return new Database(this.#handle, name, keyEncoding === 'binary');
  }

  #table(transaction?: ReadTransaction): Table {
    this.#handle.check();
    return transaction === undefined
      ? this.#handle.table(this.#name)
      : tableOf(transaction.contents, this.#name);
  }

  useReadTransaction(): ReadTransaction {
    const handle = this.#handle;
    handle.check();
    handle.reads++;
    return { contents: handle.file.contents, done: () => void handle.reads-- };
  }

  get(key: Key, { transaction }: Pick<Range, 'transaction'> = {}): Buffer | undefined {
    const value = valueAt(this.#table(transaction), textOf(key));
    return value && Buffer.from(value);
  }

  getBinaryFast(key: Key): Buffer | undefined {
    const value = valueAt(this.#table(), textOf(key));
    if (value === undefined || value.length > lent.length) return value && Buffer.from(value);
    lent.fill(0xdb, 0, Math.min(lent.length, value.length + 256));
    value.copy(lent);
    return lent.subarray(0, value.length);
  }

  *#rows({
    start,
    end,
    reverse = false,
    limit = Infinity,
    exclusiveStart = false,
    transaction,
  }: Range): Generator<number> {
    const { keys } = this.#table(transaction);
    const first = start === undefined ? undefined : textOf(start);
    const last = end === undefined ? undefined : textOf(end);
    let at = reverse ? keys.length - 1 : 0;
    if (first !== undefined) {
      at = placeOf({ keys, values: [] }, first);
      const isAt = keys[at] === first;
      if (reverse) at = isAt && !exclusiveStart ? at : at - 1;
      else if (isAt && exclusiveStart) at++;
    }
    for (let count = 0; count < limit && at >= 0 && at < keys.length; count++, at += reverse ? -1 : 1) {
      const key = keys[at]!;
      if (last !== undefined && (reverse ? key <= last : key >= last)) return;
      yield at;
    }
  }

  /** Holds what the library holds for a range, until it is read to its end or ended. */
  *#read(range: Range): Generator<number> {
    this.#handle.reads++;
    try {
      yield* this.#rows(range);
    } finally {
      this.#handle.reads--;
    }
  }

  *getKeys(range: Range = {}): Generator<Key> {
    const { keys } = this.#table(range.transaction);
    for (const at of this.#read(range)) yield keyOf(keys[at]!, this.#isBinary);
    // The names of the tables are keys of the environment's own one.
    if (this.#name !== '' || range.start !== undefined || range.reverse) return;
    for (const name of this.#handle.file.contents.tables.keys()) if (name !== '') yield name;
  }

  *getRange(range: Range = {}): Generator<{ readonly key: Key; readonly value: Buffer }> {
    const { keys, values } = this.#table(range.transaction);
    for (const at of this.#read(range))
      yield { key: keyOf(keys[at]!, this.#isBinary), value: Buffer.from(values[at]!) };
  }

  getCount(range: Range = {}): number {
    let count = 0;
    for (const _at of this.#rows(range)) count++;
    return count;
  }

  put(key: Key, value: Uint8Array, options: { append?: boolean } = {}): Promise<boolean> {
    const handle = this.#handle;
    const { gathered } = handle;
    if (gathered === null) throw new Error('the sources put within a batch only');
    const bytes = Buffer.from(value);
    return new Promise((resolve) => {
      gathered.push((transaction) =>
        resolve(transaction.put(this.#name, textOf(key), bytes, options.append === true)),
      );
    });
  }

  putSync(key: Key, value: Uint8Array, options: { append?: boolean } = {}): boolean {
    return this.transactionSync(() =>
      this.#handle.transaction!.put(this.#name, textOf(key), Buffer.from(value), options.append === true),
    );
  }

  removeSync(key: Key): boolean {
    return this.transactionSync(() => this.#handle.transaction!.remove(this.#name, textOf(key)));
  }

  /** One transaction of this very thread. */
  transactionSync<T>(run: () => T): T {
    const handle = this.#handle;
    if (handle.transaction !== null) return run();
    handle.check();
    if (handle.isReadOnly) throw Object.assign(new Error('Permission denied'), { code: 13 });
    const transaction = new Transaction(handle.file.base);
    handle.transaction = transaction;
    let result: T;
    try {
      result = run();
    } finally {
      handle.transaction = null;
    }
    handle.machine.step();
    handle.write(transaction, handle.machine.takeFault(handle.path));
    handle.machine.step();
    handle.machine.sync(handle.file);
    handle.renew();
    return result;
  }

  /** One transaction of a thread of the library's own: data, then the page that names it, each synced. */
  batch(gather: () => void): Promise<boolean> {
    const handle = this.#handle;
    const { machine } = handle;
    handle.check();
    const puts: ((transaction: Transaction) => void)[] = [];
    handle.gathered = puts;
    gather();
    handle.gathered = null;
    const { simulation } = machine;
    const lane = simulation.current;
    const write = () => {
      const transaction = new Transaction(handle.file.base);
      for (const put of puts) put(transaction);
      return transaction;
    };
    return new Promise((resolve, reject) => {
      const pending = {
        lane,
        file: handle.file,
        rows: puts.length,
        finish(isSynced: boolean) {
          handle.file.write(write().finish());
          if (isSynced) machine.sync(handle.file);
        },
      };
      const settle = (after: () => void) => simulation.after(lane, machine.writeMs(), after);
      machine.pending.add(pending);
      settle(() => {
        if (!machine.pending.delete(pending)) return;
        try {
          handle.write(write(), machine.takeFault(handle.path));
        } catch (error) {
          const commitError = Promise.reject(error);
          commitError.catch(() => {});
          reject(Object.assign(new Error('Commit failed'), { commitError }));
          return;
        }
        settle(() => {
          machine.sync(handle.file);
          machine.committed(handle.file);
          resolve(true);
        });
      });
    });
  }

  resetReadTxn(): void {
    this.#handle.renew();
  }

  /** Nobody dies here without being known to be dead. */
  readerCheck(): number {
    this.#handle.check();
    return 0;
  }

  getStats() {
    const entryCount = this.#table().keys.length;
    return { lastPageNumber: pagesOf(this.#handle.file.contents) - 1, pageSize: pageBytes, entryCount };
  }

  /** The library frees what a range still holds, and the process dies of its next step. */
  async close(): Promise<void> {
    const { path, reads } = this.#handle;
    this.#handle.close();
    if (reads > 0) throw new Error(`${path} is closed while ${reads} ranges of it are being read`);
  }
}

export interface OpenOptions {
  readonly path: string;
  readonly readOnly?: boolean;
}

export function open({ path, readOnly = false }: OpenOptions): Database {
  const machine = theMachine();
  machine.step();
  let file = machine.volume.find(path);
  if (file === undefined) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (machine.volume.find(folder) === undefined) machine.volume.put(folder, new Folder());
    if (machine.volume.isFull) throw diskError('full');
    file = new EnvironmentFile();
    machine.volume.put(path, file);
  }
  if (!(file instanceof EnvironmentFile)) throw new Error(`${path} is no environment`);
  return new Database(new Handle(path, file, readOnly), '', false);
}
