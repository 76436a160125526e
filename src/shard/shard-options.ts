// What a shard is started with: its journal, settings, time and chance, the world outside that it
// calls, and who hears of its work.

import type { Clocks } from '../core/clock.ts';
import type { Scheduler, Timers } from '../core/scheduler.ts';
import type { ClockObserver } from '../core/service-clock.ts';
import type { NetworkCallRecord } from '../domain/record.ts';
import type { Journal } from '../journal/journal.ts';
import type { ShardStateOptions } from './shard-state.ts';

/** The state of a delivery after an attempt. */
export const deliveryOutcomes = ['succeeded', 'retried', 'failed', 'ended'] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

/** What happens in a shard, for metrics. Durations in seconds. */
export interface ShardObserver {
  batchEnded(requests: number, queued: number): void;
  committed(seconds: number): void;
  checkpointed(records: number, seconds: number): void;
  attempted(outcome: DeliveryOutcome): void;
  /** For how long the disk has kept the oldest commit waiting; null when it does so no longer. */
  stalled(milliseconds: number | null): void;
}

export interface ShardOptions extends Omit<ShardStateOptions, 'checkAddress'> {
  readonly journal: Journal;
  readonly clocks: Clocks;
  readonly scheduler: Scheduler;
  readonly timers: Timers;
  readonly clockObserver: ClockObserver;
  readonly checkpointIntervalMs: number;
  /** Makes a call to a payment network, whose outcome comes back as a command. */
  readonly callNetwork: (call: NetworkCallRecord) => void;
  /** Whether a webhook address may be used; rejects when its name does not resolve now. */
  readonly checkAddress: (url: string) => Promise<boolean>;
  /** For how long deliveries that are over stay listed, with their attempts. */
  readonly deliveryRetentionMs: number;
  /** For how long events can be listed and retrieved. */
  readonly eventRetentionMs: number;
  readonly observer: ShardObserver;
  /** The journal failed, or an assertion: the shard is finished. */
  readonly onFailure: (error: unknown) => void;
}
