// The metadata of a shard, written into the checkpoint once a second, so that a crash may lose the
// last second of it: the counts of scopes, the clock, how far the removal of events and the
// scrubber have come, and the revision of the directory that the shard knows.

import { pack, unpack } from 'msgpackr';
import { idempotencyRetentionMs } from '../contract/limits.ts';
import { type IdLeads, leadsOfAll, noLeads, timeOfId, withLead } from '../core/ids.ts';
import { type StoredClock, storedNotBefore } from '../core/service-clock.ts';
import type { ReplayedEntry } from '../journal/journal.ts';
import { type ScrubState, unscrubbed } from '../journal/scrubber.ts';
import type { ScopeCounts } from './scope.ts';

/** Segments of the log have the stored responses, and stay an hour longer than needed. */
export const segmentRetentionMs = idempotencyRetentionMs + 3_600_000;

/** The times of ids, which ascend and so run ahead of a clock that is set back. */
export interface IdTimes extends IdLeads {
  readonly lastMs: number;
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

/** A kind of metadata of a shard: its key, and how its values are written and read. */
function kindOf<T>(key: string, none: T) {
  return {
    key,
    write: (value: T): Uint8Array => pack(value),
    read: (bytes: Uint8Array | undefined): T => (bytes === undefined ? none : unpack(bytes)),
  };
}

/** The key is the name of the scope. */
export const { write: writeCounts, read: readCounts } = kindOf<ScopeCounts | null>('', null);

export const { key: clockKey, write: writeClock } = kindOf<ClockState | null>('clock', null);

/** Null when none was written. */
export function readClock(bytes: Uint8Array | undefined): ClockState | null {
  const state: ClockState | EarlierState | number | null = bytes === undefined ? null : unpack(bytes);
  if (typeof state === 'number') return clockStateOf(state);
  if (state === null || isOfNow(state)) return state;
  const { lastMs, leadMs } = state.ids;
  return { ...state, ids: { ...withLead(noLeads, lastMs, leadMs), lastMs } };
}

/** One lead stood for all ids. */
type EarlierState = Pick<ClockState, 'clock'> & { readonly ids: Omit<IdTimes, 'episodes'> };

function isOfNow(state: ClockState | EarlierState): state is ClockState {
  return 'episodes' in state.ids;
}

/** The clock of shards that take over from several others: the latest of each. */
export function latestClock(states: readonly ClockState[]): ClockState | null {
  const latest = (a: ClockState, b: ClockState) => (b.clock.serviceMs > a.clock.serviceMs ? b : a);
  if (states.length === 0) return null;
  const { clock } = states.reduce(latest);
  const lastMs = Math.max(...states.map(({ ids }) => ids.lastMs));
  return { clock, ids: { ...leadsOfAll(states.map(({ ids }) => ids)), lastMs } };
}

/** The clock after an entry of the log, which may be newer than the clock that was stored. */
export function clockAfter({ clock, ids }: ClockState, entry: ReplayedEntry): ClockState {
  return { clock: storedNotBefore(clock, entry.timeMs), ids: idsAfter(ids, entry) };
}

/**
 * The times of ids after an entry. How far they were ahead of the clock is told by when the records
 * were made, which is known by the second.
 */
export function idsAfter(ids: IdTimes, { changes }: Pick<ReplayedEntry, 'changes'>): IdTimes {
  let { lastMs } = ids;
  let leads: IdLeads = ids;
  for (const { id, created } of changes) {
    const idMs = timeOfId(id);
    leads = withLead(leads, idMs, idMs - (created * 1_000 + 999));
    lastMs = Math.max(lastMs, idMs);
  }
  return { ...leads, lastMs };
}

/** The clock of a folder from which only one time is known. */
export function clockStateOf(ms: number): ClockState {
  const at = { serviceMs: ms, wallMs: ms, shownMs: ms, monotonicMs: 0 };
  return { clock: { ...at, boot: null, jump: null, downtime: null }, ids: { ...noLeads, lastMs: ms } };
}

/** When ids had come how far, from which the age of events follows (see event-retention.ts). */
export interface RetentionMarks {
  /** Events up to this time in their ids may have been removed; 0: none. */
  readonly horizonMs: number;
  /** The time in the newest id at a moment of service time, oldest first. */
  readonly marks: readonly { readonly serviceMs: number; readonly idMs: number }[];
}

export const {
  key: retentionKey,
  write: writeRetention,
  read: readRetention,
} = kindOf<RetentionMarks>('retention', { horizonMs: 0, marks: [] });

/** The marks of shards that take over from others: the rest is kept as by the youngest of these. */
export function jointRetention(states: readonly RetentionMarks[]): RetentionMarks {
  const horizonMs = Math.max(0, ...states.map((state) => state.horizonMs));
  const startOf = ({ marks }: RetentionMarks) => marks[0]?.serviceMs ?? Number.POSITIVE_INFINITY;
  const youngest = states.reduce((a, b) => (startOf(b) > startOf(a) ? b : a));
  return { horizonMs, marks: youngest.marks };
}

export const { key: scrubKey, write: writeScrub, read: readScrub } = kindOf<ScrubState>('scrub', unscrubbed);

/** The last directory revision that the shard knows, by which a start notices an older one. */
export const {
  key: directoryRevisionKey,
  write: writeRevision,
  read: readRevision,
} = kindOf<number>('directory', 0);
