// The journal in memory, for tests of what lies above it: same interface, no disk, faults on demand. It holds the same bytes
// as the journal on disk, and its checkpoint is kept by the same follower. What was appended but hasn't settled is lost by
// `reopen`, as it would be in a crash.

import { crc32 } from 'node:zlib';
import { assert } from '../../src/core/assert.ts';
import { systemScheduler } from '../../src/core/scheduler.ts';
import type { ShardIdentity } from '../../src/disk/identity.ts';
import { indexNameOf } from '../../src/domain/indexes.ts';
import type { Change } from '../../src/domain/record.ts';
import type { ScanRange } from '../../src/domain/view.ts';
import {
  CheckpointFollower,
  type FollowerCheckpoint,
} from '../../src/journal/checkpoint/checkpoint-follower.ts';
import { IdempotencyRecordList, PackedRecords } from '../../src/journal/checkpoint/idempotency-rows.ts';
import type { IndexRowsOf } from '../../src/journal/checkpoint/index-table.ts';
import {
  type Checkpointer,
  type CheckpointInput,
  type CheckpointSizes,
  type IdempotencyRecord,
  JournalDamaged,
  JournalFailure,
  type LogEnd,
  type OwnJournal,
  type ReplayedEntry,
  type ResponseLocation,
  type StoredResponse,
  type WritableCheckpoint,
} from '../../src/journal/journal.ts';
import { endOfBatch, readBatchHeader, readResponse } from '../../src/journal/log/codec.ts';
import { type FollowedLog, recoverLog } from '../../src/journal/log/follow.ts';
import type { FollowedBatch, LogEngine } from '../../src/journal/log/log-engine.ts';
import { WriteAheadLog } from '../../src/journal/log/write-ahead-log.ts';
import { heldByLock, type Ownership } from '../../src/journal/ownership.ts';
import {
  decodeRecord,
  type EncodedRecord,
  idOfEncoded,
  isRemoved,
} from '../../src/journal/records/record-bytes.ts';
import { lowerBound } from '../../src/store/sorted-keys.ts';

/** What survives a crash. */
interface Disk {
  batches: FollowedBatch[];
  readonly records: Map<string, EncodedRecord>;
  /** Sort keys by index, ascending. */
  readonly indexes: Map<string, string[]>;
  idempotencyRecords: IdempotencyRecord[];
  readonly values: Map<string, Uint8Array>;
  sequence: number;
  epoch: number;
}

const hourMs = 3_600_000;
const partition: ShardIdentity = { folder: '0'.repeat(32), generation: 0, shard: 0 };

export class MemoryJournal implements OwnJournal {
  readonly #indexRowsOf: IndexRowsOf;
  readonly #disk: Disk;
  readonly #engine: MemoryEngine;
  readonly ownership: Ownership;
  readonly log: WriteAheadLog;
  readonly checkpoint: WritableCheckpoint;
  readonly checkpointer: Checkpointer;

