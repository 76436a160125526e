// The directory's rows on disk. Each change is one commit: the rows as they are after it, the
// revision, and an entry of the log of changes (change-log.ts). Changes are made one after the
// other, because each is decided on the result of the one before. A change is first on disk, then
// in memory. A full disk is noticed before anything is written. After a write that failed, which
// may be on disk, the directory can't be used any more.

import { pack, unpack } from 'msgpackr';
import type { Clock } from '../core/clock.ts';
import type { Part } from '../disk/identity.ts';
import type { RemoteRows } from '../disk/remote-rows.ts';
import { createRowStore, RowStore } from '../disk/row-store.ts';
import { JournalDamaged, JournalFailure } from '../journal/journal.ts';
import { changeRowOf, encodeChange, expiredChanges } from './change-log.ts';
import { mirroredRows } from './directory-mirror.ts';

/** The layout of the rows; another one is refused. */
const format = 2;
const formatRow = 'format';
const revisionRow = 'revision';
const fullDisk = 'The disk is full, so nothing can be changed: make room';

type Rows = readonly (readonly [row: string, content: Uint8Array | null])[];

/** Rows that end in the commit of a change. They are not in the log of changes. */
export interface Ending {
  readonly rows: Rows;
  /** Takes the end into memory, once it is on disk. */
  apply(): void;
}

/** What a change leaves: its rows, where null removes one. */
export interface StoreChange<T> {
  readonly rows: Rows;
  readonly value: T;
  readonly endings?: readonly Ending[];
  /** Takes the change into memory, once it is on disk. */
  apply(): void;
}

export interface DirectoryStoreOptions {
  readonly folder: string;
  readonly part: Part;
  readonly now: Clock;
  /** A change could not be written; `fatal`: nor can later ones, unlike on a full disk. */
  readonly onFailure?: (error: unknown, fatal: boolean) => void;
  /** Whether the disk is too full to be written to: then changes are refused. */
  readonly isDiskFull?: () => boolean;
  /** Up to which revision the log of changes is archived; without it, age alone decides. */
  readonly archivedRevision?: () => number;
  /** Other machines hold the rows, too: each write is acknowledged by them first. */
  readonly remote?: RemoteRows | null;
}

/** How many changes were made to the directory in a store. */
export function revisionOf(store: RowStore): number {
  const bytes = store.get(revisionRow);
  return bytes === undefined ? 0 : (unpack(bytes) as number);
}

/** Creates an empty directory. */
export async function createDirectory(folder: string, part: Part): Promise<void> {
  await createRowStore(folder, part);
  const store = new RowStore(folder, part);
  await store.write(new Map([[formatRow, pack(format)]]));
  await store.close();
}

export class DirectoryStore {
  readonly now: Clock;
  readonly #store: RowStore;
  readonly #onFailure: NonNullable<DirectoryStoreOptions['onFailure']>;
  readonly #isDiskFull: NonNullable<DirectoryStoreOptions['isDiskFull']>;
  readonly #archivedRevision: NonNullable<DirectoryStoreOptions['archivedRevision']>;
  readonly #remote: RemoteRows | null;
  #revision: number;
  readonly #listeners: ((revision: number) => void)[] = [];
  /** The last write. The next one waits for it, because it is decided on its result. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  /** Opens the directory of a folder. Throws `JournalDamaged` when it can't be used as it is. */
  constructor({
    folder,
    part,
    now,
    onFailure = () => {},
    isDiskFull = () => false,
    archivedRevision = () => Number.POSITIVE_INFINITY,
    remote = null,
  }: DirectoryStoreOptions) {
    this.now = now;
    this.#onFailure = onFailure;
    this.#isDiskFull = isDiskFull;
    this.#archivedRevision = archivedRevision;
    this.#remote = remote;
    this.#store = new RowStore(folder, part);
    if (this.number(formatRow) !== format)
      throw new JournalDamaged(`${folder} was written by another version: use the one that wrote it`);
    this.#revision = revisionOf(this.#store);
  }

  /** How many changes were made. */
  get revision(): number {
    return this.#revision;
  }

  /** Calls `listener` after every change, with how many were made. */
  onChange(listener: (revision: number) => void): void {
    this.#listeners.push(listener);
  }

  get(row: string): Buffer | undefined {
    return this.#store.get(row);
  }

  /** The number in a row; 0 without one. */
  number(row: string): number {
    const bytes = this.get(row);
    return bytes === undefined ? 0 : (unpack(bytes) as number);
  }

  /** The values of the rows whose names begin with `prefix`. */
  *values<T>(prefix: string): Generator<T> {
    for (const bytes of this.#store.rows(prefix)) yield unpack(bytes) as T;
  }

  /**
   * Makes a change: `decide` says what it leaves, and may refuse by throwing. One without rows
   * changes nothing: it is not counted, and not in the log.
   */
  async change<T>(decide: () => StoreChange<T>): Promise<T> {
    let change!: StoreChange<T>;
    const make = () => {
      change = decide();
      if (change.rows.length === 0) return new Map();
      const revision = this.#revision + 1;
      const rows: Rows = [...change.rows, [revisionRow, pack(revision)]];
      const logged = encodeChange({ revision, after: this.#revision, timeMs: this.now(), rows });
      const expired = expiredChanges(this.#store, this.now(), this.#archivedRevision());
      const ended = endingsOf(change).flatMap((ending) => ending.rows);
      return new Map([...rows, ...ended, [changeRowOf(revision), logged], ...expired]);
    };
    await this.write(make, () => {
      this.#revision++;
      change.apply();
      for (const ending of endingsOf(change)) ending.apply();
    });
    if (change.rows.length === 0) return change.value;
    for (const listener of this.#listeners) listener(this.#revision);
    return change.value;
  }

  /** Continues the count at `revision`: shards know of changes that this directory has lost. */
  async skipTo(revision: number): Promise<void> {
    const rows: Rows = [[revisionRow, pack(revision)]];
    const make = () => {
      const change = { revision, after: this.#revision, timeMs: this.now(), rows };
      return new Map([...rows, [changeRowOf(revision), encodeChange(change)]]);
    };
    await this.write(make, () => {
      this.#revision = revision;
    });
  }

  /**
   * Writes rows after the last write, without a change of the revision. They are made then, and
   * `onWritten` is called when they are on disk; without any, nothing is done. Rejects with
   * `JournalFailure` when the disk is full, or does not take them.
   */
  write(make: () => ReadonlyMap<string, Uint8Array | null>, onWritten = () => {}): Promise<void> {
    const written = this.#lastWrite.then(async () => {
      const rows = make();
      if (rows.size === 0) return;
      const isFull = this.#isDiskFull();
      try {
        if (isFull) throw new JournalFailure(fullDisk, { diskFull: true });
        const end = await this.#remote?.write(rows);
        await this.#store.write(end === undefined ? rows : mirroredRows(rows, end));
        onWritten();
      } catch (error) {
        this.#onFailure(error, !isFull);
        throw error;
      }
    });
    this.#lastWrite = written.catch(() => {});
    return written;
  }

  async close(): Promise<void> {
    await this.#remote?.close(this.#lastWrite);
    await this.#lastWrite;
    await this.#store.close();
  }
}

function endingsOf({ endings = [] }: StoreChange<unknown>): readonly Ending[] {
  return endings;
}
