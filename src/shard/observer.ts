// What a shard tells of its work while it does it.

import type { DeliveryOutcome } from './deliver.ts';

/** What happens in a shard, for metrics. Durations in seconds. */
export interface ShardObserver {
  turnEnded(requests: number, queued: number): void;
  committed(seconds: number): void;
  checkpointed(records: number, seconds: number): void;
  /** An attempt of a webhook delivery was recorded. */
  attempted(outcome: DeliveryOutcome): void;
}
