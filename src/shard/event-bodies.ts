// Events as the JSON text that receivers get, each made once for all endpoints of a commit batch. A
// body says how many deliveries of its event are pending. For events that are new since the start
// they are counted as they change, because to find them in their index costs as much as all else.

import { assert } from '../core/assert.ts';
import { pendingDeliveries } from '../domain/deliveries.ts';
import { eventJson } from '../domain/events.ts';
import type { RecordStore } from '../store/record-store.ts';

/** Events whose pending deliveries are counted, about 100 bytes each; then all are forgotten. */
const countedMax = 32_768;

export class EventBodies {
  readonly #records: RecordStore;
  readonly #bodies = new Map<string, string>();
  /** The new events of the commit batch, whose first deliveries follow them. */
  readonly #new = new Set<string>();
  /** How many deliveries are pending of each event that has some, as far as that is known. */
  readonly #pending = new Map<string, number>();

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /** A new event. Its deliveries are going to be counted. */
  add(event: string): void {
    this.#new.add(event);
  }

  /** A new delivery. */
  added(event: string): void {
    const count = this.#pending.get(event);
    if (count !== undefined) this.#pending.set(event, count + 1);
    else if (this.#new.has(event)) this.#begin(event);
  }

  #begin(event: string): void {
    if (this.#pending.size >= countedMax) this.discardCounts();
    else this.#pending.set(event, 1);
  }

  /** A delivery that there was before is pending now, or no longer. */
  changed(event: string, isPending: boolean): void {
    const count = this.#pending.get(event);
    if (count === undefined) return;
    if (count === 1 && !isPending) this.#pending.delete(event);
    else this.#pending.set(event, count + (isPending ? 1 : -1));
  }

  /** The counts are wrong: an endpoint that was deleted has no delivery that is pending. */
  discardCounts(): void {
    this.#new.clear();
    this.#pending.clear();
  }

  of(id: string): string {
    let body = this.#bodies.get(id);
    if (body === undefined) {
      const event = this.#records.get('event', id);
      assert(event !== undefined, `event ${id} is there as long as its deliveries wait`);
      body = eventJson(event, this.#pending.get(id) ?? pendingDeliveries(this.#records, event));
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
