// Searches of the dashboard that read many records because no index finds what they look for. They
// spend no rate limit of the API: each organization and mode has another one of the same size for
// them. The searches of an organization take turns, so however many its members begin at once, its
// shard reads for one of them at a time.

import type { Mode } from '../../contract/vocabulary.ts';
import type { Clock, MonotonicClock } from '../../core/clock.ts';
import {
  changeLimit,
  createBucket,
  giveBack,
  retryAfterSeconds,
  spendFromAll,
  type TokenBucket,
} from '../../core/token-bucket.ts';
import type { Organization } from '../../directory/organization.ts';
import { activeLimits } from '../../domain/active-limits.ts';
import { Turns, waitingMember } from '../people/turns.ts';

/** Who searches. */
export interface Searcher {
  readonly organization: Pick<Organization, 'id' | 'limits'>;
  readonly mode: Mode;
  readonly member: { readonly id: string };
}

/** A search that was refused, and when it may be tried again. */
export interface TooMany {
  readonly waitSeconds: number;
}

/** After how many seconds a member with too many waiting searches may try again. */
const busySeconds = 5;

export class Searches {
  readonly #now: Clock;
  readonly #monotonic: MonotonicClock;
  /** By organization and mode. */
  readonly #buckets = new Map<string, TokenBucket>();
  /** By organization, while it searches. */
  readonly #turns = new Map<string, { readonly turns: Turns; users: number }>();

  constructor(now: Clock, monotonic: MonotonicClock) {
    this.#now = now;
    this.#monotonic = monotonic;
  }

  /**
   * Runs a search of a member when it is the organization's turn. One that is not counted belongs
   * to a page that shows more than what was searched for.
   */
  async run<T>(
    { organization: { id: org, limits }, mode, member }: Searcher,
    isCounted: boolean,
    gone: AbortSignal,
    search: () => Promise<T>,
  ): Promise<T | TooMany> {
    const { perMinute } = activeLimits(limits[mode], mode, this.#now()).buckets.search;
    const bucket = this.#bucketOf(`${org} ${mode}`, perMinute);
    if (isCounted && spendFromAll([bucket], this.#nowMs()) !== null)
      return { waitSeconds: retryAfterSeconds(bucket, this.#nowMs()) };
    const waiter = waitingMember({ gone }, member.id);
    const found = await this.#inTurn(org, (turns) =>
      turns.take(waiter, async () => ({ found: await search() })),
    );
    if (found !== null) return found.found;
    if (isCounted) giveBack(bucket);
    return { waitSeconds: busySeconds };
  }

  #nowMs(): number {
    return Math.floor(this.#monotonic());
  }

  #bucketOf(key: string, perMinute: number): TokenBucket {
    const known = this.#buckets.get(key);
    const bucket = known ?? createBucket(perMinute, this.#nowMs());
    if (known === undefined) this.#buckets.set(key, bucket);
    else if (known.perMinute !== perMinute) changeLimit(known, perMinute, this.#nowMs());
    return bucket;
  }

  async #inTurn<T>(org: string, take: (turns: Turns) => Promise<T>): Promise<T> {
    const known = this.#turns.get(org);
    const held = known ?? { turns: new Turns({ atOnceMax: 1, waitingMax: 16, shareOfOne: 1 / 2 }), users: 0 };
    if (known === undefined) this.#turns.set(org, held);
    held.users++;
    try {
      return await take(held.turns);
    } finally {
      if (--held.users === 0) this.#turns.delete(org);
    }
  }
}
