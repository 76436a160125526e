// The disk refuses a commit to a log: whoever has appended is told, and whoever asks later, and no checkpoint goes ahead of the log. The
// next start has what was durable before, and of what was refused the batch that was being written or nothing.

import { JournalFailure, type OwnJournal } from '../../../src/journal/journal.ts';
import {
  checkpointedIn,
  checkRecords,
  emptyBatch,
  openReplayed,
  type SpareMachine,
} from './spare-machine.ts';

const keeps = 'nothing acknowledged is lost';
const refuses = 'a write that the disk refused is nobody’s';
const batchesMax = 3;

export async function failLog(spare: SpareMachine): Promise<void> {
  const { random } = spare;
  const recorded = Math.max(checkpointedIn(spare), spare.batches.at(-1)!.lastSequence);
  if (recorded < spare.history.beginning) return;
  const opened = await openReplayed(spare);
  await Promise.all(appended(spare, opened, random.between(0, batchesMax)));
  const durable = opened.log.nextSequence - 1;
  spare.failNextCommit(spare.log);
  const waiting = appended(spare, opened, 1);
  const begun = opened.log.nextSequence - 1;
  waiting.push(...appended(spare, opened, random.below(batchesMax)));
  const [first, ...others] = await Promise.all(waiting.map(failureOf));
  const refused = opened.log.nextSequence - 1;
  const wanted = first instanceof JournalFailure && others.every((other) => other === first);
  spare.check(refuses, wanted, () => `batches are told ${[first, ...others]}`);
  const later = [
    ...appended(spare, opened, 1),
    opened.checkpointer.write(random.between(durable + 1, refused)),
  ];
  for (const [i, failure] of (await Promise.all(later.map(failureOf))).entries())
    spare.check(refuses, failure === first, () => `whoever asks later (${i}) is told ${failure}`);
  const { epoch } = opened.ownership;
  await opened.close();
  await checkRecords(spare, keeps, recorded);
  const again = await openReplayed(spare);
  const { nextSequence } = again.log;
  spare.check(
    keeps,
    [durable, begun].includes(nextSequence - 1),
    () => `${durable} was durable, up to ${begun} was being written, and ${nextSequence} is next`,
  );
  spare.check(
    keeps,
    again.ownership.epoch > epoch,
    () => `the epoch ${again.ownership.epoch} is after ${epoch}`,
  );
  await Promise.all(appended(spare, again, 1));
  await again.close();
  await checkRecords(spare, keeps, recorded);
}

/** Appends batches that change nothing. Returns when each is durable. */
function appended(spare: SpareMachine, { log }: OwnJournal, count: number): Promise<void>[] {
  const last = spare.batches.at(-1)!;
  return Array.from({ length: count }, () => log.append(emptyBatch(spare, log.nextSequence, last)).durable);
}

/** Null: it has not failed. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}
