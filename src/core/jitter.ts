// Waits that differ a little, so that what began together does not go on in lockstep.

/** How much longer a wait becomes at most. */
export const jitteredMost = 1.1;

/** `ms`, up to ±10 % of it more or less. `randomBelow` draws a whole number below its argument. */
export function jittered(ms: number, randomBelow: (limit: number) => number): number {
  return ms + Math.floor((ms * (randomBelow(2001) - 1000)) / 10_000);
}
