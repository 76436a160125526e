// Events as the JSON text that receivers get, each made once for all endpoints of a commit batch.

import { assert } from '../core/assert.ts';
import { pendingDeliveries } from '../domain/deliveries.ts';
import { eventJson } from '../domain/events.ts';
import type { RecordStore } from '../store/record-store.ts';

export class EventBodies {
  readonly #records: RecordStore;
  readonly #bodies = new Map<string, string>();
  /** Events of the commit batch: how many deliveries each has. */
  readonly #deliveries = new Map<string, number>();

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /** A new event. Its deliveries are going to be counted. */
  add(event: string): void {
    this.#deliveries.set(event, 0);
  }

  countDelivery(event: string): void {
    const count = this.#deliveries.get(event);
    if (count !== undefined) this.#deliveries.set(event, count + 1);
  }

  /** The counts are wrong: an endpoint that was deleted has no delivery that is pending. */
  discardCounts(): void {
    this.#deliveries.clear();
  }

  of(id: string): string {
    let body = this.#bodies.get(id);
    if (body === undefined) {
      const event = this.#records.get('event', id);
      assert(event !== undefined, `event ${id} is there as long as its deliveries wait`);
      body = eventJson(event, this.#deliveries.get(id) ?? pendingDeliveries(this.#records, event));
      this.#bodies.set(id, body);
    }
    return body;
  }

  /** The commit batch has ended. */
  clear(): void {
    this.#bodies.clear();
    this.#deliveries.clear();
  }
}
