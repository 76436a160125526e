// Timers for tests of what is tried again and again.

import { systemTimers, type Timers } from '../../src/core/scheduler.ts';

/** What waits for `retryMs` is done at once; `tried` resolves when it has waited so many times. */
export function retriedAtOnce(retryMs: number, times: number) {
  const tried = Promise.withResolvers<void>();
  let tries = 0;
  const timers: Timers = {
    after(ms, action) {
      if (ms === retryMs && ++tries === times) tried.resolve();
      return systemTimers.after(ms === retryMs ? 0 : ms, action);
    },
  };
  return { timers, tried: tried.promise };
}
