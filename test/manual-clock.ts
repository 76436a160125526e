import type { Clock, Clocks, Now } from '../src/core/clock.ts';

/** A machine's clocks, which only a test moves. */
export interface ManualClock extends Clocks {
  /** The wall clock. */
  readonly now: Clock;
  boot: string | null;
  /** Time passes. */
  advance(ms: number): void;
  /** The wall clock is set; no time passes. */
  set(ms: number): void;
  /** The machine is booted: the monotonic clock starts again, and only the wall clock has gone on. */
  reboot(downMs: number): void;
}

export function createManualClock(startMs: number): ManualClock {
  let nowMs = startMs;
  let monotonicMs = startMs;
  const now = () => nowMs;
  return {
    now,
    wall: now,
    monotonic: () => monotonicMs,
    boot: 'boot 1',
    advance: (ms) => {
      nowMs += ms;
      monotonicMs += ms;
    },
    set: (ms) => {
      nowMs = ms;
    },
    reboot(downMs) {
      nowMs += downMs;
      monotonicMs = 0;
      this.boot = `${this.boot}, then another`;
    },
  };
}

/** A moment with the same wall time and service time. */
export function at(ms: number): Now {
  return { nowMs: ms, serviceMs: ms };
}
