// The checkpoint on LMDB: the shard's state as of a sequence. The shard reads there what memory doesn't hold; a follower
// of the log writes it, mostly in another thread, which has the same environment open. A commit takes the thread that
// makes it.
//
// Tables: `records` (id → record, sealed), `index` (name and sort key → nothing), `kept` (idempotency keys, see
// kept-rows.ts), `levels` (scope → bytes), `meta` (format, the sequence, and the log's newest segment).
//
// A checkpoint is many small transactions, and a crash may come between any two. That is harmless: the sequence goes
// in the last transaction, so after such a crash `records` is ahead of `sequence`, and the log is replayed from
// `sequence`. A change carries the whole record and never a difference, so replay gives every record that is ahead
// its final value again, and the next checkpoint writes it again. A record and its index rows go in one transaction,
// and stale rows are found from the record that is stored: the index always agrees with `records`.

import { assert } from '../core/assert.ts';
import { breath, type Scheduler } from '../core/scheduler.ts';
import type { Change } from '../domain/record.ts';
import type { IndexRow, ScanRange } from '../domain/view.ts';
import {
  commit,
  dataFile,
  type Environment,
  guardRead,
  openEnvironment,
  openTable,
  type Table,
} from './environment.ts';
import type { Part } from './identity.ts';
import { indexKey, nameOf, scanBounds, sortKeyOf } from './index-keys.ts';
import {
  type CheckpointInput,
  JournalDamaged,
  JournalFailure,
  type KeptKey,
  type WritableCheckpoint,
} from './journal.ts';
import { hourKey, packKeptKeys, unpackKeptKeys } from './kept-rows.ts';
import { decodeRecord, encodeRecord } from './record-layout.ts';

const format = 1;
const readRecordsMax = 1_000;
/** A transaction takes so many records, or fewer large ones: one that is much larger slows those after it. */
const transactionRecordsMax = 1_000;
const transactionBytesMax = 2 * 1024 * 1024;
/** LMDB's own limit. */
const keyBytesMax = 1_978;
const nothing = Buffer.alloc(0);
const sequenceKey = Buffer.from('sequence');
const formatKey = Buffer.from('format');
const segmentKey = Buffer.from('segment');

/** The rows of all indexes that a record belongs to. */
export type IndexRowsOf = (record: Change) => readonly IndexRow[];

export interface CheckpointOptions {
  readonly folder: string;
  readonly part: Part;
  readonly mapSize: number;
  readonly indexRowsOf: IndexRowsOf;
  readonly scheduler: Scheduler;
  /** Another thread has it open, and has checked it. */
  readonly isShared?: boolean;
}

/** A row to write, or to remove when its value is null. */
interface Row {
  readonly table: Table;
  readonly key: Uint8Array;
  readonly value: Buffer | null;
}

export class LmdbCheckpoint implements WritableCheckpoint {
  readonly #folder: string;
  readonly #environment: Environment;
  readonly #indexRowsOf: IndexRowsOf;
  readonly #scheduler: Scheduler;
  readonly #records: Table;
  readonly #index: Table;
  readonly #kept: Table;
  readonly #levels: Table;
  readonly #meta: Table;
  #sequence: number;
  #isWriting = false;
  #failure: JournalFailure | null = null;

  /** Opens the checkpoint whose environment was created in the folder. Throws `JournalDamaged`. */
  constructor({ folder, part, mapSize, indexRowsOf, scheduler, isShared = false }: CheckpointOptions) {
    this.#folder = folder;
    this.#indexRowsOf = indexRowsOf;
    this.#scheduler = scheduler;
    this.#environment = openEnvironment({ folder, part, mapSize, check: isShared ? 'none' : 'branches' });
    this.#records = openTable(this.#environment, 'records');
    this.#index = openTable(this.#environment, 'index');
    this.#kept = openTable(this.#environment, 'kept');
    this.#levels = openTable(this.#environment, 'levels');
    this.#meta = openTable(this.#environment, 'meta');
    const stored = this.#read(() => this.#meta.get(formatKey))?.readUInt8(0);
    if (stored !== undefined && stored !== format)
      throw new JournalDamaged(
        `The checkpoint in ${folder} has the format ${stored}, unknown to this version`,
      );
    this.#sequence = this.#storedSequence();
  }

