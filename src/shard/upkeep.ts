// What a shard does when time has passed: it expires charges and sessions, finds retries that are due, ends the deliveries
// of deleted endpoints, and removes old deliveries and events. It does nothing before the first of these is due. All times are
// service time.

import { drainEndpoints, oldestEndedMs, pruneDeliveries } from './deliver.ts';
import type { EventRetention } from './event-retention.ts';
import { expireDue } from './execute-internal.ts';
import type { ShardState } from './shard-state.ts';
import type { Turn } from './turn.ts';

/** Time between two runs, so that one run does all that became due meanwhile. */
const intervalMs = 50;
/** Deliveries past their retention wait this long, so that many are removed at once. */
const pruneIntervalMs = 1_000;

export class Upkeep {
  readonly #state: ShardState;
  readonly #events: EventRetention;
  readonly #retentionMs: number;
  #lastMs = 0;
  #pruneAtMs = 0;

  /** `deliveryRetentionMs`: for how long ended deliveries stay listed. */
  constructor(state: ShardState, events: EventRetention, deliveryRetentionMs: number) {
    this.#state = state;
    this.#events = events;
    this.#retentionMs = deliveryRetentionMs;
  }

  isDue(serviceMs: number): boolean {
    return serviceMs >= this.dueMs;
  }

  /** There is nothing to do before this. */
  get dueMs(): number {
    const { dueMs, outbox, webhooks, refusesWrites } = this.#state;
    if (refusesWrites) return Infinity;
    const isWaiting = outbox.draining.size > 0 || (webhooks !== null && outbox.isReady);
    const firstMs = isWaiting ? 0 : Math.min(dueMs, outbox.wakeMs, this.#pruneAtMs, this.#events.dueMs);
    return Math.max(firstMs, this.#lastMs + intervalMs);
  }

  /** Does a part of what is due; true when there is more. */
  run(turn: Turn): boolean {
    const { serviceMs } = turn;
    if (this.#state.refusesWrites) return false;
    this.#lastMs = serviceMs;
    const isBehind = serviceMs >= this.#state.dueMs && expireDue(this.#state, turn);
    this.#state.outbox.tick(serviceMs);
    const isDraining = drainEndpoints(this.#state, turn);
    if (serviceMs >= this.#pruneAtMs) this.#prune(turn);
    if (serviceMs >= this.#events.dueMs) this.#events.run(turn);
    return isBehind || isDraining;
  }

  #prune(turn: Turn): void {
    const { serviceMs } = turn;
    const isPruning = pruneDeliveries(this.#state, turn, serviceMs - this.#retentionMs);
    const oldestMs = Math.min(oldestEndedMs(this.#state), serviceMs);
    this.#pruneAtMs = isPruning
      ? serviceMs + intervalMs
      : Math.max(serviceMs, oldestMs + this.#retentionMs) + pruneIntervalMs;
  }
}
