// The journal in memory, for tests of what lies above it: same interface, no disk, faults on demand. What was
// appended but hasn't settled is lost by `reopen`, as it would be in a crash.

import { assert } from '../../src/core/assert.ts';
import type { Change } from '../../src/domain/record.ts';
import type { ScanRange } from '../../src/domain/view.ts';
import type { IndexRowsOf } from '../../src/journal/checkpoint.ts';
import { encodeTurn } from '../../src/journal/codec.ts';
import { tagBytes } from '../../src/journal/identity.ts';
import {
  type Checkpointer,
  type CheckpointInput,
  type Entry,
  type IdempotencyRecord,
  JournalDamaged,
  JournalFailure,
  type Log,
  type LogBatch,
  type OwnJournal,
  type ReplayedEntry,
  type ResponseLocation,
  type StoredResponse,
  type WritableCheckpoint,
} from '../../src/journal/journal.ts';
import { lowerBound } from '../../src/store/sorted-keys.ts';

/** What survives a crash. */
interface Disk {
  turns: LogBatch[];
  readonly records: Map<string, Change>;
  /** Sort keys by index, ascending. */
  readonly indexes: Map<string, string[]>;
  idempotencyRecords: IdempotencyRecord[];
  readonly values: Map<string, Uint8Array>;
  sequence: number;
}

const hourMs = 3_600_000;
const tag = Buffer.alloc(tagBytes);

export class MemoryJournal implements OwnJournal {
  readonly #indexRowsOf: IndexRowsOf;
  readonly #disk: Disk;
  readonly log: MemoryLog;
  readonly checkpoint: WritableCheckpoint;
  readonly checkpointer: Checkpointer;

  constructor(indexRowsOf: IndexRowsOf, disk: Disk = emptyDisk()) {
    this.#indexRowsOf = indexRowsOf;
    this.#disk = disk;
    this.log = new MemoryLog(disk);
    const checkpoint = new MemoryCheckpoint(disk, indexRowsOf);
    this.checkpoint = checkpoint;
    this.checkpointer = new MemoryCheckpointer(disk, checkpoint);
  }

  /** The next append fails, and with it the log. */
  failNextAppend(options: { readonly diskFull: boolean } = { diskFull: false }): void {
    this.log.failNextAppend(options);
  }

