// Clocks are injected, so that tests set the time.

/** Unix milliseconds by the machine's clock, which may be set forward or back at any time. */
export type Clock = () => number;

/** Whole milliseconds since an arbitrary moment. It never steps. */
export type MonotonicClock = () => number;

/** The clocks of a machine. */
export interface Clocks {
  readonly wall: Clock;
  readonly monotonic: MonotonicClock;
  /** The machine's boot; null: unknown. Monotonic readings of the same boot can be compared. */
  readonly boot: string | null;
}

/** One moment, in the two times of the service (see service-clock.ts). */
export interface Now {
  /** Wall time, Unix milliseconds, for what people read. It may step when a clock is set. */
  readonly nowMs: number;
  /** Service time, milliseconds: for waits, ages and refills. It never steps. */
  readonly serviceMs: number;
}

/** When a service time comes, in wall time; one that has passed is now. */
export function wallMsOf(dueMs: number, { nowMs, serviceMs }: Now): number {
  return nowMs + Math.max(0, dueMs - serviceMs);
}
