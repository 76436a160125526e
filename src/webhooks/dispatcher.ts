// The dispatcher has the actors of all endpoints, the line in which they wait for a free slot, and
// the reports of their attempts to the shards. It makes one attempt of an endpoint and sends the
// endpoint to the end of the line, so that every endpoint has its turn, however many deliveries
// wait for one of them.
//
// Slow receivers occupy slots for long. When half of all slots are taken, an endpoint gets one slot
// at a time, and an organization a quarter of all, deleted endpoints included. So many slow ones
// together still leave room for the others.
//
// Reports gather for some milliseconds before they are sent. A report is sent again until its shard
// has acknowledged that it is durable, and few are in flight at a time. When the thread ends before
// it has reported an attempt, the delivery is leased again.

import { deliveriesInFlightMax } from '../contract/limits.ts';
import type { Clock, MonotonicClock } from '../core/clock.ts';
import { FixedQueue } from '../core/fixed-queue.ts';
import type { AttemptResult } from '../domain/record.ts';
import { windowSize } from '../shard/outbox.ts';
import type { DueDelivery, EndpointChange, OutboxBatch, OutboxMessage } from '../shard/protocol.ts';
import type { SealedAttempt } from './attempt.ts';
import { EndpointActor } from './endpoint-actor.ts';
import { ReportWindow } from './report-window.ts';

interface DispatcherOptions {
  /** Attempts in flight in all. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  /** Whether this process may still deliver for a shard. */
  readonly isHeld: (shard: number) => boolean;
  /** Makes an attempt; throws or rejects only when it could not be made at all. */
  readonly attempt: (input: SealedAttempt) => Promise<AttemptResult>;
  /** Closes the idle connections of an endpoint. */
  readonly hangUp: (endpoint: string) => void;
  /** Sends a message to a shard. The message is lost when the shard is not running. */
  readonly send: (shard: number, message: Omit<OutboxMessage, 'thread'>) => void;
  readonly onAttempted: (result: AttemptResult) => void;
  /** An attempt could not be made because of a fault in the service. */
  readonly onTrouble: (error: unknown) => void;
  /** Calls back after so many milliseconds. */
  readonly later: (run: () => void, ms: number) => void;
}

/** Wait after an attempt that could not be made. */
const troubleMs = 1_000;
/**
 * How long a report waits for others, because each message of reports costs its shard a
 * commit batch.
 */
export const reportMs = 10;
/**
 * This many reports are sent at once, because an endpoint with a fast receiver would run out of
 * leases meanwhile.
 */
