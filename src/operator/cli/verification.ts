// What `payments verify` finds, and how a long command tells how far it is.

/** Something that does not hold. */
export interface Finding {
  readonly shard: number | null;
  /** The invariant, such as `charge.refunds`. */
  readonly check: string;
  /** The id of the object that it is about; null: it is about more than one. */
  readonly object: string | null;
  readonly what: string;
  readonly advice: string;
}

export interface Verification {
  readonly folder: string;
  readonly id: string;
  readonly shards: number;
  readonly records: number;
  readonly events: number;
  readonly responses: number;
  readonly findings: readonly Finding[];
  /** Findings beyond those that are listed. */
  readonly unlisted: number;
}

/** Hears how far a long command is: what it does, and `done` of `total`; a total of 0 is not known. */
export type ReportProgress = (what: string, done: number, total: number) => void;
