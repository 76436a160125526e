// The outbox: which deliveries a shard hands to the webhook thread, and when. Deliveries lie in the journal; for each
// endpoint the webhook thread holds a window of them, oldest first, and gets more as it reports attempts; windows are
// small once many deliveries of all endpoints together are out, and none is handed out while those that are out take too
// many bytes. So memory is bounded there and here, however many wait and however large they are, and a delivery is out
// once at a time.
//
// For each endpoint a cursor stands in the index of its due deliveries: whatever lies before it and still waits is out.
// A delivery that comes to lie before the cursor sends it back to the start. One that is sent again while it is out is
// handed out again, so that the webhook thread moves it ahead of those that wait there. Nothing here is durable: when either
// side is started again all that waits is handed out again, and reports say which attempt they are about.

import { deliveriesInFlightMax } from '../contract/limits.ts';
import { assert } from '../core/assert.ts';
import { textBytes } from '../core/heap-bytes.ts';
import { dueFirstMs, pendingDeliveries } from '../domain/deliveries.ts';
import { eventJson } from '../domain/events.ts';
import { endpointDueIndex, endpointIndex, timeKey } from '../domain/indexes.ts';
import type { Change, DeliveryRecord, WebhookEndpointRecord } from '../domain/record.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { DueDelivery, EndpointChange, OutboxBatch } from './protocol.ts';

/** Deliveries of one endpoint that may be out at a time: enough to keep its attempts going while reports travel. */
export const windowSize = 32;
/** What one turn hands out: the rest waits for the next turn, so that requests don't wait for it. */
const perTurnMax = 256;
/** What one endpoint gets before the next one has its turn. */
const perEndpointMax = 16;
/** Deliveries of all endpoints together that may be out while each still gets its whole window. */
export const outMax = 16_384;
/** What an endpoint may have out beyond that: as many as can be in flight to it. */
const smallWindowSize = deliveriesInFlightMax;
/** What a delivery that is out takes besides its body. */
const deliveryBytes = 1024;

interface Out {
  /** Which attempt of the delivery is next, from 0. */
  readonly number: number;
  readonly dueMs: number;
  readonly bytes: number;
}

interface EndpointQueue {
  enabled: boolean;
  cursor: string | undefined;
  /** No delivery beyond the cursor is due before this; Infinity when there is none. */
  nextDueMs: number;
  /** Deliveries that the webhook thread holds, by id. */
  readonly out: Map<string, Out>;
  /** Those of them that were sent again since, and are to be handed out again: they now go first. */
  readonly resent: Set<string>;
  /** Deliveries that wait, out or not. */
  waiting: number;
}

export class Outbox {
  readonly #records: RecordStore;
  readonly #queues = new Map<string, EndpointQueue>();
  /** Endpoints that may have something to hand out now. */
  readonly #ready = new Set<string>();
  /** Endpoints whose state the webhook thread doesn't know yet. */
  readonly #changed = new Set<string>();
  /** Deliveries of all endpoints that are out, and what they take in the webhook thread. */
  #outCount = 0;
  #outBytes = 0;
  readonly #outBytesMax: number;
  #wakeMs = 0;
  /** The webhook thread is new, and has heard of no endpoint yet. */
  #isOpening = false;
  /** Events as JSON text, for the length of one `take`: most go to several endpoints. */
  readonly #bodies = new Map<string, string>();
  /** Deleted endpoints with deliveries that haven't ended, and the sort key to go on after. */
  readonly draining = new Map<string, string | undefined>();

  constructor(records: RecordStore, outBytesMax: number) {
    this.#records = records;
    this.#outBytesMax = outBytesMax;
  }

  /** Finds the endpoints and counts what waits for them, after a recovery. */
  start(): void {
    for (const record of this.#records.scan(endpointIndex, { descending: false })) {
      if (record.kind !== 'webhook_endpoint') continue;
      this.#endpointChanged(record);
      const queue = this.#queues.get(record.id);
      if (queue === undefined) continue;
      queue.waiting = this.#records.count(endpointDueIndex(record.id));
      queue.nextDueMs = queue.waiting > 0 ? 0 : Infinity;
    }
  }

