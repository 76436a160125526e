// Waits in tests for what happens by itself, by asking again and again.

import { setImmediate, setTimeout as wait } from 'node:timers/promises';

const deadlineMs = 120_000;
const restMsMin = 10;
const restMsMax = 250;

/**
 * The first answer of `find` that is not undefined; fails, with what `told` says, when there is none in time. It rests between
 * two questions four times as long as the last one took, so that a question which is much work, such as one for all metrics,
 * does not hold up what it waits for.
 */
export async function poll<T>(
  find: () => T | undefined | Promise<T | undefined>,
  told: () => string = () => '',
): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const askedMs = performance.now();
    const found = await find();
    if (found !== undefined) return found;
    const nowMs = performance.now();
    if (nowMs > endMs) throw new Error(`this did not come true: ${find}\n${told()}`);
    await wait(Math.min(restMsMax, Math.max(restMsMin, 4 * (nowMs - askedMs))));
  }
}

/** The event loop turns until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  for (const endMs = performance.now() + deadlineMs; !isSo(); await setImmediate())
    if (performance.now() > endMs) throw new Error(`this did not come true: ${isSo}`);
}
