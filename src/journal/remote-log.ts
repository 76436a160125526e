// The port to a log of a partition that other machines hold, too. It decides what is part of the
// log, and who may append. The log on LMDB is its mirror: see log/replicated-log.ts.

import type { LogEnd } from './journal.ts';

/** What an owner finds when it acquires the partition. */
export interface AcquiredLog {
  readonly epoch: number;
  /** The first sequence that can be read; that of the next entry when there are none. */
  readonly firstSequence: number;
  /** The end of the log; of sequence 0 when nothing was appended yet. */
  readonly end: LogEnd;
  /** Metadata that an owner has put, see `note`. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
}

/** A commit batch as it is appended. */
export interface AppendedBatch {
  readonly firstSequence: number;
  /** Service time, Unix milliseconds. */
  readonly timeMs: number;
  readonly end: LogEnd;
  readonly bytes: Buffer;
}

export interface RemoteLog {
  /**
   * Takes the partition from whoever had it, with an epoch greater than `after`, the last one that
   * this machine knows, and resolves when that is as durable as an append. It
   * tries again until it succeeds or `close` is called, and then rejects with `JournalFailure`.
   * Rejects with `JournalDamaged` where trying again can't help.
   */
  acquire(after: number): Promise<AcquiredLog>;
  /** The same, of a log that somebody else may own. Rejects with an error when nobody answers. */
  inspect(): Promise<AcquiredLog>;
  /**
   * Appends after all before it, one at a time. Resolves when enough machines have it on disk.
   * Rejects with `JournalFailure`, which says what became of the batch.
   */
  append(epoch: number, batch: AppendedBatch): Promise<void>;
  /** The commit batches after the one that ends with `after`, in order, some at a time. */
  read(after: number): AsyncIterable<readonly Buffer[]>;
  /** Has an empty log begin behind `end`: up to there it lies in data folders alone. */
  begin(epoch: number, end: LogEnd): Promise<void>;
  /** The checksum of the batch that ends with `sequence`; null when none does. */
  checksumAt(sequence: number): Promise<number | null>;
  /**
   * Stores metadata, of which a failover may lose the last, and up to which sequence the mirror of
   * this machine holds the log: what is older may be dropped. Rejects as `append` does.
   */
  note(epoch: number, metadata: ReadonlyMap<string, Uint8Array>, mirrored: number): Promise<void>;
  /**
   * Resolves when `epoch` is still the newest one where appends are acknowledged. Rejects as
   * `append` does.
   */
  confirm(epoch: number): Promise<void>;
  /** Waits a moment for `noted`, so that the next owner has it. */
  close(noted?: Promise<void> | null): Promise<void>;
}
