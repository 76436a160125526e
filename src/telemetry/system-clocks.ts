// The clocks of the machine. The monotonic clock counts from the machine's boot, and also while it
// sleeps, which Node's does not. So processes of the same boot can compare their readings.

import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { Clocks } from '../core/clock.ts';
import type { ClockObserver } from '../core/service-clock.ts';
import type { TrustClocks } from '../journal/ownership.ts';
import type { Logger } from './logger.ts';

/** Reading the uptime is slow, so readings in between come from Node's clock. */
const askedMs = 1_000;

export function systemClocks(): Clocks {
  let bootMs = Number.NEGATIVE_INFINITY;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  return {
    wall: () => Date.now(),
    monotonic() {
      const nodeMs = performance.now();
      if (nodeMs - askedAtMs >= askedMs) {
        askedAtMs = nodeMs;
        // The uptime is rounded, so a difference of less than a second is none.
        const before = uptime() * 1000 - nodeMs;
        if (before - bootMs >= askedMs) bootMs = before;
      }
      return Math.floor(nodeMs + bootMs);
    },
    boot: bootId(),
  };
}

/** All threads of a process read the same values, and each reading is fresh and cheap. */
export const trustClocks: TrustClocks = {
  monotonic() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000 + nanoseconds / 1_000_000;
  },
  wall: Date.now,
};

/** A random id that Linux makes at each boot; null elsewhere. */
function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

/** Logs the steps of the machine's clock. */
export function watchClock(logger: Pick<Logger, 'warn'>, jumps: { inc(): void }): ClockObserver {
  const seconds = (byMs: number) => Math.round(byMs / 1000);
  return {
    jumped(byMs) {
      jumps.inc();
      logger.warn(
        { seconds: seconds(byMs) },
        "the machine's clock has stepped: dates follow it only after five minutes. " +
          'Check how this machine keeps its time',
      );
    },
    followed: (byMs) =>
      logger.warn(
        { seconds: seconds(byMs) },
        "the step of the machine's clock has lasted: dates follow it now",
      ),
  };
}
