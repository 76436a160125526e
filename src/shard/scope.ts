// A scope is one organization in one mode, with its rate-limit buckets, the day's counters, and its webhook endpoints in
// memory. Limits are counted before anything else is done for a request; a refused request spends nothing.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import { type Bucket, bucketNames, buckets, exportsAtOnceMax } from '../contract/limits.ts';
import type { Route } from '../contract/routes/route.ts';
import { type Language, modeOf } from '../contract/vocabulary.ts';
import type { Now } from '../core/clock.ts';
import type { MoroccoCalendar } from '../core/morocco-day.ts';
import { slotOf } from '../core/slot.ts';
import * as bucket from '../core/token-bucket.ts';
import type { Account } from '../domain/decision.ts';
import { type LimitsInForce, limitsInForce } from '../domain/limits-in-force.ts';
import type { WebhookEndpointRecord } from '../domain/record.ts';
import type { Availability, AvailableNetworks, ShardAccount } from './account.ts';
import { AttemptQuota } from './attempt-quota.ts';

/** The counts of a scope that are stored across restarts, at most a second behind. */
export interface ScopeCounts {
  readonly buckets: readonly {
    readonly perMinute: number;
    readonly units: number;
    readonly updatedAtMs: number;
  }[];
  readonly day: string;
  readonly requests: number;
  readonly creations: number;
}

/** How much of its limits an organization uses in a mode. */
export interface LimitLevels {
  /** The requests that can still be sent now, of so many when the bucket is full. */
  readonly buckets: Readonly<Record<Bucket, { readonly remaining: number; readonly capacity: number }>>;
  /** What counts in the daily cap; null in live mode, which has none. */
  readonly today: { readonly requests: number; readonly creations: number } | null;
}

/** The three headers: about the tightest bucket of a request. */
export interface LimitHeaders {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** When another export may be possible, after one too many was refused. */
const exportWaitSeconds = 5;

export class Scope {
  /** `org_…/t` or `org_…/l` */
  readonly name: string;
  readonly org: string;
  readonly livemode: boolean;
  readonly slot: number;
  /** Null until they are read; the shard reads them again after a change. */
  endpoints: readonly WebhookEndpointRecord[] | null = null;
  readonly attempts: AttemptQuota;
  /** The exports under way, by the ids of their requests. */
  readonly exports = new Set<string>();
  /** A change of an endpoint waits for its address to be looked up. */
  endpointsBusy = false;
  readonly #calendar: MoroccoCalendar;
  readonly #buckets: Record<Bucket, bucket.TokenBucket>;
  #settings: ShardAccount;
  #availability: Availability;
  #limits: LimitsInForce;
  /** When one of the limits in force ends. */
  #limitsEndMs = 0;
  #account: Account;
  #day = '';
  #requests = 0;
  #creations = 0;

