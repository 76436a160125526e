// A partition is to be followed again once nobody on this node owns it: what prevents that, such as
// a PostgreSQL that does not answer, passes.

import { errorText } from '../core/errors.ts';
import { systemTimers, type Timers } from '../core/scheduler.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { FollowedShard } from './standby-partitions.ts';
import type { Thread } from './thread.ts';

const retryMs = 5_000;

/** Asks the thread that stands by until it follows the partition, or need not any more. */
export async function followUntilDone(
  standby: Pick<Thread, 'ask'>,
  shard: FollowedShard,
  isWanted: () => boolean,
  logger: Pick<Logger, 'error'>,
  timers: Timers = systemTimers,
): Promise<void> {
  let told = '';
  while (isWanted()) {
    const trouble = await standby.ask('follow', { shard }).then(() => null, errorText);
    if (trouble === null) return;
    if (trouble !== told && isWanted())
      logger.error(`partition ${shard.identity.shard} can't be followed, which is tried again: ${trouble}`);
    told = trouble;
    await new Promise<void>((resolve) => timers.after(retryMs, resolve));
  }
}
