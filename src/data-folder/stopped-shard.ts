// A shard of a stopped service: its checkpoint, with the rest of the log on top in memory. Whatever
// examines or copies a whole data folder uses this. It writes nothing.

import { idempotencyRetentionMs } from '../contract/limits.ts';
import type { RecordKind, StoredRecord } from '../domain/record.ts';
import type { IdempotencyRecord, ReplayedEntry } from '../journal/journal.ts';
import type { StoppedJournal } from '../journal/stopped-journal.ts';
import {
  type ClockState,
  clockAfter,
  clockKey,
  clockStateOf,
  type RetentionMarks,
  readClock,
  readRetention,
  retentionKey,
} from '../shard/metadata.ts';
import { RecordStore } from '../store/record-store.ts';

const cacheBytesMax = 64 * 1024 * 1024;

type OnDamage = (id: string, error: Error) => void;

export class StoppedShard {
  readonly journal: StoppedJournal;
  /** The newest value of every record. */
  readonly records: RecordStore;
  /** The records of which the log has a newer value than the checkpoint. */
  readonly #inLog = new Map<string, RecordKind>();
  readonly #usedInLog: IdempotencyRecord[] = [];
  #clock: ClockState;

  constructor(journal: StoppedJournal) {
    const { checkpoint } = journal;
    this.journal = journal;
    this.records = new RecordStore(checkpoint, cacheBytesMax);
    this.#clock = readClock(checkpoint.getMetadata(clockKey)) ?? clockStateOf(0);
  }

  /** Reads the log, once. Throws `JournalDamaged` when all before the damage is applied. */
  async replay(): Promise<void> {
    for await (const entries of this.journal.replay()) for (const entry of entries) this.#apply(entry);
  }

  #apply(entry: ReplayedEntry): void {
    for (const change of entry.changes) {
      this.#inLog.set(change.id, change.kind);
      this.records.restore(change);
    }
    if (entry.idempotency !== null) this.#usedInLog.push(entry.idempotency);
    this.#clock = clockAfter(this.#clock, entry);
  }

  /** The clock of the last commit batch. */
  get clock(): ClockState {
    return this.#clock;
  }

  /** Which events may have been removed. */
  get retention(): RetentionMarks {
    return readRetention(this.journal.checkpoint.getMetadata(retentionKey));
  }

  /** Whether the log has a newer value of a record than the checkpoint. */
  isInLog(id: string): boolean {
    return this.#inLog.has(id);
  }

  /** The newest values of the records that the log has changed. */
  *changedInLog(): Generator<StoredRecord> {
    for (const [id, kind] of this.#inLog) {
      const record = this.records.get(kind, id);
      if (record !== undefined) yield record;
    }
  }

  /** Every record, lazily. Throws at a damaged one, unless `onDamage` takes it. */
  *all(onDamage?: OnDamage): Generator<StoredRecord> {
    for (const record of this.journal.checkpoint.records(onDamage))
      if (!this.#inLog.has(record.id)) yield record;
    yield* this.changedInLog();
  }

  /** The idempotency records that are not over, in the order in which their keys were used. */
  *idempotencyRecords(): Generator<IdempotencyRecord> {
    const sinceMs = this.#clock.clock.serviceMs - idempotencyRetentionMs;
    yield* this.journal.checkpoint.idempotencyRecords(sinceMs);
    for (const record of this.#usedInLog) if (record.usedAtMs >= sinceMs) yield record;
  }
}