  #storedSequence(): number {
    return this.#read(() => this.#meta.get(sequenceKey))?.readDoubleLE(0) ?? 0;
  }

  /** Reads what another thread has written from now on. */
  renew(): void {
    this.#environment.resetReadTxn();
    this.#sequence = this.#storedSequence();
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** The first sequence of the newest segment that the log ever had, as far as it was noted; 0: none. */
  get newestSegment(): number {
    return this.#read(() => this.#meta.get(segmentKey))?.readDoubleLE(0) ?? 0;
  }

  /** Notes the log's newest segment, so that its loss is noticed. Throws `JournalFailure`. */
  noteSegment(firstSequence: number): void {
    this.#commit([{ table: this.#meta, key: segmentKey, value: sequenceBytes(firstSequence) }]);
  }

  get(id: string): Change | undefined {
    const key = Buffer.from(id);
    // Whoever reads may ask for any text; the library throws for one that can't be a key.
    if (key.length === 0 || key.length > keyBytesMax) return undefined;
    return this.#read(() => {
      const bytes = this.#records.getBinaryFast(key);
      return bytes === undefined ? undefined : this.#decode(id, view(bytes));
    });
  }

  #decode(id: string, bytes: Buffer): Change {
    const record = decodeRecord(bytes);
    if (record?.id === id) return record;
    throw this.#damaged(`the record ${id} is not as it was written`);
  }

  #damaged(defect: string): JournalDamaged {
    const file = dataFile(this.#folder);
    return new JournalDamaged(`${file} is damaged: ${defect}. Restore the data folder from a backup`);
  }

  /** The first name of an index after `name`, in the order of their bytes, among those that are not too long to be told. */
  indexAfter(name: string): string | undefined {
    const start = Buffer.from(`${name}\u0001`);
    const [key] = this.#read(() => [...this.#index.getKeys({ start, limit: 1 })]);
    return key && nameOf(key);
  }

  *scan(index: string, range: ScanRange): Generator<string> {
    const keys = this.#read(() => this.#index.getKeys(scanBounds(index, range))[Symbol.iterator]());
    try {
      for (;;) {
        const { done, value } = this.#read(() => keys.next());
        if (done === true) return;
        yield sortKeyOf(value);
      }
    } finally {
      keys.return?.();
    }
  }

  /** Rejects with `JournalFailure`; the checkpoint then reads on, and writes no more until the journal is opened again. */
  async write({ records: changes, sequence, keptKeys }: CheckpointInput): Promise<void> {
    assert(!this.#isWriting, 'one checkpoint is written at a time');
    assert(sequence >= this.#sequence, 'a checkpoint never goes back');
    assert(sequence > this.#sequence || keptKeys.length === 0, 'used keys come with a later sequence');
    this.#isWriting = true;
    try {
      let rows: Row[] = [];
      let [records, bytes] = [0, 0];
      for (const [prefix, group] of byPrefix(changes.values())) {
        const lastStored = this.#lastStored(prefix);
        for (const record of group) {
          bytes += this.#addRows(rows, record, record.id > lastStored);
          if (++records < transactionRecordsMax && bytes < transactionBytesMax) continue;
          this.#commit(rows);
          [rows, records, bytes] = [[], 0, 0];
          // What else there is for this thread to do.
          await breath(this.#scheduler);
        }
      }
      for (const [key, value] of packKeptKeys(keptKeys, sequence))
        rows.push({ table: this.#kept, key, value });
      rows.push({ table: this.#meta, key: formatKey, value: Buffer.from([format]) });
      rows.push({ table: this.#meta, key: sequenceKey, value: sequenceBytes(sequence) });
      this.#commit(rows);
      this.#sequence = sequence;
    } finally {
      this.#isWriting = false;
    }
  }

  /** The last id of those with this prefix, or a text before all of them: what comes later was never stored. */
  #lastStored(prefix: string): string {
    const bounds = {
      start: Buffer.from(`${prefix}\uffff`),
      end: Buffer.from(prefix),
      reverse: true,
      limit: 1,
    };
    const [last] = this.#read(() => [...this.#records.getKeys(bounds)]);
    return last === undefined ? '' : Buffer.from(last).toString();
  }

  /** Adds the record's own row and those rows of indexes that are new or stale; returns the bytes of the record. */
  #addRows(rows: Row[], record: Change, isNew: boolean): number {
    const isRemoved = record.removed === true;
    const stored = isNew ? undefined : this.get(record.id);
    const before = stored === undefined ? [] : this.#indexRowsOf(stored);
    const after = isRemoved ? [] : this.#indexRowsOf(record);
    const value = isRemoved ? null : encodeRecord(record);
    rows.push({ table: this.#records, key: smallKey(record.id), value });
    for (const row of before)
      if (!holds(after, row)) rows.push({ table: this.#index, key: indexKey(row), value: null });
    for (const row of after)
      if (!holds(before, row)) rows.push({ table: this.#index, key: indexKey(row), value: nothing });
    return value?.length ?? 0;
  }

  *keptKeys(sinceMs: number): Generator<KeptKey> {
    let start = hourKey(sinceMs);
    for (let exclusiveStart = false; ; exclusiveStart = true) {
      // A value at a time: whoever asks may wait in between, and a read transaction of the library ends then.
      const [row] = this.#read(() => [...this.#kept.getRange({ start, exclusiveStart, limit: 1 })]);
      if (row === undefined) return;
      const keys = unpackKeptKeys(row.value);
      if (keys === null) throw this.#damaged('idempotency keys are not as they were written');
      for (const kept of keys) if (kept.usedAtMs >= sinceMs) yield kept;
      start = Buffer.from(row.key);
    }
  }

  dropKeptKeys(beforeMs: number): void {
    const keys = this.#read(() => [...this.#kept.getKeys({ end: hourKey(beforeMs) })]);
    this.#commitParts(keys.map((key) => ({ table: this.#kept, key, value: null })));
  }

  *records(): Generator<Change> {
    // Some at a time: whoever asks may wait in between, and a read transaction of the library ends then.
    for (let last: Uint8Array = nothing; ; ) {
      const range = { start: last, exclusiveStart: true, limit: readRecordsMax };
      const rows = this.#read(() => [...this.#records.getRange(range)]);
      for (const { key, value } of rows) yield this.#decode(Buffer.from(key).toString(), value);
      if (rows.length < readRecordsMax) return;
      last = rows.at(-1)!.key;
    }
  }

  getLevel(scope: string): Uint8Array | undefined {
    return this.#read(() => this.#levels.get(Buffer.from(scope)));
  }

  levels(): ReadonlyMap<string, Uint8Array> {
    const rows = this.#read(() => [...this.#levels.getRange({})]);
    return new Map(rows.map(({ key, value }) => [Buffer.from(key).toString(), value]));
  }

  putLevels(levels: ReadonlyMap<string, Uint8Array>): void {
    this.#commitParts(
      [...levels].map(([scope, level]) => ({
        table: this.#levels,
        key: smallKey(scope),
        value: Buffer.from(level),
      })),
    );
  }

  #commitParts(rows: readonly Row[]): void {
    for (let start = 0; start < rows.length; start += transactionRecordsMax)
      this.#commit(rows.slice(start, start + transactionRecordsMax));
  }

  /** One transaction. After one that failed there is none any more. */
  #commit(rows: readonly Row[]): void {
    if (this.#failure !== null) throw this.#failure;
    if (rows.length === 0) return;
    try {
      commit(this.#environment, () => {
        for (const { table, key, value } of rows) {
          if (value === null) table.removeSync(key);
          else table.putSync(key, value);
        }
      });
    } catch (error) {
      if (error instanceof JournalFailure) this.#failure = error;
      throw error;
    }
  }

  #read<T>(read: () => T): T {
    return guardRead(this.#folder, read);
  }

  async close(): Promise<void> {
    this.#failure ??= new JournalFailure('The checkpoint is closed', { diskFull: false });
    await this.#environment.close();
  }
}

/** What the library lends until its next read: its own buffer, with a property `length` that is not the buffer's. */
function view(bytes: Buffer): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The records by the prefix of their ids, each group in the order of its ids, which is the order of the pages. */
function byPrefix(records: Iterable<Change>): Map<string, Change[]> {
  const groups = new Map<string, Change[]>();
  for (const record of records) {
    const prefix = record.id.slice(0, record.id.indexOf('_') + 1);
    const group = groups.get(prefix);
    if (group === undefined) groups.set(prefix, [record]);
    else group.push(record);
  }
  // Within a group most records come in order already, which sorting makes use of.
  for (const group of groups.values()) group.sort((a, b) => (a.id < b.id ? -1 : 1));
  return groups;
}

function holds(rows: readonly IndexRow[], { index, sortKey }: IndexRow): boolean {
  return rows.some((row) => row.index === index && row.sortKey === sortKey);
}

function smallKey(text: string): Buffer {
  const key = Buffer.from(text);
  assert(key.length > 0 && key.length <= keyBytesMax, `a key of ${key.length} bytes`);
  return key;
}

function sequenceBytes(sequence: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(sequence);
  return bytes;
}
