// Recovery of the log: it reads what the checkpoint does not reflect yet, once, to the end of the log. Each batch is checked, and
// then its entries are returned. The journal runs this before the first append. A damaged batch at the very end of the log is
// removed. Damage anywhere before that, or a gap, is never skipped: `JournalDamaged` says what an operator can do.

import { commit } from './environment.ts';
import { type BadTail, DamagedLog, entriesAfter, follow } from './follow.ts';
import type { ReplayedEntry } from './journal.ts';
import type { Segments } from './segments.ts';

/** Tells an operator what happened. */
export type Warn = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/**
 * The entries after `afterSequence`. The caller must read them to the end before the thread does anything else. Returns the
 * sequence of the next entry to append. After `JournalDamaged` is thrown, the returned entries must not be used.
 */
export function* recoverLog(
  segments: Segments,
  afterSequence: number,
  warn: Warn,
): Generator<ReplayedEntry, number> {
  let nextSequence = afterSequence + 1;
  try {
    for (const batch of follow(segments, afterSequence)) {
      nextSequence = Math.max(nextSequence, batch.lastSequence + 1);
      yield* entriesAfter(batch, afterSequence);
    }
  } catch (error) {
    if (!(error instanceof DamagedLog) || error.tail === null) throw error;
    removeTail(segments, error.tail, warn);
  }
  return nextSequence;
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
