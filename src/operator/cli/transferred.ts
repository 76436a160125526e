// What `payments export` and `payments import` come to.

import type { Finding } from './verification.ts';

/** What went from the one to the other. */
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
  /** What does not hold in the new folder. */
  readonly findings: readonly Finding[];
  readonly unlisted: number;
}