  /** A new webhook thread has nothing yet: it gets to know every endpoint, and all that waits. */
  open(): void {
    this.#isOpening = true;
    this.#outCount = 0;
    this.#outBytes = 0;
    for (const [id, queue] of this.#queues) {
      queue.out.clear();
      queue.resent.clear();
      queue.cursor = undefined;
      queue.nextDueMs = queue.waiting > 0 ? 0 : Infinity;
      this.#changed.add(id);
      this.#ready.add(id);
    }
  }

  /** Sees every change just before it is applied. */
  observe(change: Change): void {
    if (change.kind === 'webhook_endpoint') this.#endpointChanged(change);
    else if (change.kind === 'delivery') this.#deliveryChanged(change);
  }

  #endpointChanged(endpoint: WebhookEndpointRecord): void {
    const { id, status } = endpoint;
    this.#changed.add(id);
    if (status === 'deleted') {
      for (const out of this.#queues.get(id)?.out.values() ?? []) this.#isBack(out);
      this.#queues.delete(id);
      this.#ready.delete(id);
      if (!endpoint.draining) this.draining.delete(id);
      else if (!this.draining.has(id)) this.draining.set(id, undefined);
      return;
    }
    const queue = this.#queues.get(id);
    const enabled = status === 'enabled';
    if (queue === undefined) {
      const [out, resent] = [new Map(), new Set<string>()];
      this.#queues.set(id, { enabled, cursor: undefined, nextDueMs: Infinity, out, resent, waiting: 0 });
    } else {
      queue.enabled = enabled;
      this.#ready.add(id);
    }
  }

  #deliveryChanged(delivery: DeliveryRecord): void {
    const queue = this.#queues.get(delivery.endpoint);
    if (queue === undefined) return;
    const { due_at_ms: dueMs, removed } = delivery;
    if (this.#waits(delivery)) queue.waiting--;
    if (dueMs === null || removed) return;
    queue.waiting++;
    const key = timeKey(dueMs) + delivery.id;
    if (queue.cursor !== undefined && key <= queue.cursor) queue.cursor = undefined;
    queue.nextDueMs = Math.min(queue.nextDueMs, dueMs);
    this.#wakeMs = Math.min(this.#wakeMs, dueMs);
    if (dueMs === dueFirstMs && queue.out.has(delivery.id)) queue.resent.add(delivery.id);
    this.#ready.add(delivery.endpoint);
  }

