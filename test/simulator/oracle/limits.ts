// The limits of one organization in one mode, once more, as the published tables have them: whether a request is admitted, what
// its answer says of the tightest bucket, and what the dashboard shows.

import { isDeepStrictEqual } from 'node:util';
import { type Refusal, refuse } from '../../../src/contract/errors/table.ts';
import { type Bucket, bucketNames, buckets, exportsAtOnceMax } from '../../../src/contract/limits.ts';
import type { Route } from '../../../src/contract/routes/route.ts';
import { type Language, modeOf } from '../../../src/contract/vocabulary.ts';
import type { Now } from '../../../src/core/clock.ts';
import { createMoroccoCalendar } from '../../../src/core/morocco-day.ts';
import { activeLimits } from '../../../src/domain/active-limits.ts';
import type { ShardAccount } from '../../../src/shard/account.ts';
import type { Peer } from '../../../src/shard/commit-batch.ts';
import type { LimitLevels } from '../../../src/shard/protocol.ts';
import type { LimitHeaders, ScopeCounts } from '../../../src/shard/scope.ts';

/** A level in sixty-thousandths of a request, at a time: so a millisecond adds the limit of a minute. */
interface Level {
  perMinute: number;
  left: number;
  atMs: number;
}

const whole = 60_000;
const holds = (perMinute: number) => (perMinute + Math.round(perMinute / 6)) * whole;
const calendar = createMoroccoCalendar();

/** What is left in a bucket at a time. */
function leftAt({ perMinute, left, atMs }: Level, nowMs: number): number {
  return Math.min(holds(perMinute), left + Math.max(0, nowMs - atMs) * perMinute);
}

function refill(level: Level, nowMs: number): void {
  level.left = leftAt(level, nowMs);
  level.atMs = nowMs;
}

/** The buckets that a request counts in. */
export function countedIn({ kind, spends }: Route, query: string): readonly Bucket[] {
  if (kind === 'command') return ['all', 'writes', ...(spends === 'payment_creation' ? [spends] : [])];
  const names = [...new URLSearchParams(query).keys()];
  const isFiltered = names.some((name) => !/^(limit|starting_after|ending_before)$/.test(name));
  return spends === 'search' || (spends === 'filter' && isFiltered) ? ['all', 'search'] : ['all'];
}

export class Limits {
  readonly #livemode: boolean;
  #account: ShardAccount;
  /** When one of the limits ends, by the wall clock. */
  #endsMs = Infinity;
  readonly #levels = new Map<Bucket, Level>();
  #today = { day: '', requests: 0, creations: 0 };
  /** The exports that are under way, by the ids of their requests, and who streams each. */
  readonly exports = new Map<string, Peer>();

  /** `counts`: what an earlier process has stored. */
  constructor(account: ShardAccount, livemode: boolean, now: Now, counts: ScopeCounts | null) {
    this.#livemode = livemode;
    this.#account = account;
    for (const [i, name] of buckets.entries()) {
      const { perMinute } = this.#active(now).buckets[name];
      const stored = counts?.buckets[i];
      const full = { perMinute, left: holds(perMinute), atMs: now.serviceMs };
      const level = stored && { perMinute: stored.perMinute, left: stored.units, atMs: stored.updatedAtMs };
      this.#levels.set(name, level ?? full);
    }
    if (counts !== null)
      this.#today = { day: counts.day, requests: counts.requests, creations: counts.creations };
    this.change(account, now);
  }

