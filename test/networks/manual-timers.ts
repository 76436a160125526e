// Timers that a test advances, together with their clock.

import type { Timers } from '../../src/core/scheduler.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';

interface ManualTimers extends Timers {
  readonly clock: ManualClock;
  /** Timers that wait. */
  readonly waiting: () => number;
  /** Runs what is due within `ms` in order, and what those actions lead to. */
  advance(ms: number): Promise<void>;
}

/** Lets every promise that can settle by itself settle. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

export function createManualTimers(startMs: number): ManualTimers {
  const clock = createManualClock(startMs);
  const timers = new Map<number, { dueMs: number; action: () => void }>();
  let next = 0;
  return {
    clock,
    waiting: () => timers.size,
    after(delayMs, action) {
      const id = next++;
      timers.set(id, { dueMs: clock.now() + delayMs, action });
      return () => void timers.delete(id);
    },
    async advance(ms) {
      const untilMs = clock.now() + ms;
      for (;;) {
        await settled();
        const [due] = [...timers]
          .filter(([, { dueMs }]) => dueMs <= untilMs)
          .sort(([, a], [, b]) => a.dueMs - b.dueMs);
        if (due === undefined) break;
        timers.delete(due[0]);
        clock.advance(Math.max(0, due[1].dueMs - clock.now()));
        due[1].action();
      }
      clock.advance(untilMs - clock.now());
    },
  };
}
