// The follower of the log that keeps the checkpoint: it reads the durable log after the checkpoint's sequence, keeps the
// last value of each record, and writes those. Called by the shard through the port, mostly from another thread, so
// that the shard's own writes the log and nothing else. It also drops what nothing needs any more.

import { assert } from '../core/assert.ts';
import { breath, type Scheduler } from '../core/scheduler.ts';
import type { Change } from '../domain/record.ts';
import type { LmdbCheckpoint } from './checkpoint.ts';
import { entriesAfter, follow, type StoredBatch } from './follow.ts';
import { IdempotencyRecordList } from './idempotency-rows.ts';
import { type Checkpointer, unlessDamaged } from './journal.ts';
import { type Segment, type Segments, turnTimeMs, writtenMs } from './segments.ts';

/** So much of the log is held in memory at once. */
const partBytesMax = 16 * 1024 * 1024;
/** After so much the event loop goes on: it takes some milliseconds. */
const breathBytes = 1024 * 1024;

/** A part of the log, as a checkpoint takes it: the last value of each record. */
class Part {
  readonly records = new Map<string, Change>();
  readonly idempotencyRecords = new IdempotencyRecordList();
  /** Where it ends. */
  sequence: number;
  bytes = 0;

  constructor(afterSequence: number) {
    this.sequence = afterSequence;
  }

  add(batch: StoredBatch): void {
    for (const { changes, idempotency } of entriesAfter(batch, this.sequence)) {
      for (const change of changes) this.records.set(change.id, change);
      if (idempotency !== null) this.idempotencyRecords.push(idempotency);
    }
    this.sequence = batch.lastSequence;
    this.bytes += batch.bytes.length;
  }
}

export class CheckpointFollower implements Checkpointer {
  readonly #segments: Segments;
  readonly #checkpoint: LmdbCheckpoint;
  readonly #scheduler: Scheduler;

  constructor(segments: Segments, checkpoint: LmdbCheckpoint, scheduler: Scheduler) {
    this.#segments = segments;
    this.#checkpoint = checkpoint;
    this.#scheduler = scheduler;
  }

  async write(sequence: number): Promise<number> {
    this.#segments.refresh();
    let written = 0;
    while (this.#checkpoint.sequence < sequence) {
      const part = await this.#read(sequence);
      await this.#checkpoint.write(part);
      written += part.records.size;
    }
    assert(this.#checkpoint.sequence === sequence, 'a checkpoint ends with a turn');
    return written;
  }

  /** As much of the log after the checkpoint as is held at once. */
  async #read(upTo: number): Promise<Part> {
    const part = new Part(this.#checkpoint.sequence);
    while (part.sequence < upTo && part.bytes < partBytesMax) {
      const enough = part.bytes + breathBytes;
      const before = part.sequence;
      for (const batch of follow(this.#segments, part.sequence, upTo)) {
        part.add(batch);
        if (part.bytes >= enough) break;
      }
      assert(part.sequence > before, `the log ends with ${before} and not with ${upTo}`);
      await breath(this.#scheduler);
    }
    return part;
  }

  async putSmallValues(values: ReadonlyMap<string, Uint8Array>): Promise<void> {
    this.#checkpoint.putSmallValues(values);
  }

  async noteSegment(firstSequence: number): Promise<void> {
    this.#checkpoint.noteSegment(firstSequence);
  }

  async drop(olderThanMs: number): Promise<number> {
    this.#checkpoint.forgetDeadReaders();
    this.#checkpoint.dropIdempotencyRecords(olderThanMs);
    this.#segments.refresh();
    const { list } = this.#segments;
    // The newest segment stays: it says which sequence comes next.
    while (list.length > 1) {
      const [oldest, next] = list as readonly [Segment, Segment];
      if (next.firstSequence - 1 > this.#checkpoint.sequence) break;
      if (lastTimeMs(this.#segments, oldest) >= olderThanMs) break;
      await this.#segments.dropOldest();
    }
    return list[0]?.firstSequence ?? 0;
  }

  async close(): Promise<void> {
    await Promise.all([this.#segments.close(), this.#checkpoint.close()]);
  }
}

/** When the last turn of a segment was; infinitely early when it is empty, at the latest then when it is damaged. */
function lastTimeMs(segments: Segments, segment: Segment): number {
  const timeMs = unlessDamaged(() => turnTimeMs(segments, segment, 'last') ?? Number.NEGATIVE_INFINITY);
  return timeMs ?? writtenMs(segment);
}
