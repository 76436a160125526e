// The checkpoint on LMDB: the shard's state as of a sequence. The shard reads what is not in memory
// from it; a follower of the log writes it, mostly in another thread. A part of the log is written
// in one transaction with the sequence at its end: each page is written once for all of its
// changes, and the checkpoint always is the state as of its sequence. When it is compacted its file
// is replaced, and other threads find the new one when they renew.

import { statSync } from 'node:fs';
import { assert } from '../../core/assert.ts';
import {
  commit,
  damagedFile,
  dataFile,
  type Environment,
  guardRead,
  journalFailure,
  openEnvironment,
  openTable,
  type Table,
} from '../../disk/environment.ts';
import type { CheckDepth } from '../../disk/file-check.ts';
import type { Part } from '../../disk/identity.ts';
import { splitIndexName } from '../../domain/indexes.ts';
import type { Change } from '../../domain/record.ts';
import type { ScanRange } from '../../domain/view.ts';
import {
  type CheckpointInput,
  type CheckpointSizes,
  type HeldCheckpoint,
  type IdempotencyRecord,
  JournalDamaged,
  JournalFailure,
  type ReportCompaction,
  type ResponseLocation,
  type StoredResponse,
} from '../journal.ts';
import {
  decodeIndexed,
  decodeRecord,
  type EncodedRecord,
  idOfEncoded,
  isRemoved,
} from '../records/record-bytes.ts';
import { activatePrepared, checkpointFolderIn, removeOtherCheckpoints } from './checkpoint-folder.ts';
import type { BringUp, FollowerCheckpoint } from './checkpoint-follower.ts';
import { checkpointTables, formatKey, segmentKey, sequenceKey } from './checkpoint-tables.ts';
import { copyCheckpoint } from './copy-checkpoint.ts';
import {
  hourKey,
  type PackedRecords,
  packIdempotencyRecords,
  unpackIdempotencyRecords,
} from './idempotency-rows.ts';
import { type IndexRowsOf, IndexTable } from './index-table.ts';
import { type OnDamage, RecordTables } from './record-table.ts';
import { locationOf, type MovedResponse, ResponseTable } from './response-table.ts';

const format = 4;
/** LMDB's own limit. */
const keyBytesMax = 1_978;

interface CheckpointOptions {
  readonly dir: string;
  readonly part: Part;
  readonly mapSize: number;
  readonly indexRowsOf: IndexRowsOf;
  /** This process has checked its file. */
  readonly isChecked?: boolean | undefined;
  /** Hears of what is damaged and is dropped because it has expired. */
  readonly onDamage?: ((damage: JournalDamaged) => void) | undefined;
}

export class LmdbCheckpoint implements FollowerCheckpoint {
  readonly #options: CheckpointOptions;
  readonly #indexRowsOf: IndexRowsOf;
  #folder!: string;
  #environment!: Environment;
  #records!: RecordTables;
  #index!: IndexTable;
  #idempotency!: Table;
  #metadata!: Table;
  #responses!: ResponseTable;
  #meta!: Table;
  #sequence!: number;
  #failure: JournalFailure | null = null;
  readonly #held = new Set<ReturnType<Environment['useReadTransaction']>>();

  /** The active checkpoint by default. Throws `JournalDamaged`. */
  constructor(options: CheckpointOptions, folder = checkpointFolderIn(options.dir)) {
    this.#options = options;
    this.#indexRowsOf = options.indexRowsOf;
    this.#open(folder, options.isChecked ? 'none' : 'branches');
  }

