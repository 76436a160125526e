// The lease of a service that several nodes share: its holder owns the partitions and the
// directory. It lies where the log lies, and has no clock: its holder raises `beat`, and whoever
// sees the same beat for long enough takes it, with the next epoch.

import type { Dialect } from '../journal/dialect.ts';

/** What a holder notes with the lease, for whoever takes it next. Milliseconds. */
export interface LeaseTerms {
  /** The holder believes itself for so long from sending the last beat that was acknowledged. */
  readonly trustMs: number;
  /** What an attempt of a webhook may last, on any node that makes attempts for the holder. */
  readonly attemptMs: number;
}

export interface Lease {
  readonly epoch: number;
  readonly beat: number;
  /** The holder's name. */
  readonly node: string;
  /** An id of the holder's process: a node that starts again is another one. */
  readonly process: string;
  /** The holder has stopped. */
  readonly isReleased: boolean;
  /**
   * When it stopped, attempts of webhooks could run for so many milliseconds more. Null: it has not
   * stopped, or it is a release that did not say so.
   */
  readonly quietMs: number | null;
  /** Where the other nodes reach the holder, as host:port; null: nowhere. */
  readonly address: string | null;
  /** The node that is to have it next; null: any. */
  readonly successor: string | null;
  /** In which form the holder writes; null: a release that did not say so. */
  readonly dialect: Dialect | null;
  /** A release that did not know of a term has not said it. */
  readonly terms: Partial<LeaseTerms>;
}

/** Where the lease lies. Everything rejects with an error when nobody answers. */
export interface LeaseTable {
  /** Null: nobody has ever had the lease. */
  look(): Promise<Lease | null>;
  /**
   * Takes the lease as it was seen, and says why, and on which terms.
   * Resolves with its epoch, or with null when it has changed meanwhile.
   */
  take(seen: Lease | null, reason: string, terms: LeaseTerms): Promise<number | null>;
  /**
   * Raises the holder's beat, to `sent` at least: how many beats the holder has sent with this one.
   * So a number does not come again when the table has forgotten beats. Null: somebody else has the
   * lease.
   */
  beat(epoch: number, sent: number): Promise<Pick<Lease, 'successor'> | null>;
  /**
   * Whether a later lease than that of `epoch` is noted elsewhere: this table has forgotten it.
   * `isDoubtful`: it is looked up now, and what can't be seen counts as later.
   */
  isForgotten(epoch: number, isDoubtful: boolean): Promise<boolean>;
  /**
   * The holder has stopped: the next one need not wait, but for `quietMs` with webhooks, whose
   * attempts others may have begun.
   */
  release(epoch: number, quietMs: number): Promise<void>;
}

/** Milliseconds. The configuration holds them against each other. */
export interface LeaseTiming extends LeaseTerms {
  /** The time between two beats. */
  readonly beatMs: number;
  /** A lease is taken when the same beat was seen for so long, or longer as its holder has it. */
  readonly takeMs: number;
}

/** A lease must be seen unchanged for this many times its holder's trust before it is taken. */
export const takeMargin = 1.25;
