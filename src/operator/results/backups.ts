// What the commands of backups and restores are asked, and their results.

import type { Finding } from './verification.ts';

export interface BackupOptions {
  readonly to: string;
  /** Public keys of age; without any the backup is not encrypted. */
  readonly recipients: readonly string[];
  readonly mibPerSecond: number;
}

/** A finished backup. */
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
  /** The file with the secret keys of age. */
  readonly identityFile: string | null;
  readonly target: RestoreTarget;
}

/** What was restored, and what lies after it. */
export interface Restored {
  readonly data: string;
  /** The new folder's id. */
  readonly id: string;
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
  /** What "payments verify" finds. */
  readonly findings: readonly Finding[];
}

/** Why the folder was paused; null when it was not. */
export interface Resumed {
  readonly paused: { readonly since: string; readonly reason: string } | null;
}
