// The results of `payments export`, `payments import` and `payments compact`.

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
