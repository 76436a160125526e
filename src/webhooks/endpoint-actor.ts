// The actor of one endpoint: the deliveries that wait for it in memory, in order, and how many attempts are in flight.
// The dispatcher asks it for the next attempt and tells it what came of it. What it keeps: a delivery that it holds,
// waiting, in flight or reported but not recorded, is not taken a second time.

import type { DueDelivery, EndpointChange } from '../shard/protocol.ts';

export class EndpointActor {
  readonly id: string;
  /** The shard that its organization lives in. */
  readonly shard: number;
  /** Null once the endpoint was deleted. */
  #state: EndpointChange['state'] = null;
  /** What waits, next first: the shard leases a small window, so a plain list does. */
  readonly #queue: DueDelivery[] = [];
  /** Deliveries that wait, are in flight, or whose attempt is not recorded yet. */
  readonly #held = new Set<string>();
  #inFlight = 0;
  /** It stands in the dispatcher's line. */
  inLine = false;
  /** The last attempt failed. */
  #hasFailed = false;

  constructor(id: string, shard: number) {
    this.id = id;
    this.shard = shard;
  }

  get queued(): number {
    return this.#queue.length;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** It takes deliveries, and the last that was tried failed. */
  get isFailing(): boolean {
    return this.#hasFailed && this.#state?.enabled === true;
  }

  /** Nothing is known of it that would be missed. */
  get isForgettable(): boolean {
    return this.#state === null && this.#held.size === 0;
  }

  /** Whether its deliveries go to this address now; not when it is disabled or deleted. */
  goesTo(url: string): boolean {
    return this.#state?.enabled === true && this.#state.url === url;
  }

  /**
   * The endpoint as it is from now on; a deleted one drops what waits. True when its deliveries no longer go where they
   * went.
   */
  change(state: EndpointChange['state']): boolean {
    const before = this.#state;
    this.#state = state;
    if (state === null) for (const { id } of this.#queue.splice(0)) this.#held.delete(id);
    return before !== null && !this.goesTo(before.url);
  }

  /** Takes a delivery in, unless it holds it already or the endpoint is gone; one that waits here can come to the front. */
  take(delivery: DueDelivery): void {
    if (this.#state === null) return;
    if (this.#held.has(delivery.id)) {
      const at = delivery.first ? this.#queue.findIndex(({ id }) => id === delivery.id) : -1;
      if (at === -1) return;
      this.#queue.splice(at, 1);
    }
    this.#held.add(delivery.id);
    if (delivery.first) this.#queue.unshift(delivery);
    else this.#queue.push(delivery);
  }

  /** Whether it could start an attempt while at most `limit` are in flight. */
  canStart(limit: number): boolean {
    return this.#inFlight < limit && this.queued > 0 && this.#state?.enabled === true;
  }

  /** The next delivery, from now on in flight, with where it goes and the secrets in force, sealed. */
  start(nowMs: number): {
    readonly delivery: DueDelivery;
    readonly org: string;
    readonly url: string;
    readonly sealed: readonly string[];
  } {
    const delivery = this.#queue.shift()!;
    this.#inFlight++;
    const { org, url, secrets } = this.#state!;
    const inForce = secrets.filter(({ expires_at_ms: endMs }) => endMs === null || endMs > nowMs);
    return { delivery, org, url, sealed: inForce.map(({ sealed }) => sealed) };
  }

  /** An attempt is over; its delivery stays held until `release`. */
  ended(failed: boolean): void {
    this.#inFlight--;
    this.#hasFailed = failed;
  }

  /** An attempt could not be made: its delivery goes back to the front. */
  undone(delivery: DueDelivery): void {
    this.#inFlight--;
    if (this.#state === null) this.#held.delete(delivery.id);
    else this.#queue.unshift(delivery);
  }

  /** The delivery's attempt is recorded: should it come again, it is for another attempt. */
  release(delivery: string): void {
    this.#held.delete(delivery);
  }
}
