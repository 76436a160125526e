// Reads the log in order: the reading side of the engine on LMDB (see log-engine.ts), perhaps in
// another thread or process while the shard goes on appending. Every batch is checked. Damage, or a
// gap, is never skipped.

import { basename, dirname } from 'node:path';
import { assert, elementAt } from '../../core/assert.ts';
import { pieceSize } from '../../core/piece-size.ts';
import { type Environment, guardRead } from '../../disk/environment.ts';
import { ForeignPart } from '../../disk/identity.ts';
import type { MovedResponse } from '../checkpoint/response-table.ts';
import { JournalDamaged, type ReplayedEntry, unlessDamaged } from '../journal.ts';
import { checkedHeader, decodeBatch, readEntries, responseOf } from './codec.ts';
import type { FollowedBatch, ReadableLog } from './log-engine.ts';
import {
  batchTimeMs,
  endOf,
  fileBytes,
  foundEnd,
  type Segment,
  type Segments,
  writtenMs,
} from './segments.ts';

/** So much is read at once: it takes some milliseconds. */
const portionBytes = pieceSize(1024 * 1024);

export interface StoredBatch extends FollowedBatch {
  readonly segment: Segment;
}

/** A log as its followers read it. Another thread may append to it meanwhile. */
export interface FollowedLog extends ReadableLog {
  refresh(): void;
  /**
   * Drops the segments, but for the newest, whose last batch is older than `olderThanMs` and whose
   * last sequence is at most `sequence`. Returns the first sequence that is left, 0 without any.
   */
  drop(olderThanMs: number, sequence: number): Promise<number>;
  readonly bytes: number;
  /**
   * The last sequence of the oldest segment; null when that is the newest, or ends after
   * `sequence`.
   */
  oldestEnd(sequence: number): number | null;
  /** Drops the oldest segment, as `drop` does. */
  dropOldest(): Promise<number>;
  close(): Promise<void>;
}

export function followedLog(segments: Segments): FollowedLog {
  return {
    refresh: () => segments.refresh(),
    read: (after, upTo) => readLog(segments, after, upTo),
    drop: (olderThanMs, sequence) => dropSegments(segments, olderThanMs, sequence),
    get bytes() {
      return segments.list.reduce((sum, segment) => sum + fileBytes(segment), 0);
    },
    oldestEnd: (sequence) => oldestEnd(segments, sequence),
    async dropOldest() {
      await segments.dropOldest();
      return segments.list[0]?.firstSequence ?? 0;
    },
    close: () => segments.close(),
  };
}

interface BadTail {
  readonly sequence: number;
  readonly bytes: number;
  readonly defect: string;
}

/** The log is damaged. Everything before the damage was returned. */
export class DamagedLog extends JournalDamaged {
  /** The damaged batch if it is the log's last: it can be given up alone. */
  readonly tail: BadTail | null;
  constructor(message: string, tail: BadTail | null = null) {
    super(message);
    this.tail = tail;
  }
}

/**
 * See `ReadableLog`. `goOnAfter` is asked before each portion after which sequence to go on. Throws
 * `DamagedLog`.
 */
export async function* readLog(
  segments: Segments,
  after: number,
  upTo = Number.POSITIVE_INFINITY,
  goOnAfter?: (sequence: number) => Promise<number>,
): AsyncGenerator<readonly StoredBatch[]> {
  for (let [last, epoch] = [after, 0]; last < upTo; ) {
    if (goOnAfter !== undefined) last = await goOnAfter(last);
    segments.refresh();
    const { batches, damage } = portionAfter(segments, last, upTo, epoch);
    if (batches.length > 0) yield batches;
    // Where there is a gap, the next portion may go on behind it. Whoever has none is told at once: a
    // key that has changed on the disk is not met again by reading on from behind what was read.
    if (damage !== null && (batches.length === 0 || goOnAfter === undefined)) throw damage;
    if (batches.length === 0) {
      if (upTo === Number.POSITIVE_INFINITY) refuseHiddenEnd(segments, last + 1);
      return;
    }
    ({ lastSequence: last, epoch } = elementAt(batches, batches.length - 1));
  }
}

interface Portion {
  readonly batches: readonly StoredBatch[];
  readonly damage: JournalDamaged | null;
}