  constructor(
    name: string,
    livemode: boolean,
    settings: ShardAccount,
    availability: Availability,
    calendar: MoroccoCalendar,
    now: Now,
    counts: ScopeCounts | null,
  ) {
    this.name = name;
    this.org = settings.id;
    this.livemode = livemode;
    this.slot = slotOf(settings.id);
    this.attempts = new AttemptQuota(now);
    this.#calendar = calendar;
    this.#settings = settings;
    this.#availability = availability;
    this.#limits = limitsInForce(settings.limits[this.mode], this.mode, now.nowMs);
    this.#buckets = Object.fromEntries(
      buckets.map((each, i) => [
        each,
        {
          ...(counts?.buckets[i] ?? bucket.createBucket(this.#limits.buckets[each].perMinute, now.serviceMs)),
        },
      ]),
    ) as Record<Bucket, bucket.TokenBucket>;
    if (counts !== null) {
      this.#day = counts.day;
      this.#requests = counts.requests;
      this.#creations = counts.creations;
    }
    this.#account = this.#refresh(now);
  }

  get mode(): 'live' | 'test' {
    return modeOf(this.livemode);
  }

  get networks(): AvailableNetworks {
    return this.#availability(this.org, this.mode);
  }

  get settings(): ShardAccount {
    return this.#settings;
  }

  /** The organization as decisions see it. */
  account(now: Now): Account {
    if (now.nowMs >= this.#limitsEndMs) this.#account = this.#refresh(now);
    return this.#account;
  }

  /** The organization was changed in the directory. */
  change(settings: ShardAccount, now: Now): void {
    this.#settings = settings;
    this.#account = this.#refresh(now);
  }

  #refresh({ nowMs, serviceMs }: Now): Account {
    const { mode } = this;
    this.#limits = limitsInForce(this.#settings.limits[mode], mode, nowMs);
    this.#limitsEndMs = Math.min(...buckets.map((each) => this.#limits.buckets[each].untilMs ?? Infinity));
    for (const each of buckets) {
      const { perMinute } = this.#limits.buckets[each];
      if (this.#buckets[each].perMinute !== perMinute)
        bucket.changeLimit(this.#buckets[each], perMinute, serviceMs);
    }
    const { id, name, created, methods } = this.#settings;
    const available = this.#availability(id, mode);
    const on = (method: 'card' | 'cash') => methods[mode][method] && available[method];
    return {
      id,
      name,
      created,
      methods: { card: on('card'), cash: on('cash') },
      limits: this.#limits.buckets,
    };
  }

  /** The buckets that a request counts in. */
  bucketsOf(route: Route, filtered: boolean): readonly bucket.TokenBucket[] {
    const { all, writes, payment_creation, search } = this.#buckets;
    if (route.kind === 'command') {
      return route.spends === 'payment_creation' ? [all, writes, payment_creation] : [all, writes];
    }
    return route.spends === 'search' || (route.spends === 'filter' && filtered) ? [all, search] : [all];
  }

  /**
   * Counts a request in its buckets and in the day, or refuses it and counts nothing. A payment creation counts in the
   * day's cap of those only once it runs (`countCreation`): a replay creates nothing.
   */
  admit(route: Route, counted: readonly bucket.TokenBucket[], now: Now, language: Language): Refusal | null {
    const { nowMs, serviceMs } = now;
    if (nowMs >= this.#limitsEndMs) this.#account = this.#refresh(now);
    const capRefusal = this.#refuseDay(route.spends === 'payment_creation', nowMs);
    if (capRefusal !== null) return capRefusal;
    if (route.kind === 'export' && this.exports.size >= exportsAtOnceMax) {
      const values = { bucket: bucketNames.search[language], max: exportsAtOnceMax, wait: exportWaitSeconds };
      const message = 'rate_limit_exceeded.exports';
      return refuse('rate_limit_exceeded', { message, values, retryAfterSeconds: exportWaitSeconds });
    }
    const full = bucket.spendFromAll(counted, serviceMs);
    if (full !== null) {
      const wait = bucket.retryAfterSeconds(full, serviceMs);
      const name = buckets.find((each) => this.#buckets[each] === full)!;
      const values = { bucket: bucketNames[name][language], limit: full.perMinute, wait };
      return refuse('rate_limit_exceeded', { values, retryAfterSeconds: wait });
    }
    this.#requests++;
    return null;
  }

  /** Counts a payment creation that runs. */
  countCreation(): void {
    this.#creations++;
  }

  #refuseDay(creation: boolean, nowMs: number): Refusal | null {
    const cap = this.#limits.daily;
    if (cap === null) return null;
    const { day, endsAtMs } = this.#calendar.dayOf(nowMs);
    if (day !== this.#day) {
      this.#day = day;
      this.#requests = 0;
      this.#creations = 0;
    }
    const reached =
      this.#requests >= cap.requests
        ? cap.requests
        : creation && this.#creations >= cap.paymentCreations
          ? cap.paymentCreations
          : null;
    if (reached === null) return null;
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAtMs - nowMs) / 1000));
    return refuse('test_daily_cap_reached', { values: { cap: reached }, retryAfterSeconds });
  }

  headers(counted: readonly bucket.TokenBucket[], { serviceMs }: Now): LimitHeaders {
    const tightest = bucket.tightest(counted, serviceMs);
    return {
      limit: tightest.perMinute,
      remaining: bucket.remaining(tightest, serviceMs),
      resetSeconds: bucket.resetSeconds(tightest, serviceMs),
    };
  }

  /** How much of the limits is left, and how much of the day's cap is used. */
  levels(now: Now): LimitLevels {
    const account = this.account(now);
    const isToday = this.#day === this.#calendar.dayOf(now.nowMs).day;
    const left = (each: Bucket) => bucket.remaining(this.#buckets[each], now.serviceMs);
    return {
      buckets: Object.fromEntries(
        buckets.map((each) => [
          each,
          { remaining: left(each), capacity: bucket.capacityOf(account.limits[each].perMinute) },
        ]),
      ) as LimitLevels['buckets'],
      today: this.#limits.daily && {
        requests: isToday ? this.#requests : 0,
        creations: isToday ? this.#creations : 0,
      },
    };
  }

  /** The counts as they are now, to be written. */
  counts(): ScopeCounts {
    return {
      buckets: buckets.map((each) => ({ ...this.#buckets[each] })),
      day: this.#day,
      requests: this.#requests,
      creations: this.#creations,
    };
  }
}