  /** The journal as it would be found after a crash now; this one is finished. */
  reopen(): MemoryJournal {
    this.log.abandon();
    return new MemoryJournal(this.#indexRowsOf, this.#disk);
  }

  replay(): Generator<ReplayedEntry> {
    return entriesAfter(this.#disk, this.#disk.sequence);
  }

  close(): Promise<void> {
    return this.log.close();
  }
}

class MemoryLog implements Log {
  readonly #disk: Disk;
  #nextSequence: number;
  #unsettled: LogBatch[] = [];
  #failure: JournalFailure | null = null;
  #failing: { readonly diskFull: boolean } | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(disk: Disk) {
    this.#disk = disk;
    this.#nextSequence = Math.max(disk.sequence, lastSequence(disk.turns.at(-1))) + 1;
  }

  get nextSequence(): number {
    return this.#nextSequence;
  }

  failNextAppend(options: { readonly diskFull: boolean }): void {
    this.#failing = options;
  }

  abandon(): void {
    this.#failure ??= new JournalFailure('The log crashed', { diskFull: false });
    this.#unsettled = [];
  }

  append(turn: LogBatch): ReturnType<Log['append']> {
    assert(turn.entries.length > 0, 'a turn has entries');
    assert(turn.firstSequence === this.#nextSequence, 'a turn follows the one before');
    const locations = turn.entries.map(({ idempotency }, offset) =>
      idempotency === null ? null : { record: turn.firstSequence, offset },
    );
    const { changes } = encodeTurn(turn, tag);
    if (this.#failure !== null) return { locations, changes, durable: Promise.reject(this.#failure) };
    this.#nextSequence += turn.entries.length;
    this.#unsettled.push(turn);
    const failing = this.#failing;
    this.#failing = null;
    const durable = this.#writing.then(() => this.#settle(turn, failing));
    this.#writing = durable.catch(() => undefined);
    return { locations, changes, durable };
  }

  #settle(turn: LogBatch, failing: { readonly diskFull: boolean } | null): void {
    if (failing !== null) this.#failure ??= new JournalFailure('Asked to fail', failing);
    if (this.#failure !== null) throw this.#failure;
    this.#unsettled.shift();
    this.#disk.turns.push(turn);
  }

  readResponse({ record, offset }: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined {
    const isIt = (turn: LogBatch) => turn.firstSequence === record;
    const turn = this.#unsettled.find(isIt) ?? this.#disk.turns.find(isIt);
    const idempotency = turn?.entries[offset]?.idempotency;
    if (!idempotency) return undefined;
    if (Buffer.compare(idempotency.keyDigest, keyDigest) !== 0)
      throw new JournalDamaged('It is of another key');
    const { status, requestId, body, defaults } = idempotency;
    return { status, requestId, body, defaults };
  }

  async close(): Promise<void> {
    await this.#writing;
    this.#failure ??= new JournalFailure('The log is closed', { diskFull: false });
  }
}

class MemoryCheckpoint implements WritableCheckpoint {
  readonly #disk: Disk;
  readonly #indexRowsOf: IndexRowsOf;

  constructor(disk: Disk, indexRowsOf: IndexRowsOf) {
    this.#disk = disk;
    this.#indexRowsOf = indexRowsOf;
  }

  get sequence(): number {
    return this.#disk.sequence;
  }

  get(id: string): Change | undefined {
    return this.#disk.records.get(id);
  }

  *scan(index: string, { after, before, descending }: ScanRange): Generator<string> {
    const keys = [...(this.#disk.indexes.get(index) ?? [])];
    if (descending) keys.reverse();
    for (const key of keys)
      if ((after === undefined || key > after) && (before === undefined || key < before)) yield key;
  }

  async write({ records, sequence, idempotencyRecords }: CheckpointInput): Promise<void> {
    assert(sequence >= this.#disk.sequence, 'a checkpoint never goes back');
    assert(
      sequence > this.#disk.sequence || idempotencyRecords.length === 0,
      'used keys come with a later sequence',
    );
    for (const [id, record] of records) {
      const stored = this.#disk.records.get(id);
      if (stored !== undefined) this.#changeRows(stored, (keys, key) => keys.splice(keys.indexOf(key), 1));
      if (record.removed === true) this.#disk.records.delete(id);
      else {
        this.#disk.records.set(id, record);
        this.#changeRows(record, (keys, key) => keys.splice(lowerBound(keys, key), 0, key));
      }
    }
    this.#disk.idempotencyRecords.push(...idempotencyRecords);
    this.#disk.sequence = sequence;
  }

  #changeRows(record: Change, change: (keys: string[], sortKey: string) => void): void {
    for (const { index, sortKey } of this.#indexRowsOf(record)) {
      const keys = this.#disk.indexes.get(index) ?? [];
      this.#disk.indexes.set(index, keys);
      change(keys, sortKey);
    }
  }

  *idempotencyRecords(sinceMs: number): Generator<IdempotencyRecord> {
    for (const idempotency of this.#disk.idempotencyRecords)
      if (idempotency.usedAtMs >= sinceMs) yield idempotency;
  }

  *records(): Generator<Change> {
    for (const id of [...this.#disk.records.keys()].sort()) yield this.#disk.records.get(id)!;
  }

  getSmallValue(scope: string): Uint8Array | undefined {
    return this.#disk.values.get(scope);
  }

  smallValues(): ReadonlyMap<string, Uint8Array> {
    return new Map(this.#disk.values);
  }
}

class MemoryCheckpointer implements Checkpointer {
  readonly #disk: Disk;
  readonly #checkpoint: MemoryCheckpoint;

  constructor(disk: Disk, checkpoint: MemoryCheckpoint) {
    this.#disk = disk;
    this.#checkpoint = checkpoint;
  }

  async write(sequence: number): Promise<number> {
    const records = new Map<string, Change>();
    const idempotencyRecords: IdempotencyRecord[] = [];
    for (const entry of entriesAfter(this.#disk, this.#disk.sequence)) {
      if (entry.sequence > sequence) break;
      for (const change of entry.changes) records.set(change.id, change);
      if (entry.idempotency !== null) idempotencyRecords.push(entry.idempotency);
    }
    await this.#checkpoint.write({ records, sequence, idempotencyRecords });
    return records.size;
  }

  async putSmallValues(values: ReadonlyMap<string, Uint8Array>): Promise<void> {
    for (const [scope, level] of values) this.#disk.values.set(scope, level.slice());
  }

  async noteSegment(): Promise<void> {}

  /** Each turn is a segment of its own here. */
  async drop(olderThanMs: number): Promise<number> {
    const fromMs = Math.floor(olderThanMs / hourMs) * hourMs;
    this.#disk.idempotencyRecords = this.#disk.idempotencyRecords.filter(
      (idempotency) => idempotency.usedAtMs >= fromMs,
    );
    const { turns, sequence } = this.#disk;
    let dropped = 0;
    while (dropped < turns.length - 1) {
      const turn = turns[dropped]!;
      if (lastSequence(turn) > sequence || turn.timeMs >= olderThanMs) break;
      dropped++;
    }
    this.#disk.turns = turns.slice(dropped);
    return this.#disk.turns[0]?.firstSequence ?? 0;
  }

  async close(): Promise<void> {}
}

function* entriesAfter({ turns }: Disk, after: number): Generator<ReplayedEntry> {
  for (const { firstSequence, timeMs, entries } of turns) {
    for (const [offset, { changes, idempotency, cause }] of entries.entries()) {
      const sequence = firstSequence + offset;
      if (sequence <= after) continue;
      const location = { record: firstSequence, offset };
      const used = idempotency && keyOf(idempotency, timeMs, location);
      yield { sequence, timeMs, changes, idempotency: used, cause };
    }
  }
}

function keyOf(
  { keyDigest, fingerprint, slot }: NonNullable<Entry['idempotency']>,
  usedAtMs: number,
  location: ResponseLocation,
): IdempotencyRecord {
  return { keyDigest, fingerprint, slot, usedAtMs, location };
}

function emptyDisk(): Disk {
  return {
    turns: [],
    records: new Map(),
    indexes: new Map(),
    idempotencyRecords: [],
    values: new Map(),
    sequence: 0,
  };
}

function lastSequence(turn: LogBatch | undefined): number {
  return turn === undefined ? 0 : turn.firstSequence + turn.entries.length - 1;
}
