// Time is injected: whoever needs it gets a clock, and a test turns the hands.

/** Returns Unix milliseconds as the machine's clock shows them. That clock may be set, forward and back, at any time. */
export type Clock = () => number;

/** Returns whole milliseconds since a moment of its own: it never steps, and only differences mean something. */
export type MonotonicClock = () => number;

/** What a machine knows of the time. */
export interface Clocks {
  readonly wall: Clock;
  readonly monotonic: MonotonicClock;
  /**
   * Since when the monotonic clock runs: readings of several processes that name the same boot can be compared. Null
   * when that can't be told.
   */
  readonly boot: string | null;
}

/** One moment, in the two times of the service (see service-clock.ts). */
export interface Now {
  /** Unix milliseconds: what people are shown, and what days and dates are told from. May step when a clock is set. */
  readonly nowMs: number;
  /** Milliseconds that never step: what waits, ages and is refilled goes by these. */
  readonly serviceMs: number;
}
