// The commit batches that are not durable yet, oldest first. When the disk keeps the oldest one
// waiting for long, that is a stall, of which the shard's observer is told.

import { assert } from '../core/assert.ts';
import type { Scheduler } from '../core/scheduler.ts';
import type { View } from '../domain/view.ts';
import type { CommitBatch } from './commit-batch.ts';
import type { SpareBuffers } from './frames.ts';
import type { ShardObserver } from './shard-options.ts';
import { StalledReads } from './stalled-reads.ts';

/** A commit that takes longer is a stall of the disk. */
const stalledMs = 100;

export class BatchesInFlight {
  readonly #scheduler: Scheduler;
  readonly #observer: ShardObserver;
  readonly #batches: { readonly batch: CommitBatch; readonly sinceMs: number }[] = [];
  #isTold = false;
  #reads: StalledReads | null = null;

  constructor(scheduler: Scheduler, observer: ShardObserver) {
    this.#scheduler = scheduler;
    this.#observer = observer;
  }

  get length(): number {
    return this.#batches.length;
  }

  /** For how long the oldest has waited, in milliseconds; 0 when there is none. */
  get oldestMs(): number {
    const [oldest] = this.#batches;
    return oldest === undefined ? 0 : this.#scheduler.elapsedMs() - oldest.sinceMs;
  }

  get isStalled(): boolean {
    return this.oldestMs >= stalledMs;
  }

  push(batch: CommitBatch): void {
    this.#batches.push({ batch, sinceMs: this.#scheduler.elapsedMs() });
  }

  /** The oldest is durable. Returns how long that has taken, in milliseconds. */
  shift(batch: CommitBatch): number {
    const tookMs = this.oldestMs;
    assert(this.#batches.shift()?.batch === batch, 'batches become durable in their order');
    this.#reads = null;
    if (this.#isTold) this.tell();
    return tookMs;
  }

  /** The reads of the stall that is now; `open` was executed since. */
  stalledReads(records: View, open: CommitBatch, spare: SpareBuffers): StalledReads {
    const inFlight = this.#batches.map(({ batch }) => batch);
    // A checkpoint ends the open batch also in a stall. Answers then wait with the next one.
    if (this.#reads?.open !== open) this.#reads = new StalledReads(records, inFlight, open, spare);
    return this.#reads;
  }

  /** Tells of a stall; to be called now and then. */
  tell(): void {
    const { oldestMs } = this;
    const isStalled = oldestMs >= stalledMs;
    if (isStalled || this.#isTold) this.#observer.stalled(isStalled ? oldestMs : null);
    this.#isTold = isStalled;
  }
}
