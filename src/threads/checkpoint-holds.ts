// The checkpoints that a thread keeps as they are for readers in other processes, until it is told
// that they are done.

import type { HeldCheckpoint } from '../journal/journal.ts';
import type { Answers } from '../rpc/questions.ts';
import type { ThreadQuestions } from './thread-protocol.ts';

type HoldAnswers = Pick<Answers<ThreadQuestions>, 'hold_checkpoint' | 'release_checkpoint'>;

/** The answers of a thread that keeps the checkpoints of partitions. */
export function checkpointHolds(hold: (partition: number) => HeldCheckpoint): HoldAnswers {
  const releases = new Map<number, () => void>();
  return {
    async hold_checkpoint({ hold: number, partition }, report) {
      const { folder, release } = hold(partition);
      const released = Promise.withResolvers<void>();
      releases.set(number, released.resolve);
      report({ folder });
      await released.promise;
      releases.delete(number);
      release();
    },
    release_checkpoint: ({ hold: number }) => releases.get(number)?.(),
  };
}
