// Events as the JSON text that receivers get, each made once for all endpoints of a commit batch. A
// body says how many deliveries of its event are pending. For events that are new since the start
// they are counted as they change, because to find them in their index costs as much as all else.

import { assert } from '../core/assert.ts';
import { OwnedMap } from '../core/owned-map.ts';
import { pendingDeliveries } from '../domain/deliveries.ts';
import { eventJson } from '../domain/events.ts';
import type { DeliveryRecord } from '../domain/record.ts';
import type { RecordStore } from '../store/record-store.ts';

type OfEvent = Pick<DeliveryRecord, 'org' | 'event'>;

export class EventBodies {
  readonly #records: RecordStore;
  readonly #bodies = new Map<string, string>();
  /** The new events of the commit batch, whose first deliveries follow them. */
  readonly #new = new Set<string>();
  /**
   * By organization, how many deliveries are pending of each event that has some, as far as that is
   * known.
   */
  readonly #pending: OwnedMap<number>;

  /** Of `countedMax` events the pending deliveries are counted, about 100 bytes each. */
  constructor(records: RecordStore, countedMax = 32_768) {
    this.#records = records;
    this.#pending = new OwnedMap(countedMax, () => 1);
  }

  /** A new event. Its deliveries are going to be counted. */
  add(event: string): void {
    this.#new.add(event);
  }

  /** A new delivery. */
  added({ org, event }: OfEvent): void {
    const count = this.#pending.get(org, event);
    if (count === undefined && !this.#new.has(event)) return;
    const isRoomMade = this.#pending.set(org, event, (count ?? 0) + 1);
    // Other new events may have lost the count of their first deliveries.
    if (isRoomMade) this.#new.clear();
  }

  /** A delivery that there was before is pending now, or no longer. */
  changed({ org, event }: OfEvent, isPending: boolean): void {
    const count = this.#pending.get(org, event);
    if (count === undefined) return;
    if (count === 1 && !isPending) this.#pending.delete(org, event);
    else this.#pending.set(org, event, count + (isPending ? 1 : -1));
  }

  /** Its counts are wrong: an endpoint that was deleted has no delivery that is pending. */
  discardCounts(org: string): void {
    this.#new.clear();
    this.#pending.forget(org);
  }

  of(id: string): string {
    let body = this.#bodies.get(id);
    if (body === undefined) {
      const event = this.#records.get('event', id);
      assert(event !== undefined, `event ${id} is there as long as its deliveries wait`);
      const pending = this.#pending.get(event.org, id);
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
