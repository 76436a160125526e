// Clocks are injected, so that tests set the time.

/** Returns Unix milliseconds by the machine's clock, which may be set forward or back at any time. */
export type Clock = () => number;

/** Returns whole milliseconds since an arbitrary moment. It never steps; only differences are meaningful. */
export type MonotonicClock = () => number;

/** The clocks of a machine. */
export interface Clocks {
  readonly wall: Clock;
  readonly monotonic: MonotonicClock;
  /**
   * The id of the machine's boot, or null when it is unknown. Monotonic readings of several processes can be compared when
   * they have the same boot.
   */
  readonly boot: string | null;
}

/** One moment, in the two times of the service (see service-clock.ts). */
export interface Now {
  /** Wall time, Unix milliseconds: for what people read, for days and for dates. It may step when a clock is set. */
  readonly nowMs: number;
  /** Service time, milliseconds: for waits, ages and refills. It never steps. */
  readonly serviceMs: number;
}
