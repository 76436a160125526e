// A scope is one organization in one mode, with its rate-limit buckets and the day's counters.
// Limits are counted before anything else is done for a request; a refused one spends nothing.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import {
  answersPerMinuteMax,
  type Bucket,
  bucketNames,
  buckets,
  exportsAtOnceMax,
} from '../contract/limits.ts';
import type { Route } from '../contract/routes/route.ts';
import { type Language, type Mode, modeOf } from '../contract/vocabulary.ts';
import { assert } from '../core/assert.ts';
import type { Now } from '../core/clock.ts';
import type { MoroccoCalendar } from '../core/morocco-day.ts';
import { slotOf } from '../core/slot.ts';
import { tableOf } from '../core/tables.ts';
import * as bucket from '../core/token-bucket.ts';
import { type ActiveLimits, activeLimits } from '../domain/active-limits.ts';
import type { Account } from '../domain/decision.ts';
import { scopeOf } from '../domain/indexes.ts';
import type { WebhookEndpointRecord } from '../domain/record.ts';
import type { Availability, AvailableNetworks, ShardAccount } from './account.ts';
import type { Peer } from './commit-batch.ts';
import type { LimitLevels } from './protocol.ts';

/** The counts of a scope that are stored across restarts, at most a second behind. */
export interface ScopeCounts {
  readonly buckets: readonly Readonly<bucket.TokenBucket>[];
  readonly day: string;
  readonly requests: number;
  readonly creations: number;
}

/** The three headers: about the tightest bucket of a request. */
export interface LimitHeaders {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** When another export may be possible, after one too many was refused. */
const exportBackoffSeconds = 5;

/**
 * What the attempts of deliveries may take: they are numbered, so that the oldest can be found
 * (domain/attempts.ts), and so many of the endpoint's answers are kept a minute.
 */
class AttemptQuota {
  /** The newest serial number; null until it is looked up. */
  #serial: number | null = null;
  /** A restart fills it, which costs little. */
  readonly #answers: bucket.TokenBucket;

  constructor({ serviceMs }: Now) {
    this.#answers = bucket.createBucket(answersPerMinuteMax, serviceMs);
  }

  /** The serial number of the next attempt. `newest` looks up the newest that is stored. */
  nextSerial(newest: () => number): number {
    this.#serial = (this.#serial ?? newest()) + 1;
    return this.#serial;
  }

