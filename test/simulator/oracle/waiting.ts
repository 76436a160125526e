// The deliveries that wait, in the order in which they are due, as the changes of a shard say.

import type { Change, RecordOf, StoredRecord } from '../../../src/domain/record.ts';

export type Delivery = RecordOf<'delivery'>;

/** Whether one is due before the other. */
export function isBefore(a: Delivery, b: Delivery): boolean {
  const [dueA, dueB] = [a.due_at_ms ?? Infinity, b.due_at_ms ?? Infinity];
  return dueA < dueB || (dueA === dueB && a.id < b.id);
}

export class Waiting {
  readonly #byEndpoint = new Map<string, Map<string, Delivery>>();
  readonly #byEvent = new Map<string, Set<string>>();

  constructor(deliveries: Iterable<StoredRecord>) {
    for (const delivery of deliveries) this.changed(delivery);
  }

  changed(record: Change): void {
    if (record.kind !== 'delivery') return;
    const { id, endpoint, event } = record;
    const ofEndpoint = this.#byEndpoint.get(endpoint) ?? new Map<string, Delivery>();
    const ofEvent = this.#byEvent.get(event) ?? new Set<string>();
    if (record.status === 'pending' && !record.removed) {
      this.#byEndpoint.set(endpoint, ofEndpoint.set(id, record));
      this.#byEvent.set(event, ofEvent.add(endpoint));
    } else {
      ofEndpoint.delete(id);
      ofEvent.delete(endpoint);
    }
  }

  of(endpoint: string): ReadonlyMap<string, Delivery> {
    return this.#byEndpoint.get(endpoint) ?? new Map();
  }

  /** The endpoints that an event is still to be delivered to. */
  endpointsOf(event: string): Iterable<string> {
    return this.#byEvent.get(event) ?? [];
  }
}
