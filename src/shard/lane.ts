// The requests of one kind on their way from a client to its shard. So many are sent ahead of their
// answers that the shard has work, and the others wait in a fair queue. Of queries, an organization
// may send only some ahead.

import { assert } from '../core/assert.ts';
import type { ExpectedAnswers } from './expected-answers.ts';
import { FairQueue, type QueueBounds } from './fair-queue.ts';

/**
 * What may be on its way to a shard, and wait for that: of commands, of queries and of internal
 * requests each.
 */
export interface ClientBounds {
  /** Requests that are sent ahead of their answers, and the bytes of their large bodies. */
  readonly sentMax: number;
  readonly sentBytesMax: number;
  readonly queue: QueueBounds;
}

export const unbounded: ClientBounds = {
  sentMax: Infinity,
  sentBytesMax: Infinity,
  queue: { requests: Infinity, bytes: Infinity, organizationShare: 1 },
};

/** The bytes that a request without a large body takes until it is answered. */
export const requestBytes = 1024;

export class Lane<T> {
  readonly queue: FairQueue<T>;
  #bounds: ClientBounds;
  readonly #expected: ExpectedAnswers | null;
  sent = 0;
  largeBytes = 0;
  /** The bytes of the large bodies among those that were sent. */
  readonly #large = new Map<number, number>();

  /** `expected`: only as many of an organization are under way as that allows. */
  constructor(
    bounds: ClientBounds,
    onEvicted: (waiting: T) => void,
    expected: ExpectedAnswers | null = null,
  ) {
    this.#bounds = bounds;
    this.#expected = expected;
    this.queue = new FairQueue(bounds.queue, onEvicted);
  }

  set bounds(bounds: ClientBounds) {
    this.#bounds = bounds;
    this.queue.bounds = bounds.queue;
  }

  /** Another request may be sent, of any size: a shard that has nothing to do accepts all. */
  get isOpen(): boolean {
    const { sentMax, sentBytesMax } = this.#bounds;
    return this.sent < sentMax && this.largeBytes < sentBytesMax;
  }

  /** A new request of an organization is sent at once, because none of it has to wait. */
  isFreeFor(organization: string): boolean {
    return this.isOpen && !this.queue.has(organization) && this.#mayAsk(organization);
  }

  readonly #mayAsk = (organization: string) => this.#expected?.mayAsk(organization) ?? true;

  /** Requests without an answer yet, sent or not. */
  get waitingCount(): number {
    return this.sent + this.queue.length;
  }

  /** About what these take. */
  get waitingBytes(): number {
    return this.sent * requestBytes + this.largeBytes + this.queue.bytes;
  }

  /** The next one whose turn it is, if it may be sent. */
  take(): T | undefined {
    return this.isOpen ? this.queue.take(this.#mayAsk) : undefined;
  }

  /** A request of an organization with a body of so many bytes is sent. */
  sending(id: number, organization: string, bodyBytes: number): void {
    this.sent++;
    this.#expected?.asked(id, organization);
    if (bodyBytes <= requestBytes) return;
    this.#large.set(id, bodyBytes);
    this.largeBytes += bodyBytes;
  }

  /** `answerBytes`: null when it was refused. */
  answered(id: number, answerBytes: number | null): void {
    this.sent--;
    assert(this.sent >= 0, 'what is answered was sent');
    this.#expected?.answered(id, answerBytes);
    if (this.largeBytes === 0) return;
    this.largeBytes -= this.#large.get(id) ?? 0;
    this.#large.delete(id);
  }

  /** The shard has ended: nothing that was sent is answered any more. */
  forget(): void {
    this.sent = 0;
    this.largeBytes = 0;
    this.#large.clear();
    this.#expected?.forget();
  }
}
