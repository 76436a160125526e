// The results of export, import, compact, reshard, and rolling the secrets key.

import type { Finding } from './verification.ts';

/** The numbers of what was exported or imported. */
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
  /** The findings of the check of the new folder. */
  readonly findings: readonly Finding[];
  readonly unlisted: number;
}

/** The checkpoints' files before and after they were compacted. */
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

/** The result of rolling the secrets key. */
export interface SecretsKeyRolled {
  /** The new key's id. */
  readonly key: string;
  readonly secrets: number;
  /** The key file, and the copy with the old keys. */
  readonly file: string;
  readonly kept: string;
}
