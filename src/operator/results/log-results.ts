// What the commands of `payments log` print with `--json`, and what `payments log truncate` asks for.

/** A summary of an entry, as `--json` prints it. */
export interface EntrySummary {
  readonly shard: number;
  readonly sequence: number;
  readonly time: string;
  /** Who gave the command; null where that is not known. */
  readonly by: string | null;
  /** The operator's name. */
  readonly name: string | null;
  readonly requests: readonly string[];
  readonly idempotency_key: string | null;
  /** The status of the response that is stored for the key. */
  readonly status: number | null;
  readonly organization: string | null;
  readonly livemode: boolean | null;
  readonly events: readonly string[];
  readonly objects: readonly string[];
}

/** What is given up. */
export interface LostBatch {
  /** Shard and sequence of its first entry. */
  readonly place: string;
  readonly segment: string;
  readonly bytes: number;
  readonly defect: string;
  /** The entries that can be read. There may have been more. */
  readonly entries: readonly EntrySummary[];
  readonly damaged_records: number;
  /** A line for each entry. */
  readonly lines: readonly string[];
}

export interface LogTruncation {
  readonly shard: number;
  readonly sequence: number;
  /** Asks whether the batch shall go. Throws `CommandFailure` when it shall not. */
  confirm(lost: LostBatch): Promise<void>;
}

/** Where a log lies. */
export interface LogPlaceOptions {
  /** The data folder, when neither a backup nor an archive is named. */
  dataDir(): string;
  readonly from: string | null;
  readonly archive: string | null;
  /** The file with the secret keys of age. */
  readonly identityFile: string | null;
}
