// How the attempts at each endpoint went in the last 24 hours, by the hour: counted as they are
// recorded, in memory, so from the shard's start at the earliest. It is what merchants are shown;
// the metrics count the same attempts in the webhook threads.

import { elementAt } from '../core/assert.ts';
import type { AttemptResult, WebhookEndpointRecord } from '../domain/record.ts';

/** Upper bounds of what attempts took, in milliseconds; the last is beyond any of them. */
const durationsMs = [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, Infinity];
const hoursKept = 24;
const hourMs = 3_600_000;
/** Each takes some KiB; the one without an attempt for longest goes first. */
const endpointsMax = 10_000;

export interface HourOfAttempts {
  /** When it began, Unix milliseconds. */
  readonly startMs: number;
  readonly attempts: number;
  readonly failed: number;
}

interface EndpointHealth {
  /**
   * When the first of the attempts was made that all failed up to now; null when the last one did
   * not fail.
   */
  readonly failingSinceMs: number | null;
  /** The HTTP status of the last attempt; null when it had none. */
  readonly lastStatus: number | null;
  /** Why the last attempt failed. */
  readonly lastFailure: string | null;
  readonly attempts: number;
  readonly failed: number;
  /** What half of the attempts took at most, roughly. */
  readonly medianMs: number | null;
  /** Oldest first; hours without an attempt are left out. */
  readonly hours: readonly HourOfAttempts[];
}

/** An endpoint that there is, and when its next delivery is due, Unix milliseconds. */
export interface EndpointNow {
  readonly id: string;
  readonly enabled: boolean;
  /** Null when nothing waits, or the endpoint is disabled. */
  readonly nextAttemptMs: number | null;
  /** Null when no attempt was made lately. */
  readonly health: EndpointHealth | null;
}

/** Endpoints of all organizations that fail. */
export interface FailingEndpoints {
  /** All of them, with those that are not listed. */
  readonly count: number;
  /** Those that have failed for longest, first. */
  readonly listed: readonly { readonly endpoint: WebhookEndpointRecord; readonly now: EndpointNow }[];
}

interface Hour {
  readonly startMs: number;
  failed: number;
  readonly byDuration: number[];
}

interface Kept {
  failingSinceMs: number | null;
  last: Pick<AttemptResult, 'status' | 'failure'>;
  readonly hours: Hour[];
}

export class EndpointHealths {
  /** In the order of their last attempts. */
  readonly #kept = new Map<string, Kept>();

  /** An attempt is recorded. */
  add(endpoint: string, { at_ms: atMs, duration_ms, status, failure }: AttemptResult): void {
    const known = this.#kept.get(endpoint);
    const kept = known ?? { failingSinceMs: null, last: { status, failure }, hours: [] };
    if (known !== undefined) this.#kept.delete(endpoint);
    this.#kept.set(endpoint, kept);
    if (this.#kept.size > endpointsMax) this.#dropOldest();
    kept.last = { status, failure };
    kept.failingSinceMs = failure === null ? null : (kept.failingSinceMs ?? atMs);
    const hour = hourOf(kept.hours, Math.floor(atMs / hourMs) * hourMs);
    const bucket = durationsMs.findIndex((boundMs) => duration_ms <= boundMs);
    hour.byDuration[bucket] = elementAt(hour.byDuration, bucket) + 1;
    if (failure !== null) hour.failed++;
  }

  /** An endpoint was deleted: it takes no place of those that there are. */
  forget(endpoint: string): void {
    this.#kept.delete(endpoint);
  }

  #dropOldest(): void {
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The endpoints whose last attempt failed, those that have failed for longest first. */
  failing(): string[] {
    const found: { readonly id: string; readonly sinceMs: number }[] = [];
    for (const [id, { failingSinceMs: sinceMs }] of this.#kept)
      if (sinceMs !== null) found.push({ id, sinceMs });
    return found.sort((a, b) => a.sinceMs - b.sinceMs).map(({ id }) => id);
  }

  /** Null when no attempt was made lately. */
  of(endpoint: string, nowMs: number): EndpointHealth | null {
    const kept = this.#kept.get(endpoint);
    if (kept === undefined) return null;
    const hours = kept.hours.filter(({ startMs }) => startMs > nowMs - hoursKept * hourMs);
    const counts = durationsMs.map((_, i) => sum(hours.map(({ byDuration }) => elementAt(byDuration, i))));
    return {
      failingSinceMs: kept.failingSinceMs,
      lastStatus: kept.last.status,
      lastFailure: kept.last.failure,
      attempts: sum(counts),
      failed: sum(hours.map(({ failed }) => failed)),
      medianMs: medianOf(counts),
      hours: hours.map(({ startMs, failed, byDuration }) => ({ startMs, failed, attempts: sum(byDuration) })),
    };
  }
}

/** The hour that begins then: a new one in place of the oldest. */
function hourOf(hours: Hour[], startMs: number): Hour {
  const known = hours.findLast((hour) => hour.startMs === startMs);
  if (known !== undefined) return known;
  const hour = { startMs, failed: 0, byDuration: durationsMs.map(() => 0) };
  hours.push(hour);
  if (hours.length > hoursKept) hours.shift();
  return hour;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** The bound below which half of what was counted lies; null when nothing was. */
function medianOf(counts: readonly number[]): number | null {
  let left = sum(counts) / 2;
  if (left === 0) return null;
  for (const [i, count] of counts.entries()) {
    left -= count;
    if (left <= 0) return Math.min(elementAt(durationsMs, i), elementAt(durationsMs, durationsMs.length - 2));
  }
  return null;
}
