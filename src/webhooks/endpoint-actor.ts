// The actor of one endpoint has its leased deliveries in order and counts its attempts in flight.
// The dispatcher asks it for the next delivery and tells it when the attempt has ended. A delivery
// that it has (waiting, in flight, or reported but not recorded) is not taken a second time.

import type { DueDelivery, EndpointChange } from '../shard/protocol.ts';

export class EndpointActor {
  readonly id: string;
  /** The shard that its organization lives in. */
  readonly shard: number;
  /** Null once the endpoint was deleted. */
  #state: EndpointChange['state'] = null;
  /**
   * The waiting deliveries, the next one first. They are few, because the shard leases a small
   * window.
   */
  readonly #queue: DueDelivery[] = [];
  /**
   * Deliveries that wait, are in flight, or whose attempt is not recorded yet, with the number of
   * the attempt.
   */
  readonly #held = new Map<string, number>();
  /** Those of them that were leased again meanwhile for a later attempt. */
  readonly #later = new Map<string, DueDelivery>();
  #inFlight = 0;
  /** It is in the dispatcher's line. */
  inLine = false;
  /** The last attempt failed. */
  #hasFailed = false;

  constructor(id: string, shard: number) {
    this.id = id;
    this.shard = shard;
  }

  /** Empty once the endpoint was deleted. */
  get org(): string {
    return this.#state?.org ?? '';
  }

  get queued(): number {
    return this.#queue.length;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** It takes deliveries, and the last attempt failed. */
  get isFailing(): boolean {
    return this.#hasFailed && this.#isEnabled;
  }

  /** Its endpoint is deleted and no attempt is open, so the actor can be dropped. */
  get isForgettable(): boolean {
    return this.#state === null && this.#held.size === 0;
  }

  /** Whether its deliveries go to this address now; not when it is disabled or deleted. */
  goesTo(url: string): boolean {
    return this.#state?.enabled === true && this.#state.url === url;
  }

  /**
   * Sets the endpoint's new state. One that is disabled or deleted drops its waiting deliveries,
   * whose leases the shard has ended. True when deliveries no longer go to the address where they
   * went before.
   */
  change(state: EndpointChange['state']): boolean {
    const before = this.#state;
    this.#state = state;
    if (!this.#isEnabled) {
      for (const { id } of this.#queue.splice(0)) this.#held.delete(id);
      this.#later.clear();
    }
    return before !== null && !this.goesTo(before.url);
  }

  get #isEnabled(): boolean {
    return this.#state?.enabled === true;
  }

  /**
   * Takes a delivery, unless it has it or the endpoint is not enabled. One that waits here already
   * may move to the front. Where the shard has run elsewhere meanwhile, a later attempt may be due
   * than the one that is under way here: it waits until that one is over.
   */
  take(delivery: DueDelivery): void {
    if (!this.#isEnabled) return;
    const held = this.#held.get(delivery.id);
    if (held !== undefined) {
      const isLater = delivery.number > held;
      const at = this.#queue.findIndex(({ id }) => id === delivery.id);
      if (at === -1 && isLater) this.#later.set(delivery.id, delivery);
      if (at === -1 || !(isLater || delivery.first)) return;
      this.#queue.splice(at, 1);
    }
    this.#held.set(delivery.id, delivery.number);
    if (delivery.first) this.#queue.unshift(delivery);
    else this.#queue.push(delivery);
  }

  /** Whether it could start an attempt while at most `limit` are in flight. */
  canStart(limit: number): boolean {
    return this.#inFlight < limit && this.queued > 0 && this.#isEnabled;
  }

  /**
   * Takes the next delivery, which is in flight from now on, with its address and the active
   * sealed secrets.
   */
  start(nowMs: number): {
    readonly delivery: DueDelivery;
    readonly org: string;
    readonly url: string;
    readonly sealed: readonly string[];
  } {
    const delivery = this.#queue.shift()!;
    this.#inFlight++;
    const { org, url, secrets } = this.#state!;
    const active = secrets.filter(({ expires_at_ms: endMs }) => endMs === null || endMs > nowMs);
    return { delivery, org, url, sealed: active.map(({ sealed }) => sealed) };
  }

  /** An attempt has ended. The delivery is kept until `release`. */
  ended(failed: boolean): void {
    this.#inFlight--;
    this.#hasFailed = failed;
  }

  /**
   * An attempt could not be made: its delivery goes back to the front, unless its lease has ended.
   */
  undone(delivery: DueDelivery): void {
    this.#inFlight--;
    if (this.#isEnabled) this.#queue.unshift(delivery);
    else this.#held.delete(delivery.id);
  }

  /** The attempt is recorded. If the delivery is leased again, it is for another attempt. */
  release(delivery: string): void {
    this.#held.delete(delivery);
    const later = this.#later.get(delivery);
    this.#later.delete(delivery);
    if (later !== undefined) this.take(later);
  }
}