/** The batches that are read at once, after one of `epoch`. */
function portionAfter(segments: Segments, after: number, upTo: number, epoch: number): Portion {
  const batches: StoredBatch[] = [];
  let bytes = 0;
  try {
    for (const batch of follow(segments, after, upTo, epoch)) {
      batches.push(batch);
      bytes += batch.bytes.length;
      if (bytes >= portionBytes) break;
    }
    return { batches, damage: null };
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    return { batches, damage: error };
  }
}

/** Read them to the end, or stop, before the thread does anything else. */
function* follow(
  segments: Segments,
  after: number,
  upTo: number,
  epochBefore: number,
): Generator<StoredBatch> {
  const { list } = segments;
  if (list.length === 0 || after >= upTo) return;
  let next = after + 1;
  let epoch = epochBefore;
  const start = list.findLastIndex(({ firstSequence }) => firstSequence <= next);
  if (start < 0) throw missing(segments, 0, next);
  for (let index = start; index < list.length; index++) {
    const segment = elementAt(list, index);
    // A segment that begins later may not be complete yet.
    if (segment.firstSequence > upTo) return;
    if (index > start && segment.firstSequence !== next) throw missing(segments, index, next);
    // What lies beyond the beginning of the next segment is of an owner that had lost the log when
    // it arrived.
    const end = Math.min(upTo, (list[index + 1]?.firstSequence ?? Number.POSITIVE_INFINITY) - 1);
    for (const batch of batchesOf(segments, index, next, end)) {
      if (batch.epoch < epoch) throw overtaken(segments, index, batch, epoch);
      epoch = batch.epoch;
      yield batch;
      // A batch that was once removed from the end may have left a gap, which the checkpoint
      // covers.
      next = Math.max(next, batch.lastSequence + 1);
    }
  }
}

/** Refuses a log of which more is seen from its end than from its beginning. */
function refuseHiddenEnd(segments: Segments, nextSequence: number): void {
  const index = segments.list.length - 1;
  if (index < 0) return;
  const end = guardSegment(segments, index, () => endOf(segments));
  if (end < nextSequence) return;
  const defect = `its last entry is ${end}, and what comes before that can't be found`;
  throw damaged(segments, index, { sequence: nextSequence, bytes: 0, defect }, false);
}

/** Throws `DamagedLog` when the last batch is damaged, also where the checkpoint has it. */
export function refuseDamagedEnd(segments: Segments): void {
  const { sequence, defect } = foundEnd(segments);
  if (defect !== null)
    throw damaged(segments, segments.list.length - 1, { sequence, bytes: 0, defect }, true);
}

function entriesAfter(batch: FollowedBatch, after: number): ReplayedEntry[] {
  return decodeBatch(batch.bytes).filter(({ sequence }) => sequence > after);
}

function* batchesOf(segments: Segments, index: number, next: number, upTo: number): Generator<StoredBatch> {
  const segment = elementAt(segments.list, index);
  const guard = <T>(read: () => T): T => guardSegment(segments, index, read);
  const environment = guard(() => segments.open(segment, 'leaves'));
  let expected = guard(() => firstHolding(environment, next));
  const rows = guard(() => environment.getRange({ start: expected, end: upTo + 1 })[Symbol.iterator]());
  try {
    for (;;) {
      const { done, value: row } = guard(() => rows.next());
      if (done === true) return;
      const { key, value: bytes } = row;
      const isNext = key === expected;
      const header = isNext
        ? checkedHeader(bytes, key, segments.tag)
        : `the next record there is ${typeof key === 'number' ? key : 'no commit batch'}`;
      if (typeof header === 'string') {
        // A gap is never the end of the log, because what comes after it was on disk.
        const isEnd = isNext && index === segments.list.length - 1 && guard(() => rows.next()).done === true;
        throw damaged(segments, index, { sequence: expected, bytes: bytes.length, defect: header }, isEnd);
      }
      // The first one ends before `next` where a batch was removed from the end of the segment.
      if (header.lastSequence >= next) yield { segment, bytes, ...header };
      expected = Math.max(next, header.lastSequence + 1);
    }
  } finally {
    rows.return?.();
  }
}

/** The first sequence of the batch with `next`; `next` itself when no batch begins before it. */
function firstHolding(environment: Environment, next: number): number {
  const [floor] = environment.getKeys({ start: next, end: 0, reverse: true, limit: 1 });
  return floor ?? next;
}