export const reportsAtOnce = windowSize / 2;

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #actors = new Map<string, EndpointActor>();
  readonly #line = new FixedQueue<EndpointActor>();
  /** Endpoints that could start an attempt if fewer slots were taken, by organization. */
  readonly #held = new Map<string, Set<EndpointActor>>();
  /** Endpoints that could start an attempt if this process were sure of their partition. */
  readonly #unsure = new Set<EndpointActor>();
  /** Reports that are not recorded yet, by shard. */
  readonly #unrecorded = new Map<number, ReportWindow>();
  /** Shards to which gathered reports will be sent soon. */
  readonly #sendingSoon = new Set<number>();
  #inFlight = 0;
  readonly #inFlightOf = new Map<string, number>();
  #running = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Allows attempts to start. */
  start(): void {
    this.#running = true;
    this.#pump();
  }

  /** Starts no more attempts until `start`. */
  pause(): void {
    this.#running = false;
  }

  /**
   * A shard was started: it leases everything that waits again, and is sent the reports that it has
   * not recorded.
   */
  connected(shard: number): void {
    const unrecorded = this.#unrecordedBy(shard);
    unrecorded.restart();
    this.#options.send(shard, { open: true, reports: unrecorded.next(this.#options.monotonic()) });
  }

  /**
   * A shard has ended: what waits here is leased anew by whoever runs it next, which may be another
   * process. Attempts in flight go on, and are counted.
   */
  disconnected(shard: number): void {
    for (const actor of this.#actors.values()) if (actor.shard === shard) this.#change(actor, null);
  }

  /**
   * Sends the reports again that were not acknowledged in time, and goes on where this process is
   * sure of a partition again. To be called about once a second.
   */
  tick(): void {
    const unsure = [...this.#unsure];
    this.#unsure.clear();
    for (const actor of unsure) this.#lineUpOrForget(actor);
    this.#pump();
    for (const [shard, unrecorded] of this.#unrecorded) {
      const reports = unrecorded.overdue(this.#options.monotonic());
      if (reports.length > 0) this.#options.send(shard, { open: false, reports });
    }
  }

  #unrecordedBy(shard: number): ReportWindow {
    let unrecorded = this.#unrecorded.get(shard);
    if (unrecorded === undefined) {
      unrecorded = new ReportWindow();
      this.#unrecorded.set(shard, unrecorded);
    }
    return unrecorded;
  }

  /** Takes the leases, the endpoint changes and the acknowledgements of a shard. */
  take(shard: number, { endpoints, complete, deliveries, recorded }: OutboxBatch): void {
    for (const each of recorded) this.#recorded(shard, each);
    if (this.#unrecordedBy(shard).unsent > 0) this.#sendSoon(shard);
    for (const { id, state } of endpoints) {
      const actor = this.#actors.get(id) ?? new EndpointActor(id, shard);
      this.#actors.set(id, actor);
      this.#change(actor, state);
    }
    if (complete) this.#dropOthers(shard, new Set(endpoints.map(({ id }) => id)));
    for (const delivery of deliveries) {
      const actor = this.#actors.get(delivery.endpoint);
      if (actor === undefined) continue;
      actor.take(delivery);
      this.#lineUpOrForget(actor);
    }
    this.#pump();
  }

  /**
   * Drops the endpoints of a shard that it does not name: they were deleted before it could tell.
   */
  #dropOthers(shard: number, named: ReadonlySet<string>): void {
    for (const actor of this.#actors.values()) {
      if (actor.shard !== shard || named.has(actor.id)) continue;
      this.#change(actor, null);
    }
  }

  #change(actor: EndpointActor, state: EndpointChange['state']): void {
    if (actor.change(state)) this.#options.hangUp(actor.id);
    this.#lineUpOrForget(actor);
  }

  #recorded(shard: number, { endpoint, delivery, number }: OutboxBatch['recorded'][number]): void {
    if (!this.#unrecordedBy(shard).remove(delivery, number)) return;
    const actor = this.#actors.get(endpoint);
    actor?.release(delivery);
    if (actor !== undefined) this.#lineUpOrForget(actor);
  }

  /**
   * Puts an actor into the line when it has something to do, and forgets it when its endpoint is
   * gone.
   */
  #lineUpOrForget(actor: EndpointActor): void {
    // An endpoint that its shard has named anew has another actor.
    if (actor.isForgettable && this.#actors.get(actor.id) === actor) this.#actors.delete(actor.id);
    if (actor.inLine || !actor.canStart(deliveriesInFlightMax)) return;
    actor.inLine = true;
    this.#line.push(actor);
  }

  /** Starts attempts while slots are free, endpoints by turns. */
  #pump(): void {
    const { concurrency, isHeld } = this.#options;
    while (this.#running && this.#inFlight < concurrency) {
      const actor = this.#line.shift();
      if (actor === undefined) return;
      actor.inLine = false;
      // A new owner leases what waits, but there need not be one: it may be held again in a moment.
      if (!isHeld(actor.shard)) {
        this.#unsure.add(actor);
        continue;
      }
      if (actor.canStart(this.#limitOf(actor.org))) void this.#attempt(actor);
      else if (actor.canStart(deliveriesInFlightMax)) this.#hold(actor);
    }
  }

  get #isCrowded(): boolean {
    return this.#inFlight >= this.#options.concurrency / 2;
  }

  /** How many attempts an endpoint of an organization may have in flight now. */
  #limitOf(org: string): number {
    if (!this.#isCrowded) return deliveriesInFlightMax;
    return (this.#inFlightOf.get(org) ?? 0) < this.#options.concurrency / 4 ? 1 : 0;
  }

  #hold(actor: EndpointActor): void {
    const held = this.#held.get(actor.org) ?? new Set();
    this.#held.set(actor.org, held.add(actor));
  }

  async #attempt(actor: EndpointActor): Promise<void> {
    const { clock, attempt, hangUp, onAttempted, onTrouble, later } = this.#options;
    const nowMs = clock();
    const { delivery, org, url, sealed } = actor.start(nowMs);
    this.#count(org, 1);
    this.#lineUpOrForget(actor);
    try {
      const result = await attempt({
        endpoint: actor.id,
        org,
        url,
        sealed,
        body: delivery.body,
        nowSeconds: nowMs / 1000,
      });
      if (!actor.goesTo(url)) hangUp(actor.id);
      actor.ended(result.failure !== null);
      onAttempted(result);
      this.#report(actor, delivery, result);
      this.#freed(actor, org);
    } catch (error) {
      // After `pause` the attempts under way are ended from outside, so their failure is no
      // trouble.
      if (this.#running) onTrouble(error);
      later(() => {
        actor.undone(delivery);
        this.#freed(actor, org);
      }, troubleMs);
    }
  }

  #freed(actor: EndpointActor, org: string): void {
    this.#count(org, -1);
    this.#lineUpOrForget(actor);
    if (this.#isCrowded) this.#lineUpHeld(org);
    else for (const each of this.#held.keys()) this.#lineUpHeld(each);
    this.#pump();
  }

  #count(org: string, more: 1 | -1): void {
    this.#inFlight += more;
    const inFlight = (this.#inFlightOf.get(org) ?? 0) + more;
    if (inFlight === 0) this.#inFlightOf.delete(org);
    else this.#inFlightOf.set(org, inFlight);
  }

  #lineUpHeld(org: string): void {
    const held = this.#held.get(org) ?? [];
    this.#held.delete(org);
    for (const actor of held) this.#lineUpOrForget(actor);
  }

  #report({ id: endpoint, shard }: EndpointActor, delivery: DueDelivery, result: AttemptResult): void {
    const { id, number, first } = delivery;
    this.#unrecordedBy(shard).add({ endpoint, delivery: id, number, first, result });
    this.#sendSoon(shard);
  }

  #sendSoon(shard: number): void {
    if (this.#unrecordedBy(shard).unsent >= reportsAtOnce) {
      this.#sendReports(shard);
      return;
    }
    if (this.#sendingSoon.size === 0) this.#options.later(() => this.#flush(), reportMs);
    this.#sendingSoon.add(shard);
  }

  #flush(): void {
    for (const shard of this.#sendingSoon) this.#sendReports(shard);
    this.#sendingSoon.clear();
  }

  #sendReports(shard: number): void {
    const reports = this.#unrecordedBy(shard).next(this.#options.monotonic());
    if (reports.length > 0) this.#options.send(shard, { open: false, reports });
  }

  /** No attempt is in flight and every report is recorded. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && [...this.#unrecorded.values()].every(({ size }) => size === 0);
  }

  /** For metrics: attempts in flight, deliveries in memory, endpoints whose last attempt failed. */
  counts(): { readonly inFlight: number; readonly queued: number; readonly failing: number } {
    let queued = 0;
    let failing = 0;
    for (const actor of this.#actors.values()) {
      queued += actor.queued;
      if (actor.isFailing) failing++;
    }
    return { inFlight: this.#inFlight, queued, failing };
  }
}
