// The turns of a shard that are not durable yet, oldest first. When the disk keeps the oldest one waiting for long, that is a
// stall, of which the shard's observer is told.

import type { Scheduler } from '../core/scheduler.ts';
import type { SpareBuffers } from './frames.ts';
import type { ShardObserver } from './shard-options.ts';
import type { ShardState } from './shard-state.ts';
import { StalledReads } from './stalled-reads.ts';
import type { Turn } from './turn.ts';

/** A commit that takes longer is a stall of the disk. */
const stalledMs = 100;

export class TurnsInFlight {
  readonly #scheduler: Scheduler;
  readonly #observer: ShardObserver;
  readonly #turns: { readonly turn: Turn; readonly sinceMs: number }[] = [];
  #isTold = false;
  #reads: StalledReads | null = null;

  constructor(scheduler: Scheduler, observer: ShardObserver) {
    this.#scheduler = scheduler;
    this.#observer = observer;
  }

  get length(): number {
    return this.#turns.length;
  }

  /** For how long the oldest turn has waited, in milliseconds; 0 when there is none. */
  get oldestMs(): number {
    const [oldest] = this.#turns;
    return oldest === undefined ? 0 : this.#scheduler.elapsedMs() - oldest.sinceMs;
  }

  get isStalled(): boolean {
    return this.oldestMs >= stalledMs;
  }

  push(turn: Turn): void {
    this.#turns.push({ turn, sinceMs: this.#scheduler.elapsedMs() });
  }

  /** The oldest turn is durable. Returns how long that has taken, in milliseconds. */
  shift(): number {
    const tookMs = this.oldestMs;
    this.#turns.shift();
    this.#reads = null;
    if (this.#isTold) this.tell();
    return tookMs;
  }

  /** The reads of the stall that is now, while `open` is the turn that was executed since. */
  stalledReads(state: ShardState, open: Turn, spare: SpareBuffers): StalledReads {
    const turns = this.#turns.map(({ turn }) => turn);
    // A checkpoint ends the open turn, also in a stall: the answers that wait belong to the next one from then on.
    if (this.#reads?.open !== open) this.#reads = new StalledReads(state, turns, open, spare);
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