  constructor(indexRowsOf: IndexRowsOf, disk: Disk = emptyDisk()) {
    this.#indexRowsOf = indexRowsOf;
    this.#disk = disk;
    this.#engine = new MemoryEngine(disk);
    this.log = new WriteAheadLog(this.#engine, partition);
    const nextSequence = Math.max(disk.sequence, disk.batches.at(-1)?.lastSequence ?? 0) + 1;
    this.ownership = this.#engine.take();
    this.log.start(nextSequence, this.ownership);
    const checkpoint = new MemoryCheckpoint(disk, indexRowsOf);
    this.checkpoint = checkpoint;
    this.checkpointer = new MemoryCheckpointer(this.#engine, followed(disk), checkpoint);
  }

  /** The next append fails, and with it the log. */
  failNextAppend(options: { readonly diskFull: boolean } = { diskFull: false }): void {
    this.#engine.failNextAppend(options);
  }

  /** The journal as it would be found after a crash now; this one is finished. */
  reopen(): MemoryJournal {
    this.#engine.abandon();
    return new MemoryJournal(this.#indexRowsOf, this.#disk);
  }

  replay(): AsyncIterable<readonly ReplayedEntry[]> {
    return recoverLog(this.#engine, this.#disk.sequence);
  }

  close(): Promise<void> {
    return this.log.close();
  }
}

interface Failing {
  readonly diskFull: boolean;
  /** The batch is stored all the same. */
  readonly isStored?: boolean;
}

/** Stores commit batches as they are given to it. */
export class MemoryEngine implements LogEngine {
  readonly #disk: Disk;
  #unsettled: FollowedBatch[] = [];
  #failure: JournalFailure | null = null;
  #failing: Failing | null = null;
  #writing: Promise<void> = Promise.resolve();
  durableEnd: LogEnd | null = null;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  failNextAppend(options: Failing): void {
    this.#failing = options;
  }

  /** What is appended from now on waits for the promise. */
  hold(released: Promise<void>): void {
    this.#writing = this.#writing.then(() => released);
  }

  take(): Ownership {
    this.#disk.epoch++;
    return heldByLock(this.#disk.epoch);
  }

  async acquire(): Promise<Ownership> {
    return this.take();
  }

  start(): void {}

  abandon(): void {
    this.#failure ??= new JournalFailure('The log crashed', { diskFull: false });
    this.#unsettled = [];
  }

  append(_partition: ShardIdentity, epoch: number, expectedSequence: number, bytes: Buffer): Promise<void> {
    if (epoch < this.#disk.epoch)
      this.#failure ??= new JournalFailure('The log has a newer owner', {
        diskFull: false,
        outcome: 'fenced',
      });
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const batch = { bytes, ...readBatchHeader(bytes) };
    const before = this.#unsettled.at(-1) ?? this.#disk.batches.at(-1);
    assert(
      (before?.lastSequence ?? expectedSequence - 1) === expectedSequence - 1,
      'a batch follows the one before',
    );
    assert(batch.firstSequence === expectedSequence, 'a batch lies under its first sequence');
    this.#unsettled.push(batch);
    const failing = this.#failing;
    this.#failing = null;
    const durable = this.#writing.then(() => this.#settle(batch, failing));
    this.#writing = durable.catch(() => undefined);
    return durable;
  }

  #settle(batch: FollowedBatch, failing: Failing | null): void {
    if (failing?.isStored === true) this.#disk.batches.push(batch);
    if (failing !== null)
      this.#failure ??= new JournalFailure('Asked to fail', { ...failing, outcome: 'unknown' });
    if (this.#failure !== null) throw this.#failure;
    this.#unsettled.shift();
    this.#disk.batches.push(batch);
    this.durableEnd = endOfBatch(batch.bytes);
  }

  async *read(after: number, upTo?: number): ReturnType<LogEngine['read']> {
    for await (const batches of batchesOf(this.#disk, after, upTo)) {
      const isSound = ({ bytes }: FollowedBatch) => bytes.readUInt32LE(4) === crc32(bytes.subarray(8));
      if (!batches.every(isSound)) throw new JournalDamaged('a checksum does not match');
      yield batches;
    }
  }

  async durable(sequence = Number.POSITIVE_INFINITY): Promise<void> {
    const isBefore = ({ firstSequence }: FollowedBatch) => firstSequence <= sequence;
    if (this.#unsettled.some(isBefore)) await this.#writing;
    if (this.#failure !== null) throw this.#failure;
  }

  readResponse({ record, offset }: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined {
    const isIt = ({ firstSequence }: FollowedBatch) => firstSequence === record;
    const batch = this.#unsettled.find(isIt) ?? this.#disk.batches.find(isIt);
    if (batch === undefined) return undefined;
    const response = readResponse(batch.bytes, offset, keyDigest);
    if (response === null) throw new JournalDamaged('There is no sound response of that key');
    return response;
  }

  async close(): Promise<void> {
    await this.#writing;
    this.#failure ??= new JournalFailure('The log is closed', { diskFull: false });
  }
}

class MemoryCheckpoint implements FollowerCheckpoint {
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
    const encoded = this.#disk.records.get(id);
    return encoded && decodeRecord(id, encoded.value);
  }

  *scan(index: string, { after, before, descending }: ScanRange): Generator<string> {
    const keys = [...(this.#disk.indexes.get(index) ?? [])];
    if (descending) keys.reverse();
    for (const key of keys)
      if ((after === undefined || key > after) && (before === undefined || key < before)) yield key;
  }

  strayRow(index: string, sortKey: string): Error {
    return new JournalDamaged(`the index ${index} has the stray row ${sortKey}`);
  }

  async write({ records, sequence, idempotencyRecords }: CheckpointInput): Promise<void> {
    assert(sequence >= this.#disk.sequence, 'a checkpoint never goes back');
    assert(
      sequence > this.#disk.sequence || idempotencyRecords.length === 0,
      'used keys come with a later sequence',
    );
    for (const encoded of records) {
      const id = idOfEncoded(encoded);
      const stored = this.get(id);
      if (stored !== undefined) this.#changeRows(stored, (keys, key) => keys.splice(keys.indexOf(key), 1));
      if (isRemoved(encoded)) this.#disk.records.delete(id);
      else {
        this.#disk.records.set(id, encoded);
        const record = decodeRecord(id, encoded.value);
        this.#changeRows(record, (keys, key) => keys.splice(lowerBound(keys, key), 0, key));
      }
    }
    this.#disk.idempotencyRecords.push(...idempotencyRecords);
    this.#disk.sequence = sequence;
  }

  #changeRows(record: Change, change: (keys: string[], sortKey: string) => void): void {
    for (const row of this.#indexRowsOf(record)) {
      const index = indexNameOf(row);
      const keys = this.#disk.indexes.get(index) ?? [];
      this.#disk.indexes.set(index, keys);
      change(keys, row.sortKey);
    }
  }

  *idempotencyRecords(sinceMs: number): Generator<IdempotencyRecord> {
    for (const idempotency of this.#disk.idempotencyRecords)
      if (idempotency.usedAtMs >= sinceMs) yield idempotency;
  }

  *packedIdempotencyRecords(sinceMs: number): Generator<PackedRecords> {
    const list = new IdempotencyRecordList();
    for (const idempotency of this.idempotencyRecords(sinceMs)) list.push(idempotency);
    yield new PackedRecords(list.rows());
  }

  dropIdempotencyRecords(beforeMs: number): void {
    const fromMs = Math.floor(beforeMs / hourMs) * hourMs;
    this.#disk.idempotencyRecords = this.#disk.idempotencyRecords.filter(
      (idempotency) => idempotency.usedAtMs >= fromMs,
    );
  }

  *records(): Generator<Change> {
    for (const [id, { value }] of this.#inOrder()) yield decodeRecord(id, value);
  }

  *encodedRecords(): Generator<EncodedRecord> {
    for (const [, encoded] of this.#inOrder()) yield encoded;
  }

  #inOrder(): [id: string, EncodedRecord][] {
    return [...this.#disk.records].sort(([, a], [, b]) => a.key.compare(b.key));
  }

  getMetadata(name: string): Uint8Array | undefined {
    return this.#disk.values.get(name);
  }

  metadata(): ReadonlyMap<string, Uint8Array> {
    return new Map(this.#disk.values);
  }

  putMetadata(values: ReadonlyMap<string, Uint8Array>): void {
    for (const [name, value] of values) this.#disk.values.set(name, value.slice());
  }

  noteSegment(): void {}

  putResponses(): void {}

  dropResponses(): void {}

  /** There is no file. */
  async compact(): Promise<CheckpointSizes> {
    return { before: 0, after: 0 };
  }

  async close(): Promise<void> {}
}

/** Follows the log when that is durable. */
class MemoryCheckpointer extends CheckpointFollower {
  readonly #engine: MemoryEngine;

  constructor(engine: MemoryEngine, log: FollowedLog, checkpoint: FollowerCheckpoint) {
    super(log, checkpoint, systemScheduler);
    this.#engine = engine;
  }

  override async write(sequence: number): Promise<number> {
    await this.#engine.durable();
    return super.write(sequence);
  }
}

/** The log as its follower reads it. Each batch is a segment of its own. */
function followed(disk: Disk): FollowedLog {
  return {
    refresh() {},
    read: (after, upTo) => batchesOf(disk, after, upTo),
    async drop(olderThanMs, sequence) {
      const isNeeded = (batch: FollowedBatch) => batch.lastSequence > sequence || batch.timeMs >= olderThanMs;
      const kept = disk.batches.findIndex((batch, i) => isNeeded(batch) || i === disk.batches.length - 1);
      disk.batches = disk.batches.slice(Math.max(0, kept));
      return disk.batches[0]?.firstSequence ?? 0;
    },
    bytes: 0,
    oldestEnd: () => null,
    dropOldest: () => Promise.reject(new Error('the log may be as large as it likes')),
    async close() {},
  };
}

async function* batchesOf({ batches }: Disk, after: number, upTo = Number.POSITIVE_INFINITY) {
  const found = batches.filter(
    ({ firstSequence, lastSequence }) => lastSequence > after && firstSequence <= upTo,
  );
  if (found.length > 0) yield found;
}

export function emptyDisk(): Disk {
  return {
    batches: [],
    records: new Map(),
    indexes: new Map(),
    idempotencyRecords: [],
    values: new Map(),
    sequence: 0,
    epoch: 0,
  };
}
