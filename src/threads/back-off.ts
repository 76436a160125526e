// How long somebody who has failed is left alone: for a while, and twice as long each time. Who has
// not failed since for the longest such time starts anew.

import { type BackOffTimes, backOffMs } from '../core/scheduler.ts';

/** Of a node that can't be connected to. */
export const redialTimes: BackOffTimes = { minMs: 2_000, maxMs: 60_000 };

export class BackOff {
  readonly #times: BackOffTimes;
  /** Monotonic. */
  readonly #nowMs: () => number;
  readonly #failures = new Map<string, { readonly count: number; readonly untilMs: number }>();

  constructor(times: BackOffTimes, nowMs: () => number) {
    this.#times = times;
    this.#nowMs = nowMs;
  }

  /** `forLong`: it waits as long as ever at once. */
  failed(who: string, forLong = false): void {
    const { maxMs } = this.#times;
    const nowMs = this.#nowMs();
    for (const [each, { untilMs }] of this.#failures)
      if (untilMs + maxMs <= nowMs) this.#failures.delete(each);
    const count = forLong ? Number.POSITIVE_INFINITY : (this.#failures.get(who)?.count ?? 0);
    const untilMs = nowMs + backOffMs(this.#times, count);
    this.#failures.set(who, { count: count + 1, untilMs });
  }

  /** Whether it may be tried now. */
  isOver(who: string): boolean {
    return (this.#failures.get(who)?.untilMs ?? 0) <= this.#nowMs();
  }

  /** It has succeeded: its next failure counts as the first. */
  forget(who: string): void {
    this.#failures.delete(who);
  }
}
