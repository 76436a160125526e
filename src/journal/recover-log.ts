// Recovery of the log: finds the records that the checkpoint doesn't reflect yet, checks all of them before anything
// is applied, and tells where the log goes on. Called once, when a journal opens. A damaged record at the very end is
// removed; damage anywhere before it, or a gap, is never stepped over: `JournalDamaged` says what an operator can do.

import { decodeTurn } from './codec.ts';
import { commit } from './environment.ts';
import { type BadTail, DamagedLog, follow } from './follow.ts';
import type { ReplayedEntry } from './journal.ts';
import { readTurn, type Segment, type Segments } from './segments.ts';

/** Tells an operator what happened. */
export type Warn = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** What recovery found. */
export interface RecoveredLog {
  /** The sequence of the next entry to append. */
  readonly nextSequence: number;
  /** Where the log records to replay are: their first sequences, in order. */
  readonly records: readonly { readonly segment: Segment; readonly key: number }[];
}

/** Checks every log record after `afterSequence`. Throws `JournalDamaged`. */
export function recoverLog(segments: Segments, afterSequence: number, warn: Warn): RecoveredLog {
  const records: { segment: Segment; key: number }[] = [];
  let nextSequence = afterSequence + 1;
  try {
    for (const { segment, firstSequence, lastSequence } of follow(segments, afterSequence)) {
      records.push({ segment, key: firstSequence });
      nextSequence = Math.max(nextSequence, lastSequence + 1);
    }
  } catch (error) {
    if (!(error instanceof DamagedLog) || error.tail === null) throw error;
    removeTail(segments, error.tail, warn);
  }
  return { nextSequence, records };
}

function removeTail(segments: Segments, { sequence, bytes, defect }: BadTail, warn: Warn): void {
  const newest = segments.list.at(-1)!;
  const environment = segments.open(newest);
  commit(environment, () => environment.removeSync(sequence));
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
  for (const { segment, key } of recovered.records) {
    // Opened anew for each record: whoever replays may let the event loop go on, and read answers, in between.
    const bytes = readTurn(segments.open(segment), segment, key, segments.tag)!;
    for (const entry of decodeTurn(bytes)) if (entry.sequence > afterSequence) yield entry;
  }
}
