// Token buckets: the per-minute rate limits. Admission spends one request from every bucket that a request counts in,
// or from none of them. A bucket holds its per-minute limit and ten seconds' worth on top, is full at the start and
// refills continuously.
//
// A bucket counts in sixty-thousandths of a request, so that a millisecond refills exactly `perMinute` units and nothing is
// rounded. Times are whole milliseconds. When the clock steps back the bucket refills nothing at the step and goes on from
// the earlier time; otherwise it would not refill until the clock has caught up.

import { assert } from './assert.ts';

const unitsPerRequest = 60_000;

/** The whole state of a bucket: three numbers that can be stored and restored. Only this file changes them, in place. */
export interface TokenBucket {
  perMinute: number;
  /** What is left at `updatedAtMs`, in sixty-thousandths of a request. */
  units: number;
  updatedAtMs: number;
}

/** The burst that a bucket holds in addition to its per-minute limit: ten seconds' worth, rounded to a whole request. */
export function burstOf(perMinute: number): number {
  return Math.round(perMinute / 6);
}

/** How many requests a full bucket lets through at once. */
export function capacityOf(perMinute: number): number {
  return perMinute + burstOf(perMinute);
}

/** A full bucket. `perMinute` is a whole number of at least 1. */
export function createBucket(perMinute: number, nowMs: number): TokenBucket {
  assertLimit(perMinute);
  return { perMinute, units: capacityUnits(perMinute), updatedAtMs: nowMs };
}

/**
 * Changes the limit. A higher one adds the difference in capacity, so requests that were spent stay spent. With a lower one
 * the bucket holds at most its new capacity.
 */
export function changeLimit(bucket: TokenBucket, perMinute: number, nowMs: number): void {
  assertLimit(perMinute);
  refill(bucket, nowMs);
  const capacity = capacityUnits(perMinute);
  const raise = Math.max(0, capacity - capacityUnits(bucket.perMinute));
  bucket.units = Math.min(capacity, bucket.units + raise);
  bucket.perMinute = perMinute;
}

/**
 * Spends one request from each bucket when every one has room, and answers null. Otherwise spends nothing and answers
 * the bucket whose room comes last.
 */
export function spendFromAll(buckets: readonly TokenBucket[], nowMs: number): TokenBucket | null {
  let refusing: TokenBucket | null = null;
  for (const bucket of buckets) {
    // The refill is done also when the request is refused, so that an empty bucket follows a clock that stepped back.
    refill(bucket, nowMs);
    if (bucket.units < unitsPerRequest && (refusing === null || waitMs(bucket) > waitMs(refusing))) {
      refusing = bucket;
    }
  }
  if (refusing === null) for (const bucket of buckets) bucket.units -= unitsPerRequest;
  return refusing;
}

/** Gives a request back that was spent and does not count after all. */
export function giveBack(bucket: TokenBucket): void {
  bucket.units = Math.min(capacityUnits(bucket.perMinute), bucket.units + unitsPerRequest);
}

/** True when the bucket has room for one request now. Changes nothing. */
export function hasRoom(bucket: TokenBucket, nowMs: number): boolean {
  return unitsAt(bucket, nowMs) >= unitsPerRequest;
}

/** Whole requests that the bucket still lets through now. */
export function remaining(bucket: TokenBucket, nowMs: number): number {
  return Math.floor(unitsAt(bucket, nowMs) / unitsPerRequest);
}

/** Seconds until the bucket is full, rounded up; 0 when it is. A full bucket may be forgotten. */
export function resetSeconds(bucket: TokenBucket, nowMs: number): number {
  return secondsFor(bucket, capacityUnits(bucket.perMinute) - unitsAt(bucket, nowMs));
}

/** Seconds until the bucket has room for a request, rounded up, at least 1. */
export function retryAfterSeconds(bucket: TokenBucket, nowMs: number): number {
  return Math.max(1, secondsFor(bucket, unitsPerRequest - unitsAt(bucket, nowMs)));
}

/** The bucket with the fewest whole requests left; of those, the one with the smallest limit. At least one bucket. */
export function tightest(buckets: readonly TokenBucket[], nowMs: number): TokenBucket {
  assert(buckets[0] !== undefined, 'a request counts in at least one bucket');
  let found = buckets[0];
  let fewest = remaining(found, nowMs);
  for (let i = 1; i < buckets.length; i++) {
    const bucket = buckets[i]!;
    const left = remaining(bucket, nowMs);
    if (left < fewest || (left === fewest && bucket.perMinute < found.perMinute)) {
      found = bucket;
      fewest = left;
    }
  }
  return found;
}

function assertLimit(perMinute: number): void {
  assert(
    Number.isSafeInteger(perMinute) && perMinute >= 1,
    'a limit is a whole number of at least 1 a minute',
  );
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
  bucket.updatedAtMs = nowMs;
}

/** Milliseconds, not rounded, until a bucket that was just refilled has room. */
function waitMs(bucket: TokenBucket): number {
  return (unitsPerRequest - bucket.units) / bucket.perMinute;
}

function secondsFor(bucket: TokenBucket, units: number): number {
  return Math.ceil(units / (bucket.perMinute * 1_000));
}
