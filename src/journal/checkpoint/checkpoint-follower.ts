// The follower of the log that keeps the checkpoint. It reads the durable log and writes the last
// value of each record, as the bytes that the log has. The shard calls it through the port, mostly
// in another thread, so that its own thread writes the log and nothing else. The follower also
// drops what nothing needs any more.

import { assert, elementAt } from '../../core/assert.ts';
import { pieceSize } from '../../core/piece-size.ts';
import { breath, type Scheduler } from '../../core/scheduler.ts';
import {
  type Checkpointer,
  type CheckpointInput,
  type CheckpointSizes,
  JournalDamaged,
  JournalFailure,
  type ReportCompaction,
  type WritableCheckpoint,
} from '../journal.ts';
import { ChangeInBatch, compareKeys, readEntries } from '../log/codec.ts';
import { type FollowedLog, responsesOf } from '../log/follow.ts';
import type { FollowedBatch } from '../log/log-engine.ts';
import type { EncodedRecord } from '../records/record-bytes.ts';
import { IdempotencyRecordList } from './idempotency-rows.ts';
import type { MovedResponse } from './response-table.ts';

/** So much of the log is held in memory at once. */
const partBytesMax = pieceSize(16 * 1024 * 1024);
/** A batch has fewer bytes than this. */
const batchSpan = 2 ** 32;

/** The checkpoint as its follower writes it. Rejects with, or throws, `JournalFailure`. */
export interface FollowerCheckpoint extends WritableCheckpoint {
  putMetadata(values: ReadonlyMap<string, Uint8Array>): void;
  noteSegment(firstSequence: number): void;
  dropIdempotencyRecords(beforeMs: number): void;
  /** Holds stored responses whose segment of the log is about to be dropped. */
  putResponses(responses: readonly MovedResponse[]): void;
  dropResponses(beforeMs: number): void;
  /**
   * Moves into a file without unused room. `bringUp` brings the copy, which is of an earlier
   * moment, up to a sequence. Nothing may be dropped meanwhile.
   */
  compact(bringUp: BringUp, report: ReportCompaction): Promise<CheckpointSizes>;
  close(): Promise<void>;
}

export type BringUp = (checkpoint: WritableCheckpoint, sequence: number) => Promise<unknown>;

/**
 * A part of the log, as a checkpoint takes it: the last value of each record, in the order of their
 * keys. Of a change it has only where that lies, because tens of thousands of objects that live for
 * as long as a part cost the garbage collector most.
 */
class LogPart implements CheckpointInput {
  readonly idempotencyRecords = new IdempotencyRecordList();
  sequence: number;
  bytes = 0;
  readonly #batches: Buffer[] = [];
  /**
   * Where changes lie: the number of the batch times `batchSpan`, and the place there. Those that
   * came after all before them, as changes of new records do, and the others.
   */
  readonly #ascending: number[] = [];
  readonly #others: number[] = [];
  /** Of the last change of each record, in the order of their keys; null until that is asked for. */
  #ordered: readonly number[] | null = null;

  constructor(afterSequence: number) {
    this.sequence = afterSequence;
  }

  add(batch: FollowedBatch): void {
    assert(batch.firstSequence <= this.sequence + 1, 'a checkpoint leaves out no entry');
    const start = (this.#batches.push(batch.bytes) - 1) * batchSpan;
    for (const { sequence, records, idempotency } of readEntries(batch.bytes)) {
      if (sequence <= this.sequence) continue;
      for (const { at } of records) this.#add(start + at);
      if (idempotency !== null) this.idempotencyRecords.push(idempotency);
    }
    this.sequence = batch.lastSequence;
    this.bytes += batch.bytes.length;
    this.#ordered = null;
  }

  #add(place: number): void {
    const last = this.#ascending.at(-1);
    const isAfterAll = last === undefined || this.#compare(last, place) < 0;
    (isAfterAll ? this.#ascending : this.#others).push(place);
  }

  get records(): Iterable<EncodedRecord> {
    return { [Symbol.iterator]: () => this.#changes() };
  }

  get recordCount(): number {
    return this.#inOrder().length;
  }

  *#changes(): Generator<EncodedRecord> {
    for (const place of this.#inOrder()) yield new ChangeInBatch(this.#batchAt(place), place % batchSpan);
  }

  #inOrder(): readonly number[] {
    this.#ordered ??= this.#merged(this.#lastOfEach());
    return this.#ordered;
  }

  /** The others, sorted. Of one record the last one counts, which sorting leaves behind the rest. */
  #lastOfEach(): number[] {
    const sorted = this.#others.sort((a, b) => this.#compare(a, b));
    return sorted.filter((place, i) => {
      const next = sorted[i + 1];
      return next === undefined || this.#compare(place, next) !== 0;
    });
  }

