// The port to the engine that stores the log of a partition, which is a shard. An engine stores commit batches as bytes, in order,
// and uses nothing of a batch but its header. write-ahead-log.ts encodes the batches. Whatever is brought up to date with the
// log reads them: recovery, the checkpoint, a reshard, a restore, a backup, the archive. log.ts is the engine on LMDB, and
// follow.ts its reader. A replicated log would be another one.
//
// A partition has one owner at a time, and each owner has an epoch: a number that is greater than those of all owners whose
// batches are in the log. Every batch names folder, generation, partition and epoch, and epochs never descend in a log. So a
// batch of an owner that has lost the partition is refused, and is recognized wherever it is found.

import type { ShardIdentity } from '../../disk/identity.ts';
import type { Log } from '../journal.ts';
import type { BatchHeader } from './codec.ts';

/** A batch of the log. */
export interface FollowedBatch extends BatchHeader {
  /** The checked bytes, which stay as they are. */
  readonly bytes: Buffer;
}

/** The reading side of an engine. It may be in another thread or process than the writing side. */
export interface ReadableLog {
  /**
   * The batches from the one with the entry after `after` to the one with `upTo`, or to the last one that is durable; some at a
   * time, because a promise for each would cost more than reading it. The caller may take its time between them. Every batch is
   * checked. Throws `JournalDamaged` at damage or a gap, when all that comes before it was returned.
   */
  read(after: number, upTo?: number): AsyncIterable<readonly FollowedBatch[]>;
}

export interface LogEngine extends ReadableLog {
  /**
   * Appends a batch whose first entry has `expectedSequence`, which must be the next one of the log. Settles when the batch is
   * durable, which no batch is before those that were appended before it. Rejects with `JournalFailure` when it could not be
   * written, or when the partition has an owner with a greater epoch; from then on every append rejects.
   */
  append(partition: ShardIdentity, epoch: number, expectedSequence: number, bytes: Buffer): Promise<void>;
  /** Settles when everything up to `sequence` is durable. Rejects with `JournalFailure` when that will never happen. */
  durable(sequence: number): Promise<void>;
  readonly durableEnd: Log['durableEnd'];
  readonly readResponse: Log['readResponse'];
  close(): Promise<void>;
}
