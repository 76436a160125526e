// The findings of `payments verify`, and the progress of a long command.

/** A check that failed. */
export interface Finding {
  readonly shard: number | null;
  /** The invariant, such as `charge.refunds`. */
  readonly check: string;
  /** The id of the object that it is about; null when it is about several. */
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

/** Called with the progress of a long command: `done` of `total`, which is 0 when not known. */
export type ReportProgress = (what: string, done: number, total: number) => void;