  takesAnswer({ serviceMs }: Now): boolean {
    return bucket.spendFromAll([this.#answers], serviceMs) === null;
  }
}

/** The webhook endpoints of a scope. They lie there because every command needs them. */
export interface ScopeEndpoints {
  /** Oldest first; null until they are read. */
  list: readonly WebhookEndpointRecord[] | null;
  /** The address of a new or changed one is being looked up. */
  isBusy: boolean;
}

interface ScopeOptions {
  readonly livemode: boolean;
  readonly account: ShardAccount;
  readonly availability: Availability;
  readonly calendar: MoroccoCalendar;
  readonly now: Now;
  readonly counts: ScopeCounts | null;
}

export class Scope {
  /** `org_…/t` or `org_…/l` */
  readonly name: string;
  readonly org: string;
  readonly livemode: boolean;
  readonly slot: number;
  readonly attempts: AttemptQuota;
  readonly endpoints: ScopeEndpoints = { list: null, isBusy: false };
  /** Who streams each export that is under way, by the id of its request. */
  readonly exports = new Map<string, Peer>();
  readonly #calendar: MoroccoCalendar;
  readonly #buckets: Record<Bucket, bucket.TokenBucket>;
  #settings: ShardAccount;
  #availability: Availability;
  #limits: ActiveLimits;
  /** When one of the active limits ends. */
  #limitsEndMs = 0;
  #account: Account;
  #today = { day: '', requests: 0, creations: 0 };

  constructor({ livemode, account, availability, calendar, now, counts }: ScopeOptions) {
    this.name = scopeOf(account.id, livemode);
    this.org = account.id;
    this.livemode = livemode;
    this.slot = slotOf(account.id);
    this.attempts = new AttemptQuota(now);
    this.#calendar = calendar;
    this.#settings = account;
    this.#availability = availability;
    this.#limits = activeLimits(account.limits[this.mode], this.mode, now.nowMs);
    this.#buckets = tableOf(buckets, (name) => {
      const stored = counts?.buckets[buckets.indexOf(name)];
      return stored
        ? { ...stored }
        : bucket.createBucket(this.#limits.buckets[name].perMinute, now.serviceMs);
    });
    if (counts !== null) {
      const { day, requests, creations } = counts;
      this.#today = { day, requests, creations };
    }
    this.#account = this.#refresh(now);
  }

  get mode(): Mode {
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

  change(settings: ShardAccount, now: Now): void {
    assert(settings.id === this.org, 'an organization keeps its id');
    this.#settings = settings;
    this.#account = this.#refresh(now);
  }

  #refresh({ nowMs, serviceMs }: Now): Account {
    const { mode } = this;
    this.#limits = activeLimits(this.#settings.limits[mode], mode, nowMs);
    this.#limitsEndMs = Math.min(...buckets.map((each) => this.#limits.buckets[each].untilMs ?? Infinity));
    for (const each of buckets) {
      const { perMinute } = this.#limits.buckets[each];
      if (this.#buckets[each].perMinute !== perMinute)
        bucket.changeLimit(this.#buckets[each], perMinute, serviceMs);
    }
    const { id, name, created, methods } = this.#settings;
    const available = this.#availability(id, mode);
    const on = (method: 'card' | 'cash') => methods[mode][method] && available[method];
    const effective = { card: on('card'), cash: on('cash') };
    return { id, name, created, methods: effective, limits: this.#limits.buckets };
  }

  bucketsOf(route: Route, filtered: boolean): readonly bucket.TokenBucket[] {
    const { all, writes, payment_creation, search } = this.#buckets;
    if (route.kind === 'command') {
      return route.spends === 'payment_creation' ? [all, writes, payment_creation] : [all, writes];
    }
    return route.spends === 'search' || (route.spends === 'filter' && filtered) ? [all, search] : [all];
  }

  /**
   * Counts a request in its buckets and in the day, or refuses it and counts nothing. A payment
   * creation counts in the day's cap only once it runs (`countCreation`): a replay creates nothing.
   */
  admit(route: Route, counted: readonly bucket.TokenBucket[], now: Now, language: Language): Refusal | null {
    const { nowMs, serviceMs } = now;
    if (nowMs >= this.#limitsEndMs) this.#account = this.#refresh(now);
    const capRefusal = this.#refuseDay(route.spends === 'payment_creation', nowMs);
    if (capRefusal !== null) return capRefusal;
    if (route.kind === 'export' && this.exports.size >= exportsAtOnceMax) {
      const values = {
        bucket: bucketNames.search[language],
        max: exportsAtOnceMax,
        wait: exportBackoffSeconds,
      };
      const message = 'rate_limit_exceeded.exports';
      return refuse('rate_limit_exceeded', { message, values, retryAfterSeconds: exportBackoffSeconds });
    }
    const full = bucket.spendFromAll(counted, serviceMs);
    if (full !== null) {
      const wait = bucket.retryAfterSeconds(full, serviceMs);
      const name = buckets.find((each) => this.#buckets[each] === full);
      assert(name !== undefined, 'a request counts in the buckets of its scope');
      const values = { bucket: bucketNames[name][language], limit: full.perMinute, wait };
      return refuse('rate_limit_exceeded', { values, retryAfterSeconds: wait });
    }
    this.#today.requests++;
    return null;
  }

  countCreation(): void {
    this.#today.creations++;
  }

  #refuseDay(creation: boolean, nowMs: number): Refusal | null {
    const cap = this.#limits.daily;
    if (cap === null) return null;
    const { day, endsAtMs } = this.#calendar.dayOf(nowMs);
    if (day !== this.#today.day) this.#today = { day, requests: 0, creations: 0 };
    const { requests, creations } = this.#today;
    const isCapped = requests >= cap.requests;
    if (!isCapped && !(creation && creations >= cap.paymentCreations)) return null;
    const reached = isCapped ? cap.requests : cap.paymentCreations;
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
    const { day, requests, creations } = this.#today;
    const isToday = day === this.#calendar.dayOf(now.nowMs).day;
    return {
      buckets: tableOf(buckets, (name) => ({
        remaining: bucket.remaining(this.#buckets[name], now.serviceMs),
        capacity: bucket.capacityOf(account.limits[name].perMinute),
      })),
      today: this.#limits.daily && (isToday ? { requests, creations } : { requests: 0, creations: 0 }),
    };
  }

  counts(): ScopeCounts {
    return { buckets: buckets.map((each) => ({ ...this.#buckets[each] })), ...this.#today };
  }
}
