// Events as the JSON text that receivers get, each made once for all endpoints of a commit batch. A
// body says how many deliveries of its event are pending. For events that are new since the start
// they are counted as they change, because to find them in their index costs as much as all else.

import { assert } from '../core/assert.ts';
import { pendingDeliveries } from '../domain/deliveries.ts';
import { eventJson } from '../domain/events.ts';
import type { DeliveryRecord } from '../domain/record.ts';
import type { RecordStore } from '../store/record-store.ts';

type OfEvent = Pick<DeliveryRecord, 'org' | 'event'>;

export class EventBodies {
  readonly #records: RecordStore;
  readonly #countedMax: number;
  readonly #bodies = new Map<string, string>();
  /** The new events of the commit batch, whose first deliveries follow them. */
  readonly #new = new Set<string>();
  /**
   * By organization, how many deliveries are pending of each event that has some, as far as that is
   * known.
   */
  readonly #pending = new Map<string, Map<string, number>>();
  /** How many events are counted. */
  #counted = 0;

  /** Of `countedMax` events the pending deliveries are counted, about 100 bytes each. */
  constructor(records: RecordStore, countedMax = 32_768) {
    this.#records = records;
    this.#countedMax = countedMax;
  }

  /** A new event. Its deliveries are going to be counted. */
  add(event: string): void {
    this.#new.add(event);
  }

  /** A new delivery. */
  added({ org, event }: OfEvent): void {
    const counts = this.#pending.get(org);
    const count = counts?.get(event);
    if (count !== undefined) counts?.set(event, count + 1);
    else if (this.#new.has(event)) this.#begin(org, event);
  }

  #begin(org: string, event: string): void {
    if (this.#counted >= this.#countedMax) this.#makeRoom();
    const counts = this.#pending.get(org) ?? new Map<string, number>();
    this.#pending.set(org, counts);
    counts.set(event, 1);
    this.#counted++;
  }

  /** Forgets the counts of those organizations that have an equal part of them, or more. */
  #makeRoom(): void {
    const equalPart = this.#counted / this.#pending.size;
    for (const [org, counts] of this.#pending) if (counts.size >= equalPart) this.discardCounts(org);
  }

  /** A delivery that there was before is pending now, or no longer. */
  changed({ org, event }: OfEvent, isPending: boolean): void {
    const counts = this.#pending.get(org);
    const count = counts?.get(event);
    if (counts === undefined || count === undefined) return;
    if (count > 1 || isPending) {
      counts.set(event, count + (isPending ? 1 : -1));
      return;
    }
    counts.delete(event);
    this.#counted--;
    if (counts.size === 0) this.#pending.delete(org);
  }

  /** Its counts are wrong: an endpoint that was deleted has no delivery that is pending. */
  discardCounts(org: string): void {
    this.#new.clear();
    this.#counted -= this.#pending.get(org)?.size ?? 0;
    this.#pending.delete(org);
  }

  of(id: string): string {
    let body = this.#bodies.get(id);
    if (body === undefined) {
      const event = this.#records.get('event', id);
      assert(event !== undefined, `event ${id} is there as long as its deliveries wait`);
      const pending = this.#pending.get(event.org)?.get(id);
      body = eventJson(event, pending ?? pendingDeliveries(this.#records, event));
      this.#bodies.set(id, body);
    }
    return body;
  }

  /** The commit batch has ended. */
  clear(): void {
    this.#bodies.clear();
    this.#new.clear();
  }
}
