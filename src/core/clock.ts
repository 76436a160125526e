// Time is injected: whoever needs it gets a clock, and a test turns the hands.

/** Returns Unix milliseconds. */
export type Clock = () => number;

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
