// What may fail in a run: what the disk has refused, and a process that is no more. Anything else is a finding.

import { JournalDamaged, JournalFailure } from '../../../src/journal/journal.ts';
import type { World } from './world.ts';

export function isOfDisk(error: unknown): boolean {
  const { name, message, code } = error as Error & { code?: unknown };
  // What can't be made is told by an error of the service that names the code.
  const isTold = message.includes('(ENOSPC)');
  const isRefused = isTold || code === 5 || code === 28 || code === 'ENOSPC' || code === -30795;
  return isRefused || name === 'JournalFailure' || name === 'MachineDown';
}

/** A shard may fail of its disk, and of nothing else. */
export function judgeShardFailure({ judge, isDamaged, isForgetful }: World, error: unknown): void {
  const { message, stack } = error as Error;
  const isAsked = message === 'the thread ends';
  judge.check(
    'the service fails of what failed, and of nothing else',
    isOfDisk(error) || isAsked || isForgetful || (isDamaged && error instanceof JournalDamaged),
    () => stack ?? message,
  );
}

/** Who says that somebody else has taken over is right. */
export function judgeFenced({ judge, isDamaged }: World, error: unknown, isOvertaken: boolean): void {
  if (!(error instanceof JournalFailure) || error.outcome !== 'fenced') return;
  judge.check(
    'the service fails of what failed, and of nothing else',
    isOvertaken || isDamaged,
    () => `${error.message}, and nobody has taken over`,
  );
}
