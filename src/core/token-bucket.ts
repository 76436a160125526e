// Token buckets: the rate limits. A request spends one from every bucket that it counts in, or
// none. A bucket holds its per-minute limit and ten seconds' worth on top, is full at the start and
// refills continuously. It counts in sixty-thousandths of a request, so a millisecond refills
// `perMinute` units and nothing is rounded. When the clock steps back it goes on from the earlier
// time.

import { assert, elementAt } from './assert.ts';

const unitsPerRequest = 60_000;

/** The whole state of a bucket, which can be stored. Only this file changes it, in place. */
export interface TokenBucket {
  perMinute: number;
  /** What is left at `updatedAtMs`, in sixty-thousandths of a request. */
  units: number;
  updatedAtMs: number;
}

/** Ten seconds' worth, rounded to a whole request. */
export function burstOf(perMinute: number): number {
  return Math.round(perMinute / 6);
}

/** How many requests a full bucket lets through at once. */
export function capacityOf(perMinute: number): number {
  return perMinute + burstOf(perMinute);
}

export function createBucket(perMinute: number, nowMs: number): TokenBucket {
  assertLimit(perMinute);
  return { perMinute, units: capacityUnits(perMinute), updatedAtMs: nowMs };
}

/** Changes the limit. A higher one adds the difference in capacity: what was spent stays spent. */
export function changeLimit(bucket: TokenBucket, perMinute: number, nowMs: number): void {
  assertLimit(perMinute);
  refill(bucket, nowMs);
  const capacity = capacityUnits(perMinute);
  const raise = Math.max(0, capacity - capacityUnits(bucket.perMinute));
  bucket.units = Math.min(capacity, bucket.units + raise);
  bucket.perMinute = perMinute;
}

/** Spends one from each bucket, or from none: then returns the bucket whose room comes last. */
export function spendFromAll(buckets: readonly TokenBucket[], nowMs: number): TokenBucket | null {
  let refusing: TokenBucket | null = null;
  for (const bucket of buckets) {
    // Also when the request is refused: an empty bucket follows a clock that stepped back.
    refill(bucket, nowMs);
    if (bucket.units < unitsPerRequest && (refusing === null || waitMs(bucket) > waitMs(refusing))) {
      refusing = bucket;
    }
  }
  if (refusing !== null) return refusing;
  for (const bucket of buckets) {
    bucket.units -= unitsPerRequest;
    assert(bucket.units >= 0, 'a bucket gives what it has');
  }
  return null;
}

export function giveBack(bucket: TokenBucket): void {
  bucket.units = Math.min(capacityUnits(bucket.perMinute), bucket.units + unitsPerRequest);
}

export function remaining(bucket: TokenBucket, nowMs: number): number {
  return Math.floor(unitsAt(bucket, nowMs) / unitsPerRequest);
}

/** Seconds until the bucket is full, rounded up. A full bucket may be forgotten. */
export function resetSeconds(bucket: TokenBucket, nowMs: number): number {
  return secondsFor(bucket, capacityUnits(bucket.perMinute) - unitsAt(bucket, nowMs));
}

/** Seconds until the bucket has room for a request, rounded up, at least 1. */
export function retryAfterSeconds(bucket: TokenBucket, nowMs: number): number {
  return Math.max(1, secondsFor(bucket, unitsPerRequest - unitsAt(bucket, nowMs)));
}

/** The bucket with the fewest whole requests left; of those, the one with the smallest limit. */
export function tightest(buckets: readonly TokenBucket[], nowMs: number): TokenBucket {
  let found = elementAt(buckets, 0);
  let fewest = Infinity;
  for (const bucket of buckets) {
    const left = remaining(bucket, nowMs);
    if (left < fewest || (left === fewest && bucket.perMinute < found.perMinute)) {
      found = bucket;
      fewest = left;
    }
  }
  return found;
}

function assertLimit(perMinute: number): void {
  assert(Number.isSafeInteger(perMinute) && perMinute >= 1, 'a limit is a whole number of at least 1');
}

function capacityUnits(perMinute: number): number {
  return capacityOf(perMinute) * unitsPerRequest;
}

function unitsAt(bucket: TokenBucket, nowMs: number): number {
  const elapsedMs = nowMs - bucket.updatedAtMs;
  if (elapsedMs <= 0) return bucket.units;
  return Math.min(capacityUnits(bucket.perMinute), bucket.units + elapsedMs * bucket.perMinute);
}

function refill(bucket: TokenBucket, nowMs: number): void {
  bucket.units = unitsAt(bucket, nowMs);
  assert(bucket.units >= 0, 'a bucket never owes requests');
  bucket.updatedAtMs = nowMs;
}

/** Milliseconds until a bucket that was just refilled has room. */
function waitMs(bucket: TokenBucket): number {
  return (unitsPerRequest - bucket.units) / bucket.perMinute;
}

function secondsFor(bucket: TokenBucket, units: number): number {
  return Math.ceil(units / (bucket.perMinute * 1_000));
}

export interface KeyedBucketsOptions {
  /** How many a key may spend in a window, about. */
  readonly count: number;
  readonly windowMs: number;
  readonly keysMax: number;
}

const minuteMs = 60_000;

/**
 * Buckets by a key, such as an address. One that was dropped starts with a full bucket: of the keys
 * that were used last, `keysMax` are always there, and at most twice as many.
 */
export class KeyedBuckets {
  readonly #options: KeyedBucketsOptions;
  /** A map that loses its first key at each use is slow: here all that are old go together. */
  #young = new Map<string, TokenBucket>();
  #old = new Map<string, TokenBucket>();

  constructor(options: KeyedBucketsOptions) {
    this.#options = options;
  }

  /** Spends one. Null when there was room, else the seconds to wait. */
  spend(key: string, nowMs: number): number | null {
    const { count, windowMs } = this.#options;
    // A bucket counts by minutes, so its clock runs slower when the window is longer.
    const bucketMs = Math.floor((nowMs * minuteMs) / windowMs);
    const bucket = this.#find(key) ?? createBucket(count, bucketMs);
    this.#put(key, bucket);
    if (spendFromAll([bucket], bucketMs) === null) return null;
    return Math.ceil((retryAfterSeconds(bucket, bucketMs) * windowMs) / minuteMs);
  }

  #find(key: string): TokenBucket | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  #put(key: string, bucket: TokenBucket): void {
    if (this.#young.size >= this.#options.keysMax && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, bucket);
  }

  giveBack(key: string): void {
    const bucket = this.#find(key);
    if (bucket !== undefined) giveBack(bucket);
  }
}
