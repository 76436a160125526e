// The outboxes of a shard, one for each webhook thread. All deliveries of an endpoint go to one
// thread, which counts the attempts in flight to it and keeps its connections.

import { elementAt } from '../core/assert.ts';
import { slotOf } from '../core/slot.ts';
import { endpointIndex } from '../domain/indexes.ts';
import type { Change } from '../domain/record.ts';
import type { Quarantine, RecordStore } from '../store/record-store.ts';
import { EventBodies } from './event-bodies.ts';
import { Outbox } from './outbox.ts';
import type { OutboxBatch } from './protocol.ts';

const nothing = { endpoints: [], complete: false, deliveries: [] };

/** The number of the webhook thread that delivers to an endpoint. */
export function webhookThreadOf(endpoint: string, threads: number): number {
  return slotOf(endpoint) % threads;
}

export class Outboxes {
  /** By the number of the webhook thread. */
  readonly #all: readonly Outbox[];
  readonly #records: RecordStore;
  readonly #quarantine: Quarantine;
  readonly #bodies: EventBodies;
  /** Deleted endpoints with deliveries that have not ended, and the sort key to go on after. */
  readonly draining = new Map<string, string | undefined>();

  constructor(records: RecordStore, quarantine: Quarantine, threads: number, leasedBytesMax: number) {
    this.#records = records;
    this.#quarantine = quarantine;
    this.#bodies = new EventBodies(records);
    const bytesMax = leasedBytesMax / threads;
    this.#all = Array.from(
      { length: threads },
      () => new Outbox(records, quarantine, this.#bodies, bytesMax),
    );
  }

  #of(endpoint: string): Outbox {
    return elementAt(this.#all, webhookThreadOf(endpoint, this.#all.length));
  }

  ofThread(number: number): Outbox {
    return elementAt(this.#all, number);
  }

  /** Finds the endpoints and counts what waits for them, after a recovery. */
  start(): void {
    for (const record of this.#records.scan(endpointIndex, { descending: false }, this.#quarantine)) {
      if (record.kind !== 'webhook_endpoint') continue;
      this.#noteDraining(record);
      this.#of(record.id).restore(record);
    }
  }

  /** Called with every change just before it is applied. */
  observe(change: Change): void {
    if (change.kind === 'delivery') {
      this.#of(change.endpoint).deliveryChanged(change);
    } else if (change.kind === 'event' && !change.removed) {
      this.#bodies.add(change.id);
    } else if (change.kind === 'webhook_endpoint') {
      this.#noteDraining(change);
      if (change.status === 'deleted') this.#bodies.discardCounts(change.org);
      this.#of(change.id).endpointChanged(change);
    }
  }

  #noteDraining({ id, draining }: { readonly id: string; readonly draining: boolean }): void {
    if (!draining) this.draining.delete(id);
    else if (!this.draining.has(id)) this.draining.set(id, undefined);
  }

  /** To be called as time passes: some retries may have become due. */
  tick(serviceMs: number): void {
    for (const outbox of this.#all) outbox.tick(serviceMs);
  }

  /** When to call `tick` next. */
  get wakeMs(): number {
    return Math.min(...this.#all.map(({ wakeMs }) => wakeMs));
  }

  /** Some webhook thread could lease deliveries now. */
  get isReady(): boolean {
    return this.#all.some(({ peer, isReady }) => peer !== null && isReady);
  }

  /** What each webhook thread gets with this commit batch; nothing is leased while `readOnly`. */
  take(serviceMs: number, readOnly: boolean): Omit<OutboxBatch, 'recorded'>[] {
    const taken = this.#all.map((outbox) =>
      outbox.peer === null || readOnly ? nothing : outbox.take(serviceMs),
    );
    this.endBatch();
    return taken;
  }

  /** Forgets the bodies of the commit batch. */
  endBatch(): void {
    this.#bodies.clear();
  }

  /** For metrics: how many wait, and for how long the oldest has been due. */
  depth(serviceMs: number): { readonly waiting: number; readonly oldestMs: number } {
    const depths = this.#all.map((outbox) => outbox.depth(serviceMs));
    const waiting = depths.reduce((sum, each) => sum + each.waiting, 0);
    return { waiting, oldestMs: Math.max(...depths.map(({ oldestMs }) => oldestMs)) };
  }
}
