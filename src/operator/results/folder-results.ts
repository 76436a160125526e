// What the commands about a whole data folder are asked, and their results.

export interface BackupOptions {
  readonly to: string;
  /** Public keys of age; without any the backup is not encrypted. */
  readonly recipients: readonly string[];
  readonly mibPerSecond: number;
}

export interface BackedUp {
  readonly to: string;
  /** As of when it is, ISO 8601. */
  readonly moment: string;
  readonly files: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly encrypted: boolean;
}

export interface BackupToVerify {
  readonly from: string;
  readonly archive: string | null;
  readonly identityFile: string | null;
  /** Where there is room for what is restored meanwhile. */
  readonly scratch: string;
}

/** The target of a restore that an operator names. Without one, everything is restored. */
export type RestoreTarget =
  | { readonly kind: 'end' }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'sequence'; readonly shard: number; readonly sequence: number }
  | { readonly kind: 'before_request'; readonly requestId: string };

export interface RestoreCommand {
  readonly from: string;
  readonly archive: string | null;
  readonly dataDir: string;
  /** Whether it is to be the folder of another node of the service. */
  readonly asNode: boolean;
  /** The file with the secret keys of age. */
  readonly identityFile: string | null;
  readonly target: RestoreTarget;
}

export interface Restored {
  readonly data: string;
  readonly id: string;
  readonly as_node: boolean;
  readonly from: {
    readonly backup: string;
    readonly archive: string | null;
    /** The id of the folder that the backup is of, and the moment of the backup. */
    readonly folder: string;
    readonly moment: string;
  };
  readonly target: string;
  readonly records: number;
  /** The last entry of each shard, and its time; null when the log of the backup is empty. */
  readonly shards: readonly {
    readonly shard: number;
    readonly sequence: number;
    readonly time: string | null;
  }[];
  /** What the backup and the archive have after that. */
  readonly later: {
    readonly entries: number;
    readonly directoryChanges: number;
    readonly objects: Readonly<Record<string, number>>;
  };
  /** The file with a row for each of these objects. */
  readonly later_file: string;
  readonly warnings: readonly string[];
  readonly findings: readonly Finding[];
}

export interface Resumed {
  readonly paused: { readonly since: string; readonly reason: string } | null;
}

export interface Transferred {
  readonly file: string;
  readonly folder: string;
  readonly organizations: number;
  readonly api_keys: number;
  readonly records: number;
  readonly responses: number;
  readonly small_values: number;
}

export interface Imported extends Transferred {
  readonly shards: number;
  readonly findings: readonly Finding[];
  readonly unlisted: number;
}

export interface Compacted {
  readonly folder: string;
  readonly shards: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
}

/** The result of a reshard, which does nothing when `from` is `to`. */
export interface Resharded {
  readonly from: number;
  readonly to: number;
  readonly records: number;
  readonly answers: number;
}

export interface SecretsKeyRolled {
  readonly key: string;
  readonly secrets: number;
  /** The key file, and the copy with the old keys. */
  readonly file: string;
  readonly kept: string;
}

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
  readonly unlisted: number;
}

/** What became of the log of each shard that moved to PostgreSQL or back. */
export interface MovedLog {
  readonly folder: string;
  /** The last sequence of each. */
  readonly shards: readonly { readonly shard: number; readonly sequence: number }[];
}

/** What differs between a data folder and PostgreSQL, or is damaged in either. */
export interface ComparedLog {
  readonly folder: string;
  readonly shards: number;
  readonly findings: readonly string[];
}

/** Called with the progress of a long command: `done` of `total`, which is 0 when not known. */
export type ReportProgress = (what: string, done: number, total: number) => void;
