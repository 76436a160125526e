// A shard that stops waits until all that it has taken is durable and answered. A disk answers or
// fails. Other machines that hold the log may do neither, so they are given up after a while.

import { breath, type Scheduler, type Timers, within } from '../core/scheduler.ts';
import { isShared, type Ownership } from '../journal/ownership.ts';

/** For each commit: a stop has five seconds for everything, and whoever waits has waited before. */
const sharedMsMax = 500;

interface Draining {
  readonly ownership: Ownership;
  readonly scheduler: Scheduler;
  readonly timers: Timers;
  readonly isBusy: () => boolean;
  /** Resolves when everything that was appended so far is durable. Rejects with `JournalFailure`. */
  readonly durable: () => Promise<void>;
}

/**
 * False when other machines keep a commit waiting for too long; those that go on slowly are waited
 * for. Rejects with `JournalFailure`.
 */
export async function drain(draining: Draining): Promise<boolean> {
  const { ownership, scheduler, timers, isBusy, durable } = draining;
  while (isBusy()) {
    const isDurable = durable().then(() => true);
    const isWritten = isShared(ownership) ? await within(sharedMsMax, isDurable, timers) : await isDurable;
    if (isWritten === null) return false;
    await breath(scheduler);
  }
  return true;
}
