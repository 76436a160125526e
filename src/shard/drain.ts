// A shard that stops waits until all that it has taken is durable and answered. A disk answers or
// fails. Other machines that hold the log may do neither, so they are given up after a while.

import { breath, type Scheduler, type Timers, within } from '../core/scheduler.ts';
import { isShared, type Ownership } from '../journal/ownership.ts';

/** A stop has five seconds for everything; whoever waited for an answer has waited before. */
const sharedMsMax = 500;

interface Draining {
  readonly ownership: Ownership;
  readonly scheduler: Scheduler;
  readonly timers: Timers;
  readonly isBusy: () => boolean;
  /** Resolves when everything that was appended so far is durable. Rejects with `JournalFailure`. */
  readonly durable: () => Promise<void>;
}

/** False when other machines keep a commit waiting for too long. Rejects with `JournalFailure`. */
export async function drain(draining: Draining): Promise<boolean> {
  const { ownership, timers } = draining;
  const drained = drainAll(draining).then(() => true);
  return isShared(ownership) ? ((await within(sharedMsMax, drained, timers)) ?? false) : drained;
}

async function drainAll({ scheduler, isBusy, durable }: Draining): Promise<void> {
  while (isBusy()) {
    await durable();
    await breath(scheduler);
  }
}
