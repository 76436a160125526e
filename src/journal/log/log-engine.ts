// The port to the engine that stores the log of a partition, which is a shard: batches as bytes, in
// order, of which it uses the header only. log.ts is the engine on LMDB, and follow.ts its reader.
// A partition has one owner at a time, with an epoch that is greater than those of all earlier
// owners. Every batch names folder, generation, partition and epoch, and epochs never descend: a
// batch of an owner that has lost the partition is refused, and is recognized wherever it is found.

import type { ShardIdentity } from '../../disk/identity.ts';
import type { Log } from '../journal.ts';
import type { Ownership } from '../ownership.ts';
import type { BatchHeader } from './codec.ts';

export interface FollowedBatch extends BatchHeader {
  /** The checked bytes, which stay as they are. */
  readonly bytes: Buffer;
}

/** The reading side of an engine, perhaps in another thread or process than the writing side. */
export interface ReadableLog {
  /**
   * The batches from the one with the entry after `after` to the one with `upTo`, or to the last
   * durable one; some at a time, because a promise for each would cost more than reading it. The
   * caller may take its time. Every batch is checked. Throws `JournalDamaged` at damage or a gap,
   * behind all that comes before it.
   */
  read(after: number, upTo?: number): AsyncIterable<readonly FollowedBatch[]>;
}

export interface LogEngine extends ReadableLog {
  /**
   * Makes the caller the owner of the partition: every append under an earlier epoch is refused
   * from now on, also if the caller never appends anything. To be called before anything is read.
   * The checkpoint holds what comes up to `checkpointed`. Rejects with `JournalDamaged`.
   */
  acquire(checkpointed: number): Promise<Ownership>;
  /** Everything was read, and the next entry has this sequence. */
  start(nextSequence: number): void;
  /**
   * Appends a batch whose first entry, `expectedSequence`, must be the next of the log. Resolves
   * when it is durable, after those before it. Rejects with `JournalFailure`, which says
   * what became of the batch; then every append rejects.
   */
  append(partition: ShardIdentity, epoch: number, expectedSequence: number, bytes: Buffer): Promise<void>;
  /** Resolves when everything up to `sequence` is durable. Rejects with `JournalFailure`. */
  durable(sequence: number): Promise<void>;
  readonly durableEnd: Log['durableEnd'];
  readonly readResponse: Log['readResponse'];
  close(): Promise<void>;
}
