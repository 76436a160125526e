// Whoever runs the service, on one machine or several, as a run sees it.

import type { StoredRecord } from '../../../src/domain/record.ts';
import type { Random } from '../kernel/random.ts';
import type { Entrance } from './service.ts';

export interface Runs {
  /** The way in; null: nobody listens. */
  readonly service: Entrance | null;
  readonly isReady: boolean;
  readonly starts: number;
  /** What the service has yet to do by itself: deliveries to make, network calls to settle. */
  readonly openWork: number;
  readonly isIdle: boolean;
  /** Hears of each start of a shard. */
  onShardStart: () => void;
  start(): void;
  /** Stops the service as an operator does, and starts it again. */
  stop(): void;
  /** The process that serves ends now, and with the power all that was not synced. */
  crash(withPower: boolean, afterMs: number): void;
  /** An operator has the checkpoints of all shards compacted. */
  compact(): void;
  /** Has the shard of an organization run by another process; tells when that is so. */
  startAnew(org: string, random: Random): () => boolean;
  /** To be called after every task. */
  afterTask(): void;
  /** Every record of every shard, as the shards show them. */
  records(): Map<string, StoredRecord>;
  /** Nothing is started any more. */
  end(): void;
}
