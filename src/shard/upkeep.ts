// What a shard does when time has passed: it expires charges and sessions, finds retries that are
// due, ends the deliveries of deleted endpoints, and removes old deliveries and events. It does
// nothing before the first of these is due. All times are service time.

import { assert, defined } from '../core/assert.ts';
import { causes } from '../domain/cause.ts';
import { recordsOf } from '../domain/find.ts';
import { dueIndex, endedIndex, timeKey } from '../domain/indexes.ts';
import type { DeliveryRecord } from '../domain/record.ts';
import type { CommitBatch } from './commit-batch.ts';
import type { EventRetention } from './event-retention.ts';
import { executeFor } from './execute-command.ts';
import type { ShardState } from './shard-state.ts';

/** Time between two runs, so that one run does all that became due meanwhile. */
const intervalMs = 50;
/** Deliveries past their retention stay this long, so that many are removed at once. */
const pruneIntervalMs = 1_000;
const duePerBatchMax = 256;
/** Deliveries and attempts. */
const prunedPerBatchMax = 500;
/** Deleted endpoints, of each of which a command ends up to 500 deliveries. */
const drainedPerBatchMax = 4;

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
    const { tasks, outboxes, refusesWrites } = this.#state;
    if (refusesWrites) return Infinity;
    const isWaiting = outboxes.draining.size > 0 || outboxes.isReady;
    const firstMs = isWaiting
      ? 0
      : Math.min(tasks.dueMs, outboxes.wakeMs, this.#pruneAtMs, this.#events.dueMs);
    return Math.max(firstMs, this.#lastMs + intervalMs);
  }

  /** Does a part of what is due; true when there is more. */
  run(batch: CommitBatch): boolean {
    const { serviceMs } = batch;
    if (this.#state.refusesWrites) return false;
    this.#lastMs = serviceMs;
    const isBehind = serviceMs >= this.#state.tasks.dueMs && this.#expire(batch);
    this.#state.outboxes.tick(serviceMs);
    const isDraining = this.#drain(batch);
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
      if ('refusal' in outcome) tasks.leave(dueIndex, timeKey(record.due_at_ms) + record.id);
    }
    const [left] = tasks.due(batch.serviceMs, 1);
    const isNew = due.every(({ id }) => id !== left?.id);
    assert(isNew, `${left?.id} is due still, although its time was dealt with`);
    tasks.lookAhead();
    return left !== undefined;
  }

  /** Ends some deliveries of some deleted endpoints, by turns; true while there are more. */
  #drain(batch: CommitBatch): boolean {
    const { outboxes, reads, records } = this.#state;
    const { draining } = outboxes;
    for (const [id, after] of [...draining].slice(0, drainedPerBatchMax)) {
      const endpoint = reads.readOr(undefined, () => records.get('webhook_endpoint', id));
      const params = after === undefined ? {} : { after };
      const given = { operation: 'drain_endpoint', params, cause: causes.time } as const;
      const outcome = endpoint && executeFor(this.#state, batch, endpoint, given);
      const isLeft = draining.delete(id);
      // Without a result it needs a damaged record, and the next start tries again.
      if (isLeft && outcome !== undefined && 'result' in outcome)
        draining.set(id, outcome.result.after ?? undefined);
    }
    return draining.size > 0;
  }

  #prune(batch: CommitBatch): void {
    const { serviceMs } = batch;
    const { tasks } = this.#state;
    let left = prunedPerBatchMax;
    let together = prunedPerBatchMax;
    while (left > 0) {
      const ended = this.#ended(Math.min(left, together), timeKey(serviceMs - this.#retentionMs));
      const [oldest] = ended;
      if (oldest === undefined) break;
      const params = { deliveries: ended.map(({ id }) => id), limit: left };
      const given = { operation: 'prune_deliveries', params, cause: causes.time } as const;
      const outcome = executeFor(this.#state, batch, oldest, given);
      if ('result' in outcome) {
        left -= outcome.result.removed;
        continue;
      }
      // It needs a damaged record, which only one of them has.
      if (ended.length === 1) tasks.leave(endedIndex, timeKey(endedMsOf(oldest)) + oldest.id);
      together = 1;
      left--;
    }
    if (left === 0) {
      this.#pruneAtMs = serviceMs + intervalMs;
      return;
    }
    const [oldest] = this.#ended(1);
    const endedMs = oldest === undefined ? serviceMs : endedMsOf(oldest);
    const dueMs = Math.min(endedMs, serviceMs) + this.#retentionMs;
    this.#pruneAtMs = Math.max(serviceMs, dueMs) + pruneIntervalMs;
  }

  /** The deliveries that ended first, of one organization and mode, as a command is about one. */
  #ended(count: number, before?: string): DeliveryRecord[] {
    const found: DeliveryRecord[] = [];
    const range = { before, descending: false };
    for (const record of recordsOf(this.#state.tasks, 'delivery', endedIndex, range)) {
      const [first = record] = found;
      if (record.org !== first.org || record.livemode !== first.livemode) break;
      if (found.push(record) === count) break;
    }
    return found;
  }
}

function endedMsOf({ id, ended_at_ms }: DeliveryRecord): number {
  return defined(ended_at_ms, `${id} has ended`);
}
