// What the attempts of an organization's deliveries may take in a mode: they are numbered, so that the oldest can be found
// (domain/attempts.ts), and so many answers are kept a minute. Both follow from what is stored, or need not be.

import { answersPerMinuteMax } from '../contract/limits.ts';
import type { Now } from '../core/clock.ts';
import { createBucket, spendFromAll, type TokenBucket } from '../core/token-bucket.ts';

export class AttemptQuota {
  /** The newest serial number; null until it is looked up. */
  #serial: number | null = null;
  /** A restart fills it, which costs little. */
  readonly #answers: TokenBucket;

  constructor({ serviceMs }: Now) {
    this.#answers = createBucket(answersPerMinuteMax, serviceMs);
  }

  /** The serial number of the next attempt. `newest` looks up the newest that is stored. */
  nextSerial(newest: () => number): number {
    this.#serial = (this.#serial ?? newest()) + 1;
    return this.#serial;
  }

  /** Whether one more answer is kept now, which counts it. */
  takesAnswer({ serviceMs }: Now): boolean {
    return spendFromAll([this.#answers], serviceMs) === null;
  }
}
