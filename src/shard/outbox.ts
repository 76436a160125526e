// An outbox decides which deliveries a webhook thread gets, and when. The thread leases a window of
// them for each of its endpoints, oldest first, and gets more as it reports attempts. The windows
// shrink with many leases, and end at a number of bytes, so memory is bounded in both threads.
// Each endpoint has a cursor in the index of its due deliveries: all before it are leased. It goes
// back to the start when a delivery gets a place before it. Leases are not durable: when either
// thread restarts, all waiting deliveries are leased again, and each report names its attempt.

import { deliveriesInFlightMax } from '../contract/limits.ts';
import { assert } from '../core/assert.ts';
import { textBytes } from '../core/heap-bytes.ts';
import { pieceSize } from '../core/piece-size.ts';
import { dueFirstMs } from '../domain/deliveries.ts';
import { endpointDueIndex, endpointIndex, timedKey } from '../domain/indexes.ts';
import type { DeliveryRecord, WebhookEndpointRecord } from '../domain/record.ts';
import type { Quarantine, RecordStore } from '../store/record-store.ts';
import type { Peer } from './commit-batch.ts';
import type { EventBodies } from './event-bodies.ts';
import type { DueDelivery, EndpointChange, OutboxBatch } from './protocol.ts';

/** Leases of one endpoint: so many that attempts go on while reports gather and travel. */
export const windowSize = pieceSize(128);
/** Leases that one commit batch gives, so that requests don't wait for the rest. */
export const perBatchMax = pieceSize(256);
/** Leases that one endpoint gets before the next one has its turn. */
export const perEndpointMax = pieceSize(16);
/** Leases of all endpoints together up to which each gets its whole window. */
export const leasesMax = pieceSize(16_384);
/** The window of an endpoint beyond that: as many as can be in flight to it. */
const smallWindowSize = deliveriesInFlightMax;
/** What a leased delivery takes in memory besides its body. */
const deliveryBytes = 1024;
/** New deliveries of one endpoint that are kept to be leased, as long as all have few. */
export const freshMax = pieceSize(4_096);
/** Beyond so many of all, half a KiB each, an endpoint keeps as many as can be in flight. */
const freshOfAllMax = pieceSize(16_384);

/** A delivery that its webhook thread has. */
interface Lease {
  /** Which attempt of the delivery is next, from 0. */
  readonly number: number;
  readonly dueMs: number;
  readonly bytes: number;
}

/** A new delivery, with its sort key in the index. */
interface Fresh {
  readonly key: string;
  readonly delivery: DeliveryRecord;
}

interface EndpointQueue {
  enabled: boolean;
  cursor: string | undefined;
  /** No delivery beyond the cursor is due before this, fresh ones apart; Infinity: none is. */
  nextDueMs: number;
  /**
   * New deliveries beyond the cursor, in order: while nothing else is due, they are leased as they
   * are.
   */
  fresh: Fresh[];
  /** By the delivery's id. */
  readonly leased: Map<string, Lease>;
  /** Leased deliveries that were resent since. */
  readonly resent: Set<string>;
  /** Deliveries that wait, leased or not. */
  waiting: number;
}

function isNewDelivery({ attempt_count, due_at_ms, status }: DeliveryRecord): boolean {
  return attempt_count === 0 && status === 'pending' && due_at_ms !== dueFirstMs;
}

/** Before this, nothing beyond the cursor is due; Infinity when nothing is there. */
function nextDueMsOf({ nextDueMs, fresh: [first] }: EndpointQueue): number {
  return Math.min(nextDueMs, first?.delivery.due_at_ms ?? Infinity);
}

export class Outbox {
  readonly #records: RecordStore;
  /** For deliveries that can't be read, or whose event can't. */
  readonly #quarantine: Quarantine;
  readonly #queues = new Map<string, EndpointQueue>();
  /** Endpoints that may have deliveries to lease now. */
  readonly #ready = new Set<string>();
  /** Its webhook thread, once that has connected. */
  #peer: Peer | null = null;
  /** Endpoints whose state the webhook thread doesn't know yet. */
  readonly #changed = new Set<string>();
  /** The leases of all endpoints, and what their deliveries take in the webhook thread. */
  #leasedCount = 0;
  #leasedBytes = 0;
  readonly #leasedBytesMax: number;
  /** The fresh deliveries of all endpoints. */
  #freshCount = 0;
  #wakeMs = 0;
  /** The webhook thread is new and knows no endpoint yet. */
  #isOpening = false;
  readonly #bodies: EventBodies;