export function responsesOf(batch: FollowedBatch): MovedResponse[] {
  const moved: MovedResponse[] = [];
  for (const { idempotency, timeMs } of readEntries(batch.bytes)) {
    const stored = responseOf(batch.bytes, idempotency);
    if (idempotency === null || stored === null) continue;
    const { location } = idempotency;
    moved.push({ location, timeMs, keyDigest: new Uint8Array(idempotency.keyDigest), response: stored });
  }
  return moved;
}

/** The newest segment stays, because it tells which sequence comes next. */
function oldestEnd({ list }: Segments, sequence: number): number | null {
  const next = list[1];
  return next === undefined || next.firstSequence - 1 > sequence ? null : next.firstSequence - 1;
}

async function dropSegments(segments: Segments, olderThanMs: number, sequence: number): Promise<number> {
  const { list } = segments;
  while (oldestEnd(segments, sequence) !== null && lastTimeMs(segments, elementAt(list, 0)) < olderThanMs)
    await segments.dropOldest();
  return list[0]?.firstSequence ?? 0;
}

/** -Infinity when the segment is empty, an upper bound when it is damaged. */
function lastTimeMs(segments: Segments, segment: Segment): number {
  const timeMs = unlessDamaged(() => batchTimeMs(segments, segment, 'last') ?? Number.NEGATIVE_INFINITY);
  return timeMs ?? writtenMs(segment);
}

function guardSegment<T>(segments: Segments, index: number, read: () => T): T {
  const { folder, firstSequence } = elementAt(segments.list, index);
  try {
    return guardRead(folder, read);
  } catch (error) {
    if (!(error instanceof JournalDamaged) || error instanceof ForeignPart) throw error;
    throw damaged(segments, index, { sequence: firstSequence, bytes: 0, defect: error.message }, false);
  }
}

/** The error for a batch of an owner that had lost the log before it wrote the batch. */
function overtaken(segments: Segments, index: number, batch: StoredBatch, epoch: number): DamagedLog {
  const { firstSequence: sequence, bytes } = batch;
  const defect = `it is of epoch ${batch.epoch}, and comes after one of epoch ${epoch}`;
  return damaged(segments, index, { sequence, bytes: bytes.length, defect }, false);
}

function missing(segments: Segments, index: number, sequence: number): DamagedLog {
  const { firstSequence } = elementAt(segments.list, index);
  const defect = `a segment is missing: sequences ${sequence} to ${firstSequence - 1} are in none`;
  return damaged(segments, index, { sequence, bytes: 0, defect }, false);
}

function damaged(segments: Segments, index: number, bad: BadTail, isEnd: boolean): DamagedLog {
  const { sequence, defect } = bad;
  const { folder, firstSequence } = elementAt(segments.list, index);
  const shardFolder = dirname(dirname(folder));
  const rest = segments.list.slice(index).map((segment) => segment.folder);
  const kept = Math.min(sequence, firstSequence) - 1;
  const loss = isEnd
    ? `give up this batch, which is the log's last and was acknowledged, with "payments wal truncate ${segments.shard}:${sequence}"`
    : `accept the loss of every change after sequence ${kept} that the checkpoint does not hold: move away ${rest.join(', ')}`;
  const again = isEnd ? 'start again' : 'start once with "payments serve --accept-loss"';
  const message =
    `The log of ${shardFolder} is damaged in segment ${basename(folder)} (${folder}) at sequence ${sequence}: ${defect}. ` +
    `Either restore the data folder from a backup; or ${loss}, then ${again}.`;
  return new DamagedLog(message, isEnd ? bad : null);
}

// Recovery. A damaged batch is never skipped, the last one neither: the storage engine syncs a
// batch before it writes the page that makes it part of the log, so a crash leaves the whole of it
// or nothing. One that is not as it was written was acknowledged, and damaged since.

/**
 * The entries after `afterSequence`, some at a time. Returns the sequence of the next entry to
 * append. The entries must not be used once `JournalDamaged` is thrown.
 */
export async function* recoverLog(
  log: ReadableLog,
  afterSequence: number,
): AsyncGenerator<readonly ReplayedEntry[], number> {
  let nextSequence = afterSequence + 1;
  for await (const batches of log.read(afterSequence)) {
    assert(elementAt(batches, 0).firstSequence <= nextSequence, 'recovery leaves out no entry');
    nextSequence = Math.max(nextSequence, elementAt(batches, batches.length - 1).lastSequence + 1);
    yield batches.flatMap((batch) => entriesAfter(batch, afterSequence));
  }
  return nextSequence;
}
