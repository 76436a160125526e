// What a shard does when time has passed: it expires charges and sessions, finds retries that are
// due, ends the deliveries of deleted endpoints, and removes old deliveries and events. It does
// nothing before the first of these is due. All times are service time.

import { assert, defined } from '../core/assert.ts';
import { pieceSize } from '../core/piece-size.ts';
import { causes } from '../domain/cause.ts';
import { dueKey } from '../domain/due.ts';
import { recordsOf } from '../domain/find.ts';
import { dueIndex, endedIndex, scopeOf, timedKey, timeKey } from '../domain/indexes.ts';
import type { DeliveryRecord } from '../domain/record.ts';
import type { CommitBatch } from './commit-batch.ts';
import type { EventRetention } from './event-retention.ts';
import { executeFor } from './execute-command.ts';
import type { ShardState } from './shard-state.ts';

/** Time between two runs, so that one run does all that became due meanwhile. */
const intervalMs = 50;
/** Deliveries past their retention stay this long, so that many are removed at once. */
const pruneIntervalMs = 1_000;
const duePerBatchMax = pieceSize(64);
/** Deliveries and attempts. */
const prunedPerBatchMax = 500;
/** Deleted endpoints, of each of which a command ends some deliveries. */
const drainedPerBatchMax = pieceSize(4);

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
      if ('refusal' in outcome) tasks.leave(dueIndex, dueKey(record));
    }
    const [left] = tasks.due(batch.serviceMs, 1);
    const last = due.at(-1);
    if (last !== undefined) {
      const isNew = left === undefined || dueKey(left) > dueKey(last);
      assert(isNew, `${left?.id} is due still, although its time was dealt with`);
      tasks.done(dueIndex, dueKey(last));
    }
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
    const old = this.#ended(prunedPerBatchMax, timeKey(serviceMs - this.#retentionMs));
    let room = prunedPerBatchMax;
    // A command is about one organization and mode.
    for (const ofScope of Map.groupBy(old, ({ org, livemode }) => scopeOf(org, livemode)).values())
      room -= this.#remove(batch, ofScope, room);
    const [left] = this.#ended(1);
    const last = old.findLast((each) => left === undefined || endedKey(each) < endedKey(left));
    if (last !== undefined) tasks.done(endedIndex, endedKey(last));
    if (room === 0) {
      this.#pruneAtMs = serviceMs + intervalMs;
      return;
    }
    const endedMs = left === undefined ? serviceMs : endedMsOf(left);
    const dueMs = Math.min(endedMs, serviceMs) + this.#retentionMs;
    this.#pruneAtMs = Math.max(serviceMs, dueMs) + pruneIntervalMs;
  }

  /** Removes deliveries of one organization and mode: `limit` records at most; tells how many. */
  #remove(batch: CommitBatch, deliveries: readonly DeliveryRecord[], limit: number): number {
    const [first, ...others] = deliveries;
    if (first === undefined || limit === 0) return 0;
    const params = { deliveries: deliveries.map(({ id }) => id), limit };
    const given = { operation: 'prune_deliveries', params, cause: causes.time } as const;
    const outcome = executeFor(this.#state, batch, first, given);
    if ('result' in outcome) return outcome.result.removed;
    // It needs a damaged record, which only one of them has.
    if (others.length > 0)
      return deliveries.reduce((sum, each) => sum + this.#remove(batch, [each], limit - sum), 0);
    this.#state.tasks.leave(endedIndex, endedKey(first));
    return 1;
  }

  /** The deliveries that ended first. */
  #ended(count: number, before?: string): DeliveryRecord[] {
    const found: DeliveryRecord[] = [];
    const range = { before, descending: false };
    for (const record of recordsOf(this.#state.tasks, 'delivery', endedIndex, range))
      if (found.push(record) === count) break;
    return found;
  }
}

function endedKey(delivery: DeliveryRecord): string {
  return timedKey(endedMsOf(delivery), delivery.id);
}

function endedMsOf({ id, ended_at_ms }: DeliveryRecord): number {
  return defined(ended_at_ms, `${id} has ended`);
}
