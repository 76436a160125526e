// What clients know for certain, from any answer that they ever got: an answer is given only when what it says is durable.
// So whatever is asked later must agree: what an object was made as, the end that it came to, what was added to it. A
// fact binds the answers to requests that were sent after it was learned.

import type { Judge } from '../kernel/findings.ts';

// biome-ignore lint/suspicious/noExplicitAny: resources of every kind, as JSON.
export type Resource = any;

export interface Fact {
  readonly id: string;
  readonly object: string;
  readonly org: string;
  readonly livemode: boolean;
  readonly learnedMs: number;
  /** What never changes. */
  readonly made: string;
  /** The status that it stays in, or that it was deleted. */
  end: { readonly status: string; readonly learnedMs: number } | null;
  /** Centimes that were refunded at least. */
  refunded: { readonly amount: number; readonly learnedMs: number };
  /** Metadata that was added and is never taken away, by key. */
  readonly metadata: Map<string, { readonly value: string; readonly learnedMs: number }>;
  /** Somebody has asked to delete it. */
  mayBeDeleted: boolean;
  /** As it was told last: for those who look for something to do with it. */
  last: Resource;
}

const ends: Readonly<Record<string, readonly string[]>> = {
  payment_intent: ['succeeded', 'canceled'],
  charge: ['succeeded', 'failed'],
  refund: ['succeeded', 'failed'],
  'checkout.session': ['complete', 'expired'],
};

/** Fields that no operation changes. */
const madeOf: Readonly<Record<string, readonly string[]>> = {
  payment_intent: ['amount', 'currency', 'created', 'customer', 'checkout_session'],
  charge: ['amount', 'currency', 'created', 'payment_intent'],
  refund: ['amount', 'charge', 'payment_intent', 'created', 'reason'],
  'checkout.session': ['amount', 'payment_intent', 'success_url', 'created'],
  customer: ['created'],
  review: [
    'payment_intent',
    'charge',
    'reason',
    'amount_expected',
    'amount_received',
    'currency_received',
    'created',
  ],
  webhook_endpoint: ['created', 'api_version'],
};

function endOf({ object, status, deleted }: Resource): string | null {
  if (deleted === true) return 'deleted';
  return ends[object]?.includes(status) ? status : null;
}

export class Facts {
  readonly #judge: Judge;
  readonly #nowMs: () => number;
  readonly all = new Map<string, Fact>();

  constructor(judge: Judge, nowMs: () => number) {
    this.#judge = judge;
    this.#nowMs = nowMs;
  }

  /** The facts of a kind in an organization and mode, as far as they are known, oldest first. */
  of(org: string, livemode: boolean, object: string): Fact[] {
    return [...this.all.values()].filter(
      (fact) => fact.org === org && fact.livemode === livemode && fact.object === object,
    );
  }

  /** A resource in an answer to a request of `org` that was sent at `sentMs`. */
  observe(resource: Resource, org: string, livemode: boolean, sentMs: number): void {
    const { id, object } = resource;
    if (object === 'event') return;
    const known = this.all.get(id);
    this.#judge.check(
      'every organization sees only its own',
      (known?.org ?? org) === org,
      () => `${org} is shown ${id} of ${known!.org}`,
    );
    if (known === undefined) this.#learn(resource, org, livemode);
    else this.#compare(known, resource, sentMs);
  }

  /** Something on the disk is damaged. It may be missing, or refused, but nothing else may be shown in its place. */
  observeDamaged(resource: Resource): void {
    const known = this.all.get(resource.id);
    if (known === undefined || resource.deleted === true || known.mayBeDeleted || resource.object === 'event')
      return;
    const made = madeText(resource);
    this.#judge.check(
      'damage is noticed',
      made === known.made,
      () => `${known.id} was made as ${known.made} and is now ${made}`,
    );
  }

  #learn(resource: Resource, org: string, livemode: boolean): void {
    const learnedMs = this.#nowMs();
    const status = endOf(resource);
    this.all.set(resource.id, {
      id: resource.id,
      object: resource.object,
      org,
      livemode,
      learnedMs,
      made: madeText(resource),
      end: status === null ? null : { status, learnedMs },
      refunded: { amount: resource.amount_refunded ?? 0, learnedMs },
      metadata: new Map(),
      mayBeDeleted: false,
      last: resource,
    });
  }

  #compare(fact: Fact, resource: Resource, sentMs: number): void {
    const learnedMs = this.#nowMs();
    const { id } = fact;
    const lost = (what: () => string, holds: boolean) =>
      this.#judge.check('nothing acknowledged is lost', holds, () => `${id}: ${what()}`);
    const status = endOf(resource);
    if (resource.deleted !== true) {
      const made = madeText(resource);
      lost(
        () => `it was made as ${fact.made} and is now ${made}`,
        made === fact.made || fact.end?.status === 'deleted',
      );
    }
    if (fact.end !== null && fact.end.learnedMs < sentMs) {
      const { end } = fact;
      lost(
        () => `it was ${end.status} and is now ${resource.deleted ? 'deleted' : resource.status}`,
        end.status === status,
      );
    }
    if (fact.refunded.learnedMs < sentMs && resource.deleted !== true) {
      const { amount } = fact.refunded;
      lost(
        () => `${amount} were refunded and now ${resource.amount_refunded}`,
        (resource.amount_refunded ?? 0) >= amount,
      );
    }
    for (const [key, added] of resource.deleted === true ? [] : fact.metadata) {
      if (added.learnedMs >= sentMs) continue;
      lost(
        () => `its metadata ${key} was ${added.value} and is now ${resource.metadata?.[key]}`,
        resource.metadata?.[key] === added.value,
      );
    }
    if (status !== null) fact.end ??= { status, learnedMs };
    if ((resource.amount_refunded ?? 0) > fact.refunded.amount)
      fact.refunded = { amount: resource.amount_refunded, learnedMs };
    fact.last = resource;
  }

  /** An update that added metadata was acknowledged. */
  added(id: string, key: string, value: string): void {
    this.all.get(id)?.metadata.set(key, { value, learnedMs: this.#nowMs() });
  }
}

function madeText(resource: Resource): string {
  const fields = madeOf[resource.object] ?? ['created'];
  return fields.map((field) => `${field} ${resource[field]}`).join(', ');
}
