// What a shard does when time has passed: it expires charges and sessions, finds retries that are
// due, ends the deliveries of deleted endpoints, and removes old deliveries and events. It does
// nothing before the first of these is due. All times are service time.

import { assert } from '../core/assert.ts';
import { causes } from '../domain/cause.ts';
import type { CommitBatch } from './commit-batch.ts';
import { drainEndpoints, oldestEndedMs, pruneDeliveries } from './deliver.ts';
import type { EventRetention } from './event-retention.ts';
import { executeFor } from './execute-command.ts';
import type { ShardState } from './shard-state.ts';

/** Time between two runs, so that one run does all that became due meanwhile. */
const intervalMs = 50;
/** Deliveries past their retention stay this long, so that many are removed at once. */
const pruneIntervalMs = 1_000;
const duePerBatchMax = 256;

export class Upkeep {
  readonly #state: ShardState;
  readonly #events: EventRetention;
  readonly #retentionMs: number;
  #lastMs = 0;
  #pruneAtMs = 0;

  /** `retentionMs`: for how long ended deliveries stay listed. */
  constructor(state: ShardState, events: EventRetention, retentionMs: number) {
    this.#state = state;
    this.#events = events;
    this.#retentionMs = retentionMs;
  }

  isDue(serviceMs: number): boolean {
    return serviceMs >= this.dueMs;
  }

  /** There is nothing to do before this. */
  get dueMs(): number {
    const { tasks, outbox, refusesWrites } = this.#state;
    if (refusesWrites) return Infinity;
    const isWaiting = outbox.draining.size > 0 || (outbox.peer !== null && outbox.isReady);
    const firstMs = isWaiting ? 0 : Math.min(tasks.dueMs, outbox.wakeMs, this.#pruneAtMs, this.#events.dueMs);
    return Math.max(firstMs, this.#lastMs + intervalMs);
  }

  /** Does a part of what is due; true when there is more. */
  run(batch: CommitBatch): boolean {
    const { serviceMs } = batch;
    if (this.#state.refusesWrites) return false;
    this.#lastMs = serviceMs;
    const isBehind = serviceMs >= this.#state.tasks.dueMs && this.#expire(batch);
    this.#state.outbox.tick(serviceMs);
    const isDraining = drainEndpoints(this.#state, batch);
    if (serviceMs >= this.#pruneAtMs) this.#prune(batch);
    if (serviceMs >= this.#events.dueMs) this.#events.run(batch);
    return isBehind || isDraining;
  }

  /** Expires some of the charges and sessions that are due; true when more are due. */
  #expire(batch: CommitBatch): boolean {
    const { tasks } = this.#state;
    const due = tasks.due(batch.serviceMs, duePerBatchMax);
    const given = { operation: 'expire_due', params: {}, cause: causes.time } as const;
    for (const record of due) {
      const outcome = executeFor(this.#state, batch, record, given);
      // It needs a damaged record, such as that of its payment.
      if ('refusal' in outcome) tasks.leave(record);
    }
    const [left] = tasks.due(batch.serviceMs, 1);
    const isNew = due.every(({ id }) => id !== left?.id);
    assert(isNew, `${left?.id} is due still, although its time was dealt with`);
    tasks.lookAhead();
    return left !== undefined;
  }

  #prune(batch: CommitBatch): void {
    const { serviceMs } = batch;
    const isPruning = pruneDeliveries(this.#state, batch, serviceMs - this.#retentionMs);
    const oldestMs = Math.min(oldestEndedMs(this.#state.tasks), serviceMs);
    this.#pruneAtMs = isPruning
      ? serviceMs + intervalMs
      : Math.max(serviceMs, oldestMs + this.#retentionMs) + pruneIntervalMs;
  }
}
