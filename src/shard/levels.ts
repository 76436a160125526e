// The small values that a shard writes once a second, and may lose a second of: how full the rate-limit buckets are,
// the day's counters, and the time.

import { pack, unpack } from 'msgpackr';
import type { Levels } from './scope.ts';

/** Where the time of the last second is kept, so that ids ascend even if the clock was set back meanwhile. */
export const clockLevel = 'clock';

export function encodeLevels(levels: Levels): Uint8Array {
  return pack(levels);
}

export function decodeLevels(bytes: Uint8Array): Levels {
  return unpack(bytes) as Levels;
}

export function writeClock(ms: number): Uint8Array {
  return pack(ms);
}

/** Unix milliseconds, 0 when none was written. */
export function readClock(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : (unpack(bytes) as number);
}
