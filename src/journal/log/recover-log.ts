// Recovery of the log: it reads what the checkpoint does not reflect yet, once, to the end of the log. Each batch is checked, and
// then its entries are returned. The journal runs this before the first append. Damage, or a gap, is never skipped:
// `JournalDamaged` says what an operator can do. That holds for the last batch, too. The storage engine syncs a batch before it
// writes the page that makes the batch part of the log, so a crash leaves the whole of it or nothing. One that is there and is not
// as it was written was acknowledged, and something has damaged it since.

import type { ReplayedEntry } from '../journal.ts';
import { entriesAfter } from './follow.ts';
import type { ReadableLog } from './log-engine.ts';

/**
 * The entries after `afterSequence`, some at a time. Returns the sequence of the next entry to append. After `JournalDamaged` is
 * thrown, the returned entries must not be used.
 */
export async function* recoverLog(
  log: ReadableLog,
  afterSequence: number,
): AsyncGenerator<readonly ReplayedEntry[], number> {
  let nextSequence = afterSequence + 1;
  for await (const batches of log.read(afterSequence)) {
    nextSequence = Math.max(nextSequence, batches.at(-1)!.lastSequence + 1);
    yield batches.flatMap((batch) => entriesAfter(batch, afterSequence));
  }
  return nextSequence;
}