  #open(folder: string, check: CheckDepth): void {
    const { part, mapSize } = this.#options;
    const environment = openEnvironment({ folder, part, mapSize, check });
    this.#folder = folder;
    this.#environment = environment;
    this.#meta = openTable(environment, checkpointTables.meta);
    const stored = this.#read(() => this.#meta.get(formatKey))?.readUInt8(0);
    if (stored !== undefined && stored !== format)
      throw new JournalDamaged(
        `The checkpoint in ${folder} has the format ${stored}, unknown to this version`,
      );
    const read = <T>(task: () => T) => this.#read(task);
    this.#records = new RecordTables(environment, read, (defect) => this.#damaged(defect));
    this.#index = new IndexTable(
      openTable(environment, checkpointTables.index),
      openTable(environment, checkpointTables.lists),
      read,
    );
    this.#idempotency = openTable(environment, checkpointTables.idempotency);
    this.#metadata = openTable(environment, checkpointTables.metadata);
    this.#responses = new ResponseTable(openTable(environment, checkpointTables.responses), read);
    this.#sequence = this.#storedSequence();
  }

  #storedSequence(): number {
    return this.#read(() => this.#meta.get(sequenceKey))?.readDoubleLE(0) ?? 0;
  }

  /** Makes the next reads see what another thread has written. */
  renew(): void {
    const folder = checkpointFolderIn(this.#options.dir);
    if (folder !== this.#folder) this.#moveTo(folder);
    this.#environment.resetReadTxn();
    this.#index.renew();
    this.#sequence = this.#storedSequence();
  }

  #moveTo(folder: string): void {
    const before = this.#environment;
    // Nobody writes to the file that is left.
    this.#releaseAll();
    this.#open(folder, 'none');
    void before.close();
  }

  /** See `Journal.holdCheckpoint`. */
  hold(): HeldCheckpoint {
    const transaction = this.#environment.useReadTransaction();
    this.#held.add(transaction);
    const release = () => {
      if (this.#held.delete(transaction)) transaction.done();
    };
    return { folder: this.#folder, release };
  }

  #releaseAll(): void {
    for (const transaction of this.#held) transaction.done();
    this.#held.clear();
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** 0 when none was noted. */
  get newestSegment(): number {
    return this.#read(() => this.#meta.get(segmentKey))?.readDoubleLE(0) ?? 0;
  }

  /** So that its loss is noticed. Throws `JournalFailure`. */
  noteSegment(firstSequence: number): void {
    this.#commit(() => this.#meta.putSync(segmentKey, sequenceBytes(firstSequence)));
  }

  get(id: string): Change | undefined {
    return this.#records.get(id);
  }

  #damaged(defect: string): JournalDamaged {
    return damagedFile(dataFile(this.#folder), defect);
  }

  /** The first list after `text`, see index-table.ts. */
  listAfter(text: string): string | undefined {
    return this.#index.listAfter(text);
  }

  scan(index: string, range: ScanRange): Generator<string> {
    return this.#index.scan(index, range);
  }

  strayRow(index: string, sortKey: string): JournalDamaged {
    // The value of an index may be personal, such as an email address.
    const { list } = splitIndexName(index);
    return this.#damaged(`the index ${list} has the row ${sortKey}, which no record asks for`);
  }

  /**
   * Rejects with `JournalFailure`: reads go on, and writes fail until the journal is opened again.
   */
  async write({ records, sequence, idempotencyRecords }: CheckpointInput): Promise<void> {
    assert(sequence >= this.#sequence, 'a checkpoint never goes back');
    assert(
      sequence > this.#sequence || idempotencyRecords.length === 0,
      'used keys come with a later sequence',
    );
    for (const encoded of records) this.#gather(encoded);
    this.#commit(() => {
      this.#records.write(records);
      this.#index.write();
      for (const [key, value] of packIdempotencyRecords(idempotencyRecords, sequence))
        this.#idempotency.putSync(key, value);
      this.#meta.putSync(formatKey, Buffer.of(format));
      this.#meta.putSync(sequenceKey, sequenceBytes(sequence));
    });
    this.#sequence = sequence;
  }

  /** Gathers the index rows of a record that are new or stale. */
  #gather(encoded: EncodedRecord): void {
    // A record in a commit batch makes a new view each time it is asked.
    const views = { key: encoded.key, value: encoded.value };
    const id = idOfEncoded(views);
    const stored = this.#records.before(id, views);
    const before = stored === undefined ? [] : this.#indexRowsOf(decodeIndexed(id, stored));
    this.#index.change(before, isRemoved(views) ? [] : this.#indexRowsOf(decodeIndexed(id, views.value)));
  }

  *idempotencyRecords(sinceMs: number): Generator<IdempotencyRecord> {
    for (const part of this.packedIdempotencyRecords(sinceMs))
      for (const idempotency of part) if (idempotency.usedAtMs >= sinceMs) yield idempotency;
  }

  *packedIdempotencyRecords(sinceMs: number): Generator<PackedRecords> {
    let start = hourKey(sinceMs);
    for (let exclusiveStart = false; ; exclusiveStart = true) {
      // One value at a time: the caller may wait in between, which ends a read transaction.
      const [row] = this.#read(() => [...this.#idempotency.getRange({ start, exclusiveStart, limit: 1 })]);
      if (row === undefined) return;
      const keys = unpackIdempotencyRecords(row.value);
      if (keys === null) throw this.#damaged('idempotency keys are not as they were written');
      yield keys;
      start = Buffer.from(row.key);
    }
  }

  dropIdempotencyRecords(beforeMs: number): void {
    const keys = this.#read(() => [...this.#idempotency.getKeys({ end: hourKey(beforeMs) })]);
    if (keys.length === 0) return;
    this.#commit(() => {
      for (const key of keys) this.#idempotency.removeSync(key);
    });
  }

  putResponses(responses: readonly MovedResponse[]): void {
    if (responses.length > 0) this.#commit(() => this.#responses.put(responses));
  }

  dropResponses(beforeMs: number): void {
    for (;;) {
      const expired = this.#responses.expired(beforeMs);
      if (expired.length === 0) return;
      for (const { key, isDamaged } of expired)
        if (isDamaged) this.#options.onDamage?.(this.#damagedResponse(locationOf(key)));
      this.#commit(() => this.#responses.remove(expired));
    }
  }

  /** A response that was moved here from the log. Throws `JournalDamaged`. */
  movedResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined {
    // Another thread may have just moved it.
    this.#environment.resetReadTxn();
    const response = this.#responses.get(location, keyDigest);
    if (response !== null) return response;
    throw this.#damagedResponse(location);
  }

  #damagedResponse({ record }: ResponseLocation): JournalDamaged {
    return this.#damaged(`the stored response of the commit batch ${record} is not as it was written`);
  }

  *records(onDamage?: OnDamage): Generator<Change> {
    for (const encoded of this.#records.all(onDamage))
      yield decodeRecord(idOfEncoded(encoded), encoded.value);
  }

  encodedRecords(): Generator<EncodedRecord> {
    return this.#records.all();
  }

  get recordCount(): number {
    return this.#records.count;
  }

  getMetadata(name: string): Uint8Array | undefined {
    return this.#read(() => this.#metadata.get(Buffer.from(name)));
  }

  metadata(): ReadonlyMap<string, Uint8Array> {
    const rows = this.#read(() => [...this.#metadata.getRange({})]);
    return new Map(rows.map(({ key, value }) => [Buffer.from(key).toString(), value]));
  }

  putMetadata(values: ReadonlyMap<string, Uint8Array>): void {
    if (values.size === 0) return;
    this.#commit(() => {
      for (const [name, value] of values) this.#metadata.putSync(smallKey(name), Buffer.from(value));
    });
  }

  async compact(bringUp: BringUp, report: ReportCompaction): Promise<CheckpointSizes> {
    const { dir, part, mapSize } = this.#options;
    const before = bytesIn(this.#folder);
    try {
      const from = { dir, part, mapSize, folder: this.#folder, environment: this.#environment };
      const prepared = await copyCheckpoint(from, report);
      await this.#replaceBy(
        new LmdbCheckpoint({ ...this.#options, isChecked: true }, prepared),
        bringUp,
        report,
      );
    } finally {
      removeOtherCheckpoints(dir);
    }
    return { before, after: bytesIn(this.#folder) };
  }

  async #replaceBy(copy: LmdbCheckpoint, bringUp: BringUp, report: ReportCompaction): Promise<void> {
    const rows = { rows: copy.recordCount, total: copy.recordCount, bytes: 0 };
    try {
      await bringUp(copy, this.#sequence);
      await report({ step: 'switching', ...rows });
      while (copy.sequence < this.#sequence) await bringUp(copy, this.#sequence);
      // Nothing else runs in this thread until the copy is active.
      assert(copy.sequence === this.#sequence, 'a copy has what the checkpoint has');
      copy.putMetadata(this.metadata());
      copy.noteSegment(this.newestSegment);
      this.#switch();
    } finally {
      await copy.close();
    }
    await report({ step: 'switched', ...rows });
  }

  /** If this fails the new file may be active, so nothing may be written to the old one. */
  #switch(): void {
    try {
      this.#moveTo(activatePrepared(this.#options.dir));
    } catch (error) {
      this.#failure = journalFailure(error, this.#folder);
      throw this.#failure;
    }
  }

  /** Commits one transaction. After a failure, all later ones are refused. */
  #commit(write: () => void): void {
    if (this.#failure !== null) throw this.#failure;
    try {
      commit(this.#environment, write);
    } catch (error) {
      if (error instanceof JournalFailure) this.#failure = error;
      throw error;
    }
  }

  #read<T>(read: () => T): T {
    return guardRead(this.#folder, read);
  }

  async close(): Promise<void> {
    this.#releaseAll();
    this.#failure ??= new JournalFailure('The checkpoint is closed', { diskFull: false });
    await this.#environment.close();
  }
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

function bytesIn(folder: string): number {
  return statSync(dataFile(folder)).size;
}
