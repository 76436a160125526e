// A timer that is set anew far more often than it goes off. To set it later costs nothing: the
// system's timer goes off at the time of before, and waits for the rest then. Each connection has
// one, which is set twice for each request.

import type { MonotonicClock } from '../core/clock.ts';

export class Alarm {
  readonly #monotonic: MonotonicClock;
  readonly #ring: () => void;
  /** When it rings, by the monotonic clock. */
  #dueMs = Number.POSITIVE_INFINITY;
  /** When the system's timer goes off, which is no later. */
  #timerMs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(monotonic: MonotonicClock, ring: () => void) {
    this.#monotonic = monotonic;
    this.#ring = ring;
  }

  /** It rings so many milliseconds from now, and not when it would have rung before. */
  set(ms: number): void {
    const nowMs = this.#monotonic();
    this.#dueMs = nowMs + ms;
    if (this.#dueMs < this.#timerMs) this.#wait(nowMs);
  }

  /** It rings no more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timerMs = Number.POSITIVE_INFINITY;
  }

  #wait(nowMs: number): void {
    clearTimeout(this.#timer);
    this.#timerMs = this.#dueMs;
    this.#timer = setTimeout(() => this.#wake(), this.#dueMs - nowMs).unref();
  }

  #wake(): void {
    const nowMs = this.#monotonic();
    if (this.#dueMs > nowMs) {
      this.#wait(nowMs);
      return;
    }
    this.stop();
    this.#ring();
  }
}