  constructor(records: RecordStore, quarantine: Quarantine, bodies: EventBodies, leasedBytesMax: number) {
    this.#records = records;
    this.#quarantine = quarantine;
    this.#bodies = bodies;
    this.#leasedBytesMax = leasedBytesMax;
  }

  /** Counts what waits for an endpoint, after a recovery. */
  restore(endpoint: WebhookEndpointRecord): void {
    this.endpointChanged(endpoint);
    const queue = this.#queues.get(endpoint.id);
    if (queue === undefined) return;
    queue.waiting = this.#records.count(endpointDueIndex(endpoint.id));
    queue.nextDueMs = queue.waiting > 0 ? 0 : Infinity;
  }

  has(endpoint: string): boolean {
    return this.#queues.has(endpoint);
  }

  get peer(): Peer | null {
    return this.#peer;
  }

  /** The webhook thread is new: it is sent every endpoint, and can lease all that waits. */
  open(peer: Peer): void {
    this.#peer = peer;
    this.#isOpening = true;
    for (const [id, queue] of this.#queues) {
      this.#endLeases(queue);
      this.#changed.add(id);
      this.#ready.add(id);
    }
  }

  /** The webhook thread has nothing of an endpoint any more: all that waits can be leased again. */
  #endLeases(queue: EndpointQueue): void {
    for (const lease of queue.leased.values()) this.#free(lease);
    queue.leased.clear();
    queue.resent.clear();
    queue.cursor = undefined;
    this.#leaveToIndex(queue);
    queue.nextDueMs = queue.waiting > 0 ? 0 : Infinity;
  }

  /** Called with a change of an endpoint just before it is applied. */
  endpointChanged({ id, status }: WebhookEndpointRecord): void {
    this.#changed.add(id);
    const queue = this.#queues.get(id);
    const enabled = status === 'enabled';
    if (status === 'deleted') {
      this.#drop(id);
    } else if (queue === undefined) {
      const [leased, resent] = [new Map(), new Set<string>()];
      const empty = { cursor: undefined, nextDueMs: Infinity, fresh: [], waiting: 0 };
      this.#queues.set(id, { enabled, ...empty, leased, resent });
    } else {
      queue.enabled = enabled;
      if (!enabled) this.#endLeases(queue);
      this.#ready.add(id);
    }
  }

  #drop(id: string): void {
    const queue = this.#queues.get(id);
    if (queue !== undefined) this.#endLeases(queue);
    this.#queues.delete(id);
    this.#ready.delete(id);
  }

  /** Called with a change of a delivery just before it is applied. */
  deliveryChanged(delivery: DeliveryRecord): void {
    const queue = this.#queues.get(delivery.endpoint);
    if (queue === undefined) return;
    const { id, due_at_ms: dueMs } = delivery;
    const isNew = isNewDelivery(delivery);
    if (isNew) this.#bodies.added(delivery);
    else this.#changedBefore(queue, delivery);
    if (dueMs === null) return;
    queue.waiting++;
    this.#ready.add(delivery.endpoint);
    const key = timedKey(dueMs, id);
    const last = queue.fresh.at(-1)?.key ?? queue.cursor;
    const isLast = last === undefined ? queue.waiting === 1 : key > last;
    if (isNew && isLast && dueMs < queue.nextDueMs && this.#hasFreshRoom(queue)) {
      queue.fresh.push({ key, delivery });
      this.#freshCount++;
      return;
    }
    // Once this is due, the next lease looks into the index, for those that are fresh as well.
    if (queue.cursor !== undefined && key <= queue.cursor) queue.cursor = undefined;
    queue.nextDueMs = Math.min(queue.nextDueMs, dueMs);
    this.#wakeMs = Math.min(this.#wakeMs, dueMs);
    if (dueMs === dueFirstMs && queue.leased.has(id)) queue.resent.add(id);
  }

  /** A delivery that there was before is about to change. */
  #changedBefore(queue: EndpointQueue, delivery: DeliveryRecord): void {
    const { id, status } = delivery;
    const before = this.#records.get('delivery', id);
    if (before === undefined) return;
    const [was, is] = [before.status === 'pending', status === 'pending'];
    if (was !== is) this.#bodies.changed(delivery, is);
    if (before.due_at_ms === null) return;
    queue.waiting--;
    assert(queue.waiting >= 0, 'every waiting delivery was counted');
    const [first] = queue.fresh;
    if (first !== undefined && timedKey(before.due_at_ms, id) >= first.key) this.#leaveToIndex(queue);
  }

  #hasFreshRoom({ fresh }: EndpointQueue): boolean {
    return fresh.length < (this.#freshCount < freshOfAllMax ? freshMax : smallWindowSize);
  }

  /** From now on, its fresh deliveries are found in the index. */
  #leaveToIndex(queue: EndpointQueue): void {
    queue.nextDueMs = nextDueMsOf(queue);
    this.#freshCount -= queue.fresh.length;
    queue.fresh = [];
  }

  /** An attempt was reported, which ends the lease of its delivery. */
  release(endpoint: string, delivery: string, number: number): void {
    const queue = this.#queues.get(endpoint);
    const lease = queue?.leased.get(delivery);
    if (queue === undefined || lease?.number !== number) return;
    queue.leased.delete(delivery);
    this.#free(lease);
    queue.resent.delete(delivery);
    this.#ready.add(endpoint);
  }

  #free({ bytes }: Lease): void {
    this.#leasedCount--;
    this.#leasedBytes -= bytes;
    assert(this.#leasedCount >= 0 && this.#leasedBytes >= 0, 'a lease ends once');
  }

  get #isFull(): boolean {
    return this.#leasedBytes >= this.#leasedBytesMax;
  }

  /** To be called as time passes: some retries may have become due. */
  tick(serviceMs: number): void {
    if (serviceMs < this.#wakeMs) return;
    this.#wakeMs = Infinity;
    for (const [id, queue] of this.#queues) {
      const nextMs = nextDueMsOf(queue);
      if (nextMs <= serviceMs) this.#ready.add(id);
      else this.#wakeMs = Math.min(this.#wakeMs, nextMs);
    }
  }

  get wakeMs(): number {
    return this.#wakeMs;
  }

  get isReady(): boolean {
    return (this.#ready.size > 0 && !this.#isFull) || this.#changed.size > 0 || this.#isOpening;
  }

  /** Leases deliveries, endpoints by turns. Returns them, and the endpoints that have changed. */
  take(serviceMs: number): Omit<OutboxBatch, 'recorded'> {
    const endpoints = [...this.#changed].map((id) => this.#changeOf(id));
    this.#changed.clear();
    const complete = this.#isOpening;
    this.#isOpening = false;
    const deliveries: DueDelivery[] = [];
    for (const id of this.#ready) {
      if (deliveries.length >= perBatchMax || this.#isFull) break;
      // An element that is added while the set is iterated comes last.
      this.#ready.delete(id);
      if (this.#lease(id, serviceMs, deliveries)) this.#ready.add(id);
    }
    return { endpoints, complete, deliveries };
  }

  /** One that can't be read is dropped, as at a start. */
  #changeOf(id: string): EndpointChange {
    const endpoint = this.#readable(endpointIndex, id, () => this.#records.get('webhook_endpoint', id));
    if (endpoint === null) this.#drop(id);
    if (!endpoint || endpoint.status === 'deleted') return { id, state: null };
    const { org, url, secrets, status } = endpoint;
    return { id, state: { org, url, secrets, enabled: status === 'enabled' } };
  }

  /** Leases the next deliveries of an endpoint. True when more of them could be leased. */
  #lease(id: string, serviceMs: number, deliveries: DueDelivery[]): boolean {
    const queue = this.#queues.get(id);
    if (queue === undefined || !queue.enabled) return false;
    const isFromIndex = queue.nextDueMs <= serviceMs;
    if (isFromIndex) this.#leaseAgain(id, queue, deliveries);
    const isMuch = this.#leasedCount >= leasesMax || this.#leasedBytes >= this.#leasedBytesMax / 2;
    const window = isMuch ? smallWindowSize : windowSize;
    const room = Math.min(window - queue.leased.size, perEndpointMax);
    if (room > 0 && isFromIndex) this.#leaseFromIndex(id, queue, room, serviceMs, deliveries);
    else if (room > 0) this.#leaseFresh(id, queue, room, deliveries);
    const nextMs = nextDueMsOf(queue);
    this.#wakeMs = Math.min(this.#wakeMs, nextMs);
    return nextMs <= serviceMs && queue.leased.size < window;
  }

  #leaseFromIndex(
    id: string,
    queue: EndpointQueue,
    room: number,
    serviceMs: number,
    deliveries: DueDelivery[],
  ): void {
    let count = 0;
    this.#leaveToIndex(queue);
    queue.nextDueMs = Infinity;
    const index = endpointDueIndex(id);
    const range = { after: queue.cursor, descending: false };
    for (const record of this.#records.scan(index, range, this.#quarantine)) {
      assert(record.kind === 'delivery' && record.due_at_ms !== null, 'only what waits is due');
      if (record.due_at_ms > serviceMs || count === room || this.#isFull) {
        queue.nextDueMs = record.due_at_ms;
        break;
      }
      queue.cursor = timedKey(record.due_at_ms, record.id);
      if (queue.leased.has(record.id)) continue;
      if (this.#give(index, queue, record, deliveries)) count++;
    }
  }

  /** Leases new deliveries without a look at the index. */
  #leaseFresh(id: string, queue: EndpointQueue, room: number, deliveries: DueDelivery[]): void {
    const index = endpointDueIndex(id);
    for (let count = 0; count < room && !this.#isFull; ) {
      const next = queue.fresh.shift();
      if (next === undefined) return;
      this.#freshCount--;
      queue.cursor = next.key;
      if (!this.#give(index, queue, next.delivery, deliveries)) continue;
      // Its attempt is reported soon.
      this.#records.keepAtHand(next.delivery);
      count++;
    }
  }

  /** Leases the delivery at the cursor. False when it can't be read, or its event can't. */
  #give(index: string, queue: EndpointQueue, record: DeliveryRecord, deliveries: DueDelivery[]): boolean {
    const { cursor = '', leased } = queue;
    const delivery = this.#readable(index, cursor, () => this.#dueDelivery(record));
    if (delivery === null) return false;
    const bytes = deliveryBytes + textBytes(delivery.body);
    leased.set(record.id, { number: record.attempt_count, dueMs: record.due_at_ms ?? 0, bytes });
    this.#leasedCount++;
    this.#leasedBytes += bytes;
    deliveries.push(delivery);
    return true;
  }

  /** Leases resent deliveries again, so that the webhook thread moves them ahead of the others. */
  #leaseAgain(endpoint: string, { leased, resent }: EndpointQueue, deliveries: DueDelivery[]): void {
    for (const id of resent) {
      const delivery = this.#readable(endpointDueIndex(endpoint), timedKey(dueFirstMs, id), () => {
        const record = this.#records.get('delivery', id);
        return record?.due_at_ms === dueFirstMs ? this.#dueDelivery(record) : null;
      });
      if (delivery === null) continue;
      const bytes = leased.get(id)?.bytes ?? 0;
      leased.set(id, { bytes, number: delivery.number, dueMs: dueFirstMs });
      deliveries.push(delivery);
    }
    resent.clear();
  }

  /** Reads what has this row; null when it is damaged, or what it needs. */
  #readable<T>(index: string, sortKey: string, read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      this.#quarantine.add(index, sortKey, error);
      return null;
    }
  }

  #dueDelivery({ id, endpoint, event, attempt_count: number, due_at_ms }: DeliveryRecord): DueDelivery {
    return { id, endpoint, number, first: due_at_ms === dueFirstMs, body: this.#bodies.of(event) };
  }

  /** For metrics: how many wait, and for how long the oldest has been due. */
  depth(serviceMs: number): { readonly waiting: number; readonly oldestMs: number } {
    let waiting = 0;
    let oldestMs = serviceMs;
    for (const queue of this.#queues.values()) {
      waiting += queue.waiting;
      if (!queue.enabled) continue;
      for (const { dueMs } of queue.leased.values()) if (dueMs > 0) oldestMs = Math.min(oldestMs, dueMs);
      const nextMs = nextDueMsOf(queue);
      if (nextMs > 0) oldestMs = Math.min(oldestMs, nextMs);
    }
    return { waiting, oldestMs: serviceMs - oldestMs };
  }
}
