// Token buckets by a key, such as an address: so many in a window of time, refilled continuously. The latest keys are in memory,
// a bounded number of them. A key that was dropped starts with a full bucket.

import { createBucket, giveBack, retryAfterSeconds, spendFromAll, type TokenBucket } from './token-bucket.ts';

export interface KeyedBucketsOptions {
  /** How many a key may spend in a window, about. */
  readonly count: number;
  readonly windowMs: number;
  readonly keysMax: number;
}

const minuteMs = 60_000;

export class KeyedBuckets {
  readonly #options: KeyedBucketsOptions;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(options: KeyedBucketsOptions) {
    this.#options = options;
  }

  /** Spends one. Null when there was room, else the seconds to wait. */
  spend(key: string, nowMs: number): number | null {
    const { count, windowMs, keysMax } = this.#options;
    // A bucket counts by minutes, so its clock runs slower when the window is longer.
    const bucketMs = Math.floor((nowMs * minuteMs) / windowMs);
    const bucket = this.#buckets.get(key) ?? createBucket(count, bucketMs);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > keysMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (spendFromAll([bucket], bucketMs) === null) return null;
    return Math.ceil((retryAfterSeconds(bucket, bucketMs) * windowMs) / minuteMs);
  }

  /** Gives back what was spent. */
  giveBack(key: string): void {
    const bucket = this.#buckets.get(key);
    if (bucket !== undefined) giveBack(bucket);
  }
}
