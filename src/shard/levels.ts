// The small values that a shard writes once a second, and may lose a second of: how full the rate-limit buckets are,
// the day's counters, and the time.

import { pack, unpack } from 'msgpackr';
import type { StoredClock } from '../core/service-clock.ts';
import type { Levels } from './scope.ts';

/** Where the time of the last second is kept. */
export const clockLevel = 'clock';

/** Ids ascend even when the clock is set back: they are then ahead of it. */
export interface IdTimes {
  /** The time in the newest id. */
  readonly lastMs: number;
  /** The most that the time in an id was ever ahead of `created`. */
  readonly leadMs: number;
}

/** The time as of a second, for a start after it. */
export interface ClockLevel {
  readonly clock: StoredClock;
  readonly ids: IdTimes;
}

export function encodeLevels(levels: Levels): Uint8Array {
  return pack(levels);
}

export function decodeLevels(bytes: Uint8Array): Levels {
  return unpack(bytes) as Levels;
}

export function writeClock(level: ClockLevel): Uint8Array {
  return pack(level);
}

/** Null when none was written. */
export function readClock(bytes: Uint8Array | undefined): ClockLevel | null {
  if (bytes === undefined) return null;
  const level = unpack(bytes) as ClockLevel | number;
  return typeof level === 'number' ? clockLevelOf(level) : level;
}

/** What the shards go on from that take over from several: the latest of each. */
export function latestClock(levels: readonly ClockLevel[]): ClockLevel | null {
  const latest = (a: ClockLevel, b: ClockLevel) => (b.clock.serviceMs > a.clock.serviceMs ? b : a);
  if (levels.length === 0) return null;
  const { clock } = levels.reduce(latest);
  const lastMs = Math.max(...levels.map(({ ids }) => ids.lastMs));
  const leadMs = Math.max(...levels.map(({ ids }) => ids.leadMs));
  return { clock, ids: { lastMs, leadMs } };
}

/** When nothing but one time is known, as from a folder of the first versions. */
export function clockLevelOf(ms: number): ClockLevel {
  const clock = {
    serviceMs: ms,
    wallMs: ms,
    shownMs: ms,
    monotonicMs: 0,
    boot: null,
    jump: null,
    downtime: null,
  };
  return { clock, ids: { lastMs: ms, leadMs: 0 } };
}

/** Where the directory's revision is kept that the shard last heard of: an older directory is told by it. */
export const directoryLevel = 'directory';

export function writeRevision(revision: number): Uint8Array {
  return pack(revision);
}

/** 0 when none was written. */
export function readRevision(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : (unpack(bytes) as number);
}
