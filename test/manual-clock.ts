import type { Clock } from '../src/core/clock.ts';

/** A clock that stands still until it is told otherwise. */
export interface ManualClock {
  readonly now: Clock;
  set(ms: number): void;
  advance(ms: number): void;
}

export function createManualClock(startMs: number): ManualClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    set: (ms) => {
      nowMs = ms;
    },
    advance: (ms) => {
      nowMs += ms;
    },
  };
}