  #active({ nowMs }: Now) {
    const mode = modeOf(this.#livemode);
    return activeLimits(this.#account.limits[mode], mode, nowMs);
  }

  /** The account has changed: what a higher limit holds more is there at once, and what was spent stays spent. */
  change(account: ShardAccount, now: Now): void {
    this.#account = account;
    const active = this.#active(now).buckets;
    this.#endsMs = Math.min(...buckets.map((name) => active[name].untilMs ?? Infinity));
    for (const [name, level] of this.#levels) {
      const { perMinute } = active[name];
      if (perMinute === level.perMinute) continue;
      refill(level, now.serviceMs);
      const more = Math.max(0, holds(perMinute) - holds(level.perMinute));
      level.left = Math.min(holds(perMinute), level.left + more);
      level.perMinute = perMinute;
    }
  }

  /** The scope does something: by then a limit may have ended. */
  used(now: Now): void {
    if (now.nowMs >= this.#endsMs) this.change(this.#account, now);
  }

  #level(name: Bucket): Level {
    return this.#levels.get(name) as Level;
  }

  /** Counts a request, or refuses it and counts nothing. */
  admit(route: Route, counted: readonly Bucket[], now: Now, language: Language): Refusal | null {
    this.used(now);
    const refused = this.#refusedToday(route, now);
    if (refused !== null) return refused;
    if (route.kind === 'export' && this.exports.size === exportsAtOnceMax) {
      const values = { bucket: bucketNames.search[language], max: exportsAtOnceMax, wait: 5 };
      const message = 'rate_limit_exceeded.exports';
      return refuse('rate_limit_exceeded', { message, values, retryAfterSeconds: 5 });
    }
    const levels = counted.map((name) => this.#level(name));
    for (const level of levels) refill(level, now.serviceMs);
    const waits = counted
      .map((name) => ({ name, ...this.#level(name) }))
      .filter(({ left }) => left < whole)
      .map(({ name, perMinute, left }) => ({ name, perMinute, ms: (whole - left) / perMinute }));
    const [longest] = waits.sort((a, b) => b.ms - a.ms);
    if (longest !== undefined) {
      const wait = Math.max(1, Math.ceil(longest.ms / 1_000));
      const values = { bucket: bucketNames[longest.name][language], limit: longest.perMinute, wait };
      return refuse('rate_limit_exceeded', { values, retryAfterSeconds: wait });
    }
    for (const level of levels) level.left -= whole;
    this.#today.requests++;
    return null;
  }

  #refusedToday({ spends }: Route, now: Now): Refusal | null {
    const { daily } = this.#active(now);
    if (daily === null) return null;
    const { day, endsAtMs } = calendar.dayOf(now.nowMs);
    if (this.#today.day !== day) this.#today = { day, requests: 0, creations: 0 };
    const { requests, creations } = this.#today;
    const isUsedUp = requests >= daily.requests;
    if (!isUsedUp && (spends !== 'payment_creation' || creations < daily.paymentCreations)) return null;
    const values = { cap: isUsedUp ? daily.requests : daily.paymentCreations };
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAtMs - now.nowMs) / 1_000));
    return refuse('test_daily_cap_reached', { values, retryAfterSeconds });
  }

  /** A payment creation runs. */
  created(): void {
    this.#today.creations++;
  }

  /** What an answer says: of the bucket with the fewest whole requests, and of several the one with the smallest limit. */
  headers(counted: readonly Bucket[], { serviceMs }: Now): LimitHeaders {
    const [first] = counted
      .map((name) => this.#level(name))
      .map((level) => ({ perMinute: level.perMinute, left: leftAt(level, serviceMs) }))
      .map(({ left, perMinute }) => ({
        limit: perMinute,
        remaining: Math.floor(left / whole),
        resetSeconds: Math.ceil((holds(perMinute) - left) / (perMinute * 1_000)),
      }))
      .sort((a, b) => a.remaining - b.remaining || a.limit - b.limit);
    return first as LimitHeaders;
  }

  /** What is counted otherwise; null: nothing. */
  differsFrom(counts: ScopeCounts, { serviceMs }: Now): string | null {
    const left = counts.buckets.map(({ perMinute, units, updatedAtMs }) =>
      leftAt({ perMinute, left: units, atMs: updatedAtMs }, serviceMs),
    );
    const wanted = buckets.map((name) => leftAt(this.#level(name), serviceMs));
    const { day, requests, creations } = counts;
    const found = { left, day, requests, creations };
    return isDeepStrictEqual(found, { left: wanted, ...this.#today })
      ? null
      : `${JSON.stringify(found)} is counted, and not ${JSON.stringify({ left: wanted, ...this.#today })}`;
  }

  /** What the dashboard shows. */
  levels(now: Now): LimitLevels {
    this.used(now);
    const shown = buckets.map((name) => {
      const level = this.#level(name);
      const remaining = Math.floor(leftAt(level, now.serviceMs) / whole);
      return [name, { remaining, capacity: holds(level.perMinute) / whole }];
    });
    const { day, requests, creations } = this.#today;
    const isToday = day === calendar.dayOf(now.nowMs).day;
    const today = isToday ? { requests, creations } : { requests: 0, creations: 0 };
    return { buckets: Object.fromEntries(shown), today: this.#livemode ? null : today };
  }
}
