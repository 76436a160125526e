// A shard of a stopped service as its journal has it: the checkpoint, and the rest of the log on top, in memory. Called by
// what looks at a whole data folder or copies it. Nothing is written.

import { idempotencyRetentionMs } from '../contract/limits.ts';
import { timeOfId } from '../core/ids.ts';
import type { RecordKind, StoredRecord } from '../domain/record.ts';
import type { IdempotencyRecord } from '../journal/journal.ts';
import type { StoppedJournal } from '../journal/stopped-journal.ts';
import {
  type ClockState,
  clockKey,
  clockStateOf,
  type RetentionMarks,
  readClock,
  readRetention,
  retentionKey,
} from '../shard/small-values.ts';
import { RecordStore } from '../store/record-store.ts';

const cacheBytesMax = 64 * 1024 * 1024;

type OnDamage = (id: string, error: Error) => void;

export class StoppedShard {
  readonly journal: StoppedJournal;
  /** Every record as it is now. */
  readonly records: RecordStore;
  /** The records that the log has a newer value of than the checkpoint. */
  readonly #inLog = new Map<string, RecordKind>();
  readonly #usedInLog: IdempotencyRecord[] = [];
  #clock: ClockState;

  constructor(journal: StoppedJournal) {
    const { checkpoint } = journal;
    this.journal = journal;
    this.records = new RecordStore(checkpoint, cacheBytesMax);
    this.#clock = readClock(checkpoint.getSmallValue(clockKey)) ?? clockStateOf(0);
  }

  /** Reads the log after the checkpoint, once. Throws `JournalDamaged`, and has what comes before the damage. */
  replay(): void {
    for (const { changes, timeMs, idempotency } of this.journal.replay()) {
      let { lastMs } = this.#clock.ids;
      for (const change of changes) {
        this.#inLog.set(change.id, change.kind);
        this.records.restore(change);
        lastMs = Math.max(lastMs, timeOfId(change.id));
      }
      if (idempotency !== null) this.#usedInLog.push(idempotency);
      const { clock, ids } = this.#clock;
      const serviceMs = Math.max(clock.serviceMs, timeMs);
      this.#clock = { clock: { ...clock, serviceMs }, ids: { ...ids, lastMs } };
    }
  }

  /** The shard's last time. */
  get clock(): ClockState {
    return this.#clock;
  }

  /** From which id on all events are there. */
  get retention(): RetentionMarks {
    return readRetention(this.journal.checkpoint.getSmallValue(retentionKey));
  }

  /** Whether the checkpoint's value of a record is not its newest. */
  isInLog(id: string): boolean {
    return this.#inLog.has(id);
  }

  /** The records that the log has changed, as they are now. */
  *changedInLog(): Generator<StoredRecord> {
    for (const [id, kind] of this.#inLog) {
      const record = this.records.get(kind, id);
      if (record !== undefined) yield record;
    }
  }

  /** Every record, without a bound on how many there are. One that is damaged is thrown, unless `onDamage` takes it. */
  *all(onDamage?: OnDamage): Generator<StoredRecord> {
    for (const record of this.journal.checkpoint.records(onDamage))
      if (!this.#inLog.has(record.id)) yield record;
    yield* this.changedInLog();
  }

  /** The idempotency records in force, in the order in which their keys were used. */
  *idempotencyRecords(): Generator<IdempotencyRecord> {
    const sinceMs = this.#clock.clock.serviceMs - idempotencyRetentionMs;
    yield* this.journal.checkpoint.idempotencyRecords(sinceMs);
    for (const record of this.#usedInLog) if (record.usedAtMs >= sinceMs) yield record;
  }
}
