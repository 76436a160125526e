// How fast a backup or the archive of the log works beside the service. It reads and writes a
// bounded number of bytes a second, and rests after each piece for as long as the piece took. So
// where processors or the disk are busy, it leaves more to the requests and to the log's commits.
// It does not catch up on what it has missed.

import { getPriority, setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pace } from '../disk/archive-file.ts';

/** Shorter waits are put together, because a timer counts milliseconds. */
const waitMsMin = 1;
/** A piece that took longer was not held up by others: the process or the machine had stopped. */
const restMsMax = 200;

interface PaceTimes {
  /** Milliseconds of monotonic time. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

const systemTimes: PaceTimes = { now: () => performance.now(), wait };

/** Await it after each piece, with the number of its bytes. */
export function paceOf(bytesPerSecond: number, { now, wait }: PaceTimes = systemTimes): Pace {
  let resumedMs = now();
  let dueMs = resumedMs;
  return async (bytes) => {
    const nowMs = now();
    const restMs = Math.min(restMsMax, nowMs - resumedMs);
    dueMs = Math.max(dueMs, resumedMs) + (bytes / bytesPerSecond) * 1000;
    const waitMs = Math.max(dueMs - nowMs, restMs);
    if (waitMs < waitMsMin) return;
    await wait(waitMs);
    resumedMs = now();
  };
}

/**
 * Lowers the priority of this process, and on Linux of this thread alone. One that nice(1) has
 * started may have a lower one, which nobody but root can raise.
 */
export function lowerPriority(niceness: number): void {
  if (getPriority() < niceness) setPriority(niceness);
}
