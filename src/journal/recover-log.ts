// Recovery of the log: it reads what the checkpoint does not reflect yet, once, to the end of the log. Each batch is checked, and
// then its entries are returned. The journal runs this before the first append. Damage, or a gap, is never skipped:
// `JournalDamaged` says what an operator can do. That holds for the last batch, too. The storage engine syncs a batch before it
// writes the page that makes the batch part of the log, so a crash leaves the whole of it or nothing. One that is there and is not
// as it was written was acknowledged, and something has damaged it since.

import { entriesAfter, follow, refuseHiddenEnd } from './follow.ts';
import type { ReplayedEntry } from './journal.ts';
import type { Segments } from './segments.ts';

/** Tells an operator what happened. */
export type Warn = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/**
 * The entries after `afterSequence`. The caller must read them to the end before the thread does anything else. Returns the
 * sequence of the next entry to append. After `JournalDamaged` is thrown, the returned entries must not be used.
 */
export function* recoverLog(segments: Segments, afterSequence: number): Generator<ReplayedEntry, number> {
  let nextSequence = afterSequence + 1;
  for (const batch of follow(segments, afterSequence)) {
    nextSequence = Math.max(nextSequence, batch.lastSequence + 1);
    yield* entriesAfter(batch, afterSequence);
  }
  refuseHiddenEnd(segments, nextSequence);
  return nextSequence;
}