  /** Whether the delivery was waiting until now. A new one was not: looking it up would go to the disk in vain. */
  #waits({ id, attempt_count, due_at_ms, status }: DeliveryRecord): boolean {
    const isNew = attempt_count === 0 && status === 'pending' && due_at_ms !== dueFirstMs;
    return !isNew && typeof this.#records.get('delivery', id)?.due_at_ms === 'number';
  }

  /** An attempt was reported: the delivery is out no longer. */
  returned(endpoint: string, delivery: string, number: number): void {
    const queue = this.#queues.get(endpoint);
    const out = queue?.out.get(delivery);
    if (queue === undefined || out?.number !== number) return;
    queue.out.delete(delivery);
    this.#isBack(out);
    queue.resent.delete(delivery);
    this.#ready.add(endpoint);
  }

  #isBack({ bytes }: Out): void {
    this.#outCount--;
    this.#outBytes -= bytes;
  }

  get #isFull(): boolean {
    return this.#outBytes >= this.#outBytesMax;
  }

  /** Time has passed: some retries may have become due. */
  tick(serviceMs: number): void {
    if (serviceMs < this.#wakeMs) return;
    this.#wakeMs = Infinity;
    for (const [id, queue] of this.#queues) {
      if (queue.nextDueMs <= serviceMs) this.#ready.add(id);
      else this.#wakeMs = Math.min(this.#wakeMs, queue.nextDueMs);
    }
  }

  /** No retry becomes due before this. */
  get wakeMs(): number {
    return this.#wakeMs;
  }

  /** There may be something to hand out. */
  get isReady(): boolean {
    return (this.#ready.size > 0 && !this.#isFull) || this.#changed.size > 0 || this.#isOpening;
  }

  /** What is to be handed out now, endpoints by turns, and which endpoints changed. */
  take(serviceMs: number): Omit<OutboxBatch, 'recorded'> {
    const endpoints = [...this.#changed].map((id) => this.#changeOf(id));
    this.#changed.clear();
    const complete = this.#isOpening;
    this.#isOpening = false;
    const deliveries: DueDelivery[] = [];
    for (const id of this.#ready) {
      if (deliveries.length >= perTurnMax || this.#isFull) break;
      // What is added to a set while it is walked through comes last.
      this.#ready.delete(id);
      if (this.#handOut(id, serviceMs, deliveries)) this.#ready.add(id);
    }
    this.#bodies.clear();
    return { endpoints, complete, deliveries };
  }

  #changeOf(id: string): EndpointChange {
    const endpoint = this.#records.get('webhook_endpoint', id);
    if (endpoint === undefined || endpoint.status === 'deleted') return { id, state: null };
    const { org, url, secrets, status } = endpoint;
    return { id, state: { org, url, secrets, enabled: status === 'enabled' } };
  }

  /** Hands out an endpoint's next deliveries; true when there are more that could be. */
  #handOut(id: string, serviceMs: number, deliveries: DueDelivery[]): boolean {
    const queue = this.#queues.get(id);
    if (queue === undefined || !queue.enabled || queue.nextDueMs > serviceMs) return false;
    this.#handOutAgain(queue, deliveries);
    const isMuch = this.#outCount >= outMax || this.#outBytes >= this.#outBytesMax / 2;
    const window = isMuch ? smallWindowSize : windowSize;
    const room = Math.min(window - queue.out.size, perEndpointMax);
    if (room <= 0) return false;
    let count = 0;
    queue.nextDueMs = Infinity;
    const range = { after: queue.cursor, descending: false };
    for (const record of this.#records.scan(endpointDueIndex(id), range)) {
      assert(record.kind === 'delivery' && record.due_at_ms !== null, 'only what waits is due');
      if (record.due_at_ms > serviceMs || count === room || this.#isFull) {
        queue.nextDueMs = record.due_at_ms;
        this.#wakeMs = Math.min(this.#wakeMs, record.due_at_ms);
        break;
      }
      queue.cursor = timeKey(record.due_at_ms) + record.id;
      if (queue.out.has(record.id)) continue;
      const delivery = this.#dueDelivery(record);
      const bytes = deliveryBytes + textBytes(delivery.body);
      queue.out.set(record.id, { number: record.attempt_count, dueMs: record.due_at_ms, bytes });
      this.#outCount++;
      this.#outBytes += bytes;
      deliveries.push(delivery);
      count++;
    }
    return queue.nextDueMs <= serviceMs && queue.out.size < window;
  }

  /** Hands out again, first, what was sent again while it is out: it takes no more room than it has. */
  #handOutAgain({ out, resent }: EndpointQueue, deliveries: DueDelivery[]): void {
    for (const id of resent) {
      const record = this.#records.get('delivery', id);
      if (record?.due_at_ms !== dueFirstMs) continue;
      out.set(id, { ...out.get(id)!, number: record.attempt_count, dueMs: dueFirstMs });
      deliveries.push(this.#dueDelivery(record));
    }
    resent.clear();
  }

  #dueDelivery({ id, endpoint, event: eventId, attempt_count, due_at_ms }: DeliveryRecord): DueDelivery {
    return {
      id,
      endpoint,
      number: attempt_count,
      first: due_at_ms === dueFirstMs,
      body: this.#bodyOf(eventId),
    };
  }

  #bodyOf(id: string): string {
    let body = this.#bodies.get(id);
    if (body === undefined) {
      const event = this.#records.get('event', id);
      assert(event !== undefined, `event ${id} is there as long as its deliveries wait`);
      body = eventJson(event, pendingDeliveries(this.#records, event));
      this.#bodies.set(id, body);
    }
    return body;
  }

  /** What waits, for metrics: how many in all, and for how long the oldest of an enabled endpoint has been due. */
  depth(serviceMs: number): { readonly waiting: number; readonly oldestMs: number } {
    let waiting = 0;
    let oldestMs = serviceMs;
    for (const queue of this.#queues.values()) {
      waiting += queue.waiting;
      if (!queue.enabled) continue;
      for (const { dueMs } of queue.out.values()) if (dueMs > 0) oldestMs = Math.min(oldestMs, dueMs);
      if (queue.nextDueMs > 0) oldestMs = Math.min(oldestMs, queue.nextDueMs);
    }
    return { waiting, oldestMs: serviceMs - oldestMs };
  }
}
