// A thread keeps the checkpoint of a partition as it is for a reader in another process, until the
// main thread tells it that the reader is done.

import type { HeldCheckpoint } from '../journal/journal.ts';
import type { Answers } from '../rpc/questions.ts';
import type { Thread } from './thread.ts';
import type { ThreadQuestions } from './thread-protocol.ts';

type HoldAnswers = Pick<Answers<ThreadQuestions>, 'hold_checkpoint' | 'release_checkpoint'>;

/** The answers of a thread that has the checkpoints of partitions written. */
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

/** The holds that the main thread asks for. */
export class AskedHolds {
  #count = 0;

  /**
   * The one item is the folder; it ends when the signal comes. Rejects with a `ThreadFailure` when
   * the thread ends.
   */
  async *hold(thread: Thread, partition: number, signal: AbortSignal): AsyncGenerator<{ folder: string }> {
    const hold = ++this.#count;
    const held = Promise.withResolvers<{ folder: string }>();
    const over = thread.ask('hold_checkpoint', { hold, partition }, held.resolve);
    over.catch(held.reject);
    const release = () => void thread.ask('release_checkpoint', { hold }).catch(() => {});
    if (signal.aborted) release();
    else signal.addEventListener('abort', release);
    yield await held.promise;
    await over;
  }
}