  /** All changes in order. Of one record the change among the others is the later one. */
  #merged(others: readonly number[]): number[] {
    const places: number[] = [];
    let next = 0;
    for (const place of this.#ascending) {
      let order = 1;
      for (; next < others.length; next++) {
        order = this.#compare(elementAt(others, next), place);
        if (order >= 0) break;
        places.push(elementAt(others, next));
      }
      if (order !== 0) places.push(place);
    }
    for (; next < others.length; next++) places.push(elementAt(others, next));
    return places;
  }

  #compare(a: number, b: number): number {
    return compareKeys(this.#batchAt(a), a % batchSpan, this.#batchAt(b), b % batchSpan);
  }

  #batchAt(place: number): Buffer {
    return elementAt(this.#batches, Math.floor(place / batchSpan));
  }
}

/** The last archived sequence: the log keeps the rest. Infinite where nothing is archived. */
export type ArchivedEnd = () => number;

export class CheckpointFollower implements Checkpointer {
  readonly #log: FollowedLog;
  readonly #checkpoint: FollowerCheckpoint;
  readonly #scheduler: Scheduler;
  readonly #logBytesMax: number;
  readonly #archived: ArchivedEnd;
  #isCompacting = false;

  /** With more than `logBytesMax`, segments go although stored responses in them are needed. */
  constructor(
    log: FollowedLog,
    checkpoint: FollowerCheckpoint,
    scheduler: Scheduler,
    logBytesMax = Number.POSITIVE_INFINITY,
    archived: ArchivedEnd = () => Number.POSITIVE_INFINITY,
  ) {
    this.#log = log;
    this.#checkpoint = checkpoint;
    this.#scheduler = scheduler;
    this.#logBytesMax = logBytesMax;
    this.#archived = archived;
  }

  async write(sequence: number): Promise<number> {
    return this.#bringUp(this.#checkpoint, sequence);
  }

  async #bringUp(checkpoint: WritableCheckpoint, sequence: number): Promise<number> {
    let written = 0;
    while (checkpoint.sequence < sequence) {
      const part = await this.#read(checkpoint.sequence, sequence);
      await checkpoint.write(part);
      written += part.recordCount;
    }
    assert(checkpoint.sequence === sequence, 'a checkpoint ends with a commit batch');
    return written;
  }

  /** As much of the log after `after` as is held at once. */
  async #read(after: number, upTo: number): Promise<LogPart> {
    const part = new LogPart(after);
    for await (const batches of this.#log.read(after, upTo)) {
      for (const batch of batches) part.add(batch);
      await breath(this.#scheduler);
      if (part.bytes >= partBytesMax) return part;
    }
    assert(part.sequence >= upTo, `the log ends with ${part.sequence} and not with ${upTo}`);
    return part;
  }

  async putMetadata(values: ReadonlyMap<string, Uint8Array>): Promise<void> {
    this.#checkpoint.putMetadata(values);
  }

  async noteSegment(firstSequence: number): Promise<void> {
    this.#checkpoint.noteSegment(firstSequence);
  }

  async compact(report: ReportCompaction): Promise<CheckpointSizes> {
    if (this.#isCompacting)
      throw new JournalFailure('The checkpoint is being compacted already', { diskFull: false });
    this.#isCompacting = true;
    try {
      return await this.#checkpoint.compact(
        (checkpoint, sequence) => this.#bringUp(checkpoint, sequence),
        report,
      );
    } finally {
      this.#isCompacting = false;
    }
  }

  async drop(olderThanMs: number): Promise<number> {
    // A copy is brought up to date from the log, and has what the checkpoint had at its start.
    if (this.#isCompacting) return this.#log.drop(Number.NEGATIVE_INFINITY, 0);
    this.#checkpoint.dropIdempotencyRecords(olderThanMs);
    this.#checkpoint.dropResponses(olderThanMs);
    this.#log.refresh();
    const upTo = Math.min(this.#checkpoint.sequence, this.#archived());
    let firstSequence = await this.#log.drop(olderThanMs, upTo);
    while (this.#log.bytes > this.#logBytesMax) {
      const last = this.#log.oldestEnd(upTo);
      if (last === null || !(await this.#moveResponses(firstSequence, last, olderThanMs))) break;
      firstSequence = await this.#log.dropOldest();
    }
    return firstSequence;
  }

  /** Moves stored responses into the checkpoint; false when the segment is damaged. */
  async #moveResponses(first: number, last: number, olderThanMs: number): Promise<boolean> {
    try {
      for await (const batches of this.#log.read(first - 1, last)) {
        const needed = batches.filter(({ timeMs }) => timeMs >= olderThanMs);
        this.#checkpoint.putResponses(needed.flatMap(responsesOf));
        await breath(this.#scheduler);
      }
      return true;
    } catch (error) {
      // Nothing but these responses needs the segment: it stays until it is too old.
      if (error instanceof JournalDamaged) return false;
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#log.close(), this.#checkpoint.close()]);
  }
}
