// The metadata of a shard, which it writes into the checkpoint once a second, so that a crash may
// lose the last second of it: the counts of each scope, the clock, how far the removal of events and
// the scrubber have come, and the revision of the directory that the shard knows.

import { pack, unpack } from 'msgpackr';
import type { StoredClock } from '../core/service-clock.ts';
import { type ScrubState, unscrubbed } from '../journal/checkpoint/scrubber.ts';
import type { LogTimes } from '../journal/journal.ts';
import type { ScopeCounts } from './scope.ts';

export const clockKey = 'clock';

/** The times of ids, which ascend and so run ahead of a clock that is set back. */
export interface IdTimes {
  /** The time in the newest id. */
  readonly lastMs: number;
  /** The most that the time in an id was ever ahead of `created`. */
  readonly leadMs: number;
}

/** The clock as of the last second, from which the next start continues. */
export interface ClockState {
  readonly clock: StoredClock;
  readonly ids: IdTimes;
}

/** Whether metadata is of a scope, whose name has a slash, and not of the shard itself. */
export function isOfScope(name: string): boolean {
  return name.includes('/');
}

export function encodeCounts(counts: ScopeCounts): Uint8Array {
  return pack(counts);
}

export function decodeCounts(bytes: Uint8Array): ScopeCounts {
  return unpack(bytes);
}

export function writeClock(state: ClockState): Uint8Array {
  return pack(state);
}

/** Null when none was written. */
export function readClock(bytes: Uint8Array | undefined): ClockState | null {
  if (bytes === undefined) return null;
  const state: ClockState | number = unpack(bytes);
  return typeof state === 'number' ? clockStateOf(state) : state;
}

/** The clock of shards that take over from several others: the latest of each. */
export function latestClock(states: readonly ClockState[]): ClockState | null {
  const latest = (a: ClockState, b: ClockState) => (b.clock.serviceMs > a.clock.serviceMs ? b : a);
  if (states.length === 0) return null;
  const { clock } = states.reduce(latest);
  const lastMs = Math.max(...states.map(({ ids }) => ids.lastMs));
  const leadMs = Math.max(...states.map(({ ids }) => ids.leadMs));
  return { clock, ids: { lastMs, leadMs } };
}

/** The clock after a part of the log, which may be newer than the clock that was stored. */
export function clockAfter({ clock, ids }: ClockState, { timeMs, newestIdMs }: LogTimes): ClockState {
  const serviceMs = Math.max(clock.serviceMs, timeMs);
  return { clock: { ...clock, serviceMs }, ids: { ...ids, lastMs: Math.max(ids.lastMs, newestIdMs) } };
}

/** The clock of a folder from which only one time is known. */
export function clockStateOf(ms: number): ClockState {
  const at = { serviceMs: ms, wallMs: ms, shownMs: ms, monotonicMs: 0 };
  return { clock: { ...at, boot: null, jump: null, downtime: null }, ids: { lastMs: ms, leadMs: 0 } };
}

/** When ids had come how far, from which the age of events follows (see event-retention.ts). */
export interface RetentionMarks {
  /** Events up to this time in their ids may have been removed; 0: none. */
  readonly horizonMs: number;
  /** The time in the newest id at a moment of service time, oldest first. */
  readonly marks: readonly { readonly serviceMs: number; readonly idMs: number }[];
}

export const retentionKey = 'retention';

export function writeRetention(marks: RetentionMarks): Uint8Array {
  return pack(marks);
}

export function readRetention(bytes: Uint8Array | undefined): RetentionMarks {
  return bytes === undefined ? { horizonMs: 0, marks: [] } : unpack(bytes);
}

/**
 * The marks of shards that take over from several others: what one may have removed may be gone, and
 * the rest is kept for as long as by the shard that knows least of the past.
 */
export function jointRetention(states: readonly RetentionMarks[]): RetentionMarks {
  const horizonMs = Math.max(0, ...states.map((state) => state.horizonMs));
  const startOf = ({ marks }: RetentionMarks) => marks[0]?.serviceMs ?? Number.POSITIVE_INFINITY;
  const youngest = states.reduce((a, b) => (startOf(b) > startOf(a) ? b : a));
  return { horizonMs, marks: youngest.marks };
}

export const scrubKey = 'scrub';

export function writeScrub(state: ScrubState): Uint8Array {
  return pack(state);
}

export function readScrub(bytes: Uint8Array | undefined): ScrubState {
  return bytes === undefined ? unscrubbed : unpack(bytes);
}

/** The last directory revision that the shard knows, by which a start notices an older one. */
export const directoryRevisionKey = 'directory';

export function writeRevision(revision: number): Uint8Array {
  return pack(revision);
}

/** 0 when none was written. */
export function readRevision(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : unpack(bytes);
}
