// Whether a shard does in time what it has to do by itself: charges and sessions expire, and deliveries are leased, soon after they
// are due, unless something has kept the shard from it.

import { dueIndex, indexNameOf, indexRowsOf } from '../../../src/domain/indexes.ts';
import type { Change } from '../../../src/domain/record.ts';
import type { Shard } from '../../../src/shard/shard.ts';
import type { World } from '../world/world.ts';
import type { Outbox } from './outbox.ts';
import type { Requests } from './requests.ts';

/** Two ticks of a shard that has nothing to do, and a commit between them. */
const lateMs = 2_500;
const stalledMs = 100;
const deliveryRetentionMs = 30 * 86_400_000;

export class Promptness {
  readonly #world: World;
  readonly #outbox: Outbox;
  readonly #requests: Requests;
  /** When each delivery has ended. */
  readonly #ended = new Map<string, number>();
  /** None has ended before. */
  #firstEndedMs = Infinity;
  /** When each charge and session is due that can expire. */
  readonly #due = new Map<string, number>();
  /** Since when nothing has kept the shard from its work, in service time. */
  #calmSinceMs = Infinity;
  #lastMs = 0;

  constructor(world: World, outbox: Outbox, requests: Requests, records: Iterable<Change>) {
    this.#world = world;
    this.#outbox = outbox;
    this.#requests = requests;
    for (const record of records) this.changed(record);
  }

  changed(record: Change): void {
    if (record.kind === 'delivery') this.#deliveryChanged(record);
    if (record.kind !== 'charge' && record.kind !== 'checkout_session') return;
    if (!record.removed && indexRowsOf(record).some((row) => indexNameOf(row) === dueIndex))
      this.#due.set(record.id, record.due_at_ms);
    else this.#due.delete(record.id);
  }

  #deliveryChanged({ id, ended_at_ms: endedMs, removed }: Change & { readonly kind: 'delivery' }): void {
    if (endedMs === null || removed) this.#ended.delete(id);
    else {
      this.#ended.set(id, endedMs);
      this.#firstEndedMs = Math.min(this.#firstEndedMs, endedMs);
    }
  }

  /** The shard is about to tick. */
  ticked(shard: Shard): void {
    const { serviceMs } = shard.now();
    const isAble = !shard.state.refusesWrites && shard.oldestCommitMs < stalledMs;
    const isCalm = isAble && serviceMs - this.#lastMs < lateMs;
    this.#lastMs = serviceMs;
    this.#calmSinceMs = isCalm ? Math.min(this.#calmSinceMs, serviceMs) : Infinity;
    const sinceMs = serviceMs - lateMs;
    if (this.#calmSinceMs > sinceMs) return;
    this.judgeDue(sinceMs);
    this.#world.judge.check(
      'what is due is done in time',
      this.#requests.knowsOfGone(sinceMs),
      () => 'somebody has gone, and the exports that they have begun count still',
    );
    if (this.#world.isDamaged) return;
    this.#outbox.judgeLate(sinceMs);
    this.#judgePruned(sinceMs - deliveryRetentionMs - lateMs);
    const { waiting } = shard.state.outboxes.depth(serviceMs);
    this.#world.judge.check(
      'webhook threads have what is due',
      waiting === this.#outbox.depth,
      () => `${waiting} deliveries are said to wait, and ${this.#outbox.depth} do`,
    );
  }

  /** What had ended by then is no longer listed. */
  #judgePruned(endedMs: number): void {
    if (this.#firstEndedMs > endedMs) return;
    this.#firstEndedMs = Math.min(...this.#ended.values());
    this.#world.judge.check(
      'what is past its retention goes',
      this.#firstEndedMs > endedMs,
      () => `a delivery that ended at ${this.#firstEndedMs} is listed still`,
    );
  }

  /** What was due by then has been dealt with. */
  judgeDue(serviceMs: number): void {
    if (this.#world.isDamaged) return;
    const late = [...this.#due].find(([, dueMs]) => dueMs <= serviceMs);
    this.#world.judge.check(
      'what is due is done in time',
      late === undefined,
      () => `${late?.[0]} was due at ${late?.[1]} and is not done at ${serviceMs}`,
    );
  }
}
