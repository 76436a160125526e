// What time alone brings to a shard: attempts and sessions expire, retries become due, deleted endpoints are drained, old
// deliveries are removed. Nothing is looked for before the moment at which the first of these is due. All times here
// are service time.

import { drainEndpoints, oldestEndedMs, pruneDeliveries } from './deliver.ts';
import { expireDue } from './execute-internal.ts';
import type { ShardState } from './shard-state.ts';
import type { Turn } from './turn.ts';

/** For how long what is due may wait for more that becomes due. */
const intervalMs = 50;
/** Deliveries that are older than they are kept wait this long, so that many are removed at once. */
const pruneIntervalMs = 1_000;

export class Upkeep {
  readonly #state: ShardState;
  readonly #deliveriesKeptMs: number;
  #lastMs = 0;
  #pruneAtMs = 0;

  /** `deliveriesKeptMs`: for how long deliveries that are over stay listed. */
  constructor(state: ShardState, deliveriesKeptMs: number) {
    this.#state = state;
    this.#deliveriesKeptMs = deliveriesKeptMs;
  }

  isDue(serviceMs: number): boolean {
    return serviceMs >= this.dueMs;
  }

  /** Nothing is to be done before this. */
  get dueMs(): number {
    const { dueMs, outbox, webhooks, refusesWrites } = this.#state;
    if (refusesWrites) return Infinity;
    const isWaiting = outbox.draining.size > 0 || (webhooks !== null && outbox.isReady);
    const firstMs = isWaiting ? 0 : Math.min(dueMs, outbox.wakeMs, this.#pruneAtMs);
    return Math.max(firstMs, this.#lastMs + intervalMs);
  }

  /** Does what has become due, some of it a turn; true when there is more. */
  run(turn: Turn): boolean {
    const { serviceMs } = turn;
    if (this.#state.refusesWrites) return false;
    this.#lastMs = serviceMs;
    const isBehind = serviceMs >= this.#state.dueMs && expireDue(this.#state, turn);
    this.#state.outbox.tick(serviceMs);
    const isDraining = drainEndpoints(this.#state, turn);
    if (serviceMs >= this.#pruneAtMs) this.#prune(turn);
    return isBehind || isDraining;
  }

  #prune(turn: Turn): void {
    const { serviceMs } = turn;
    const isPruning = pruneDeliveries(this.#state, turn, serviceMs - this.#deliveriesKeptMs);
    const oldestMs = Math.min(oldestEndedMs(this.#state), serviceMs);
    this.#pruneAtMs = isPruning
      ? serviceMs + intervalMs
      : Math.max(serviceMs, oldestMs + this.#deliveriesKeptMs) + pruneIntervalMs;
  }
}
