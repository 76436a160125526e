// Recovery of the log: finds the records that the checkpoint doesn't reflect yet, checks all of them before anything
// is applied, and tells where the log goes on. Called once, when a journal opens. A damaged record at the very end is
// removed; damage anywhere before it, or a gap, is never stepped over: `JournalDamaged` says what an operator can do.

import { basename, dirname } from 'node:path';
import { decodeTurn, readTurnHeader, turnDefect } from './codec.ts';
import { commit, type Environment, guardRead } from './environment.ts';
import { ForeignPart } from './identity.ts';
import { JournalDamaged, type ReplayedEntry } from './journal.ts';
import { readTurn, type Segment, type Segments } from './segments.ts';

/** Tells an operator what happened. */
export type Warn = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** What recovery found. */
export interface RecoveredLog {
  /** The sequence of the next entry to append. */
  readonly nextSequence: number;
  /** Where the log records to replay are: their first sequences, by segment, in order. */
  readonly records: readonly { readonly segment: Segment; readonly keys: readonly number[] }[];
}

/** Checks every log record after `afterSequence`. Throws `JournalDamaged`. */
export async function recoverLog(
  segments: Segments,
  afterSequence: number,
  warn: Warn,
): Promise<RecoveredLog> {
  const { list } = segments;
  if (list.length === 0) return { nextSequence: afterSequence + 1, records: [] };
  const start = list.findLastIndex((segment) => segment.firstSequence <= afterSequence + 1);
  if (start < 0) throw missing(segments, 0, afterSequence + 1);
  const records: { segment: Segment; keys: number[] }[] = [];
  let next = afterSequence + 1;
  for (let index = start; index < list.length; index++) {
    const segment = list[index]!;
    if (index > start && segment.firstSequence !== next) throw missing(segments, index, next);
    const { keys, nextSequence, bad } = checkSegment(segments, index, next);
    if (bad !== null) {
      const isEnd = bad.isLast && index === list.length - 1;
      if (!isEnd) throw damaged(segments, index, bad.sequence, bad.defect);
      await removeTail(segments, bad, warn);
    }
    records.push({ segment, keys });
    next = Math.max(next, nextSequence);
  }
  return { nextSequence: next, records };
}

interface CheckedSegment {
  /** First sequences of the good records that hold `next` and what follows. */
  readonly keys: number[];
  readonly nextSequence: number;
  /** The first record that is not good; the check ended there. */
  readonly bad: BadRecord | null;
}

interface BadRecord {
  readonly sequence: number;
  readonly bytes: number;
  readonly defect: string;
  /** No record follows it in this segment. */
  readonly isLast: boolean;
}

/** Checks the segment's records from the one that holds sequence `next` on. */
function checkSegment(segments: Segments, index: number, next: number): CheckedSegment {
  const segment = segments.list[index]!;
  try {
    const environment = segments.open(segment, 'leaves');
    return guardRead(segment.folder, () => checkRecords(environment, next, segments.tag));
  } catch (error) {
    if (!(error instanceof JournalDamaged) || error instanceof ForeignPart) throw error;
    throw damaged(segments, index, segment.firstSequence, error.message);
  }
}

function checkRecords(environment: Environment, next: number, tag: Buffer): CheckedSegment {
  const keys: number[] = [];
  const [floor] = environment.getKeys({ start: next, end: 0, reverse: true, limit: 1 });
  let expected = floor ?? next;
  let bad: Omit<BadRecord, 'isLast'> | null = null;
  for (const { key, value } of environment.getRange({ start: expected })) {
    if (bad !== null) return { keys, nextSequence: expected, bad: { ...bad, isLast: false } };
    const bytes = value.length;
    const defect = key === expected ? turnDefect(value, key, tag) : `the next record there is ${key}`;
    if (defect !== null) {
      bad = { sequence: expected, bytes, defect };
      // A hole is never the end of the log: what comes after it was on disk once.
      if (key !== expected) return { keys, nextSequence: expected, bad: { ...bad, isLast: false } };
      continue;
    }
    keys.push(key);
    // A record that was removed from the end once may have left a hole that the checkpoint covers.
    const { lastSequence } = readTurnHeader(value);
    expected = lastSequence < next ? next : lastSequence + 1;
  }
  return { keys, nextSequence: expected, bad: bad === null ? null : { ...bad, isLast: true } };
}

async function removeTail(segments: Segments, bad: BadRecord, warn: Warn): Promise<void> {
  const newest = segments.list.at(-1)!;
  const environment = segments.open(newest);
  await commit(environment, () => environment.remove(bad.sequence));
  const { sequence, bytes, defect } = bad;
  warn('Removed a damaged record from the end of the log', {
    segment: newest.folder,
    sequence,
    bytes,
    defect,
  });
}

/** Replays what recovery found. Reads one record at a time. */
export function* replayLog(
  segments: Segments,
  recovered: RecoveredLog,
  afterSequence: number,
): Generator<ReplayedEntry> {
  for (const { segment, keys } of recovered.records) {
    for (const key of keys) {
      // Opened anew for each record: whoever replays may let the event loop go on, and read answers, in between.
      const bytes = readTurn(segments.open(segment), segment, key, segments.tag)!;
      for (const entry of decodeTurn(bytes)) if (entry.sequence > afterSequence) yield entry;
    }
  }
}

function missing(segments: Segments, index: number, sequence: number): JournalDamaged {
  const { firstSequence } = segments.list[index]!;
  return damaged(
    segments,
    index,
    sequence,
    `a segment is missing: sequences ${sequence} to ${firstSequence - 1} are in none`,
  );
}

function damaged(segments: Segments, index: number, sequence: number, what: string): JournalDamaged {
  const { folder, firstSequence } = segments.list[index]!;
  const shardFolder = dirname(dirname(folder));
  const rest = segments.list.slice(index).map((segment) => segment.folder);
  const kept = Math.min(sequence, firstSequence) - 1;
  return new JournalDamaged(
    `The log of ${shardFolder} is damaged in segment ${basename(folder)} (${folder}) at sequence ${sequence}: ${what}. ` +
      `Either restore the data folder from a backup; or accept the loss of every change after sequence ${kept} that ` +
      `the checkpoint does not hold, and move away ${rest.join(', ')}, then start again.`,
  );
}
