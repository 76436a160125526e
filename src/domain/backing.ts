// What lies behind the state in memory: the checkpoint. The domain only reads it, synchronously.

import type { StoredRecord } from './record.ts';

/** Reads of what was checkpointed. */
export interface Backing {
  get(id: string): StoredRecord | undefined;
  /**
   * The sort keys of an index, ascending or descending, strictly inside the bounds. An index holds one row for each
   * record that belongs to it; a sort key ends with the record's id.
   */
  scan(index: string, range: ScanRange): Iterable<string>;
}

export interface ScanRange {
  /** Only sort keys greater than this one. */
  readonly after?: string | undefined;
  /** Only sort keys smaller than this one. */
  readonly before?: string | undefined;
  readonly descending: boolean;
}

/** A row of an index: the index's name, and a sort key that ends with the record's id. */
export interface IndexRow {
  readonly index: string;
  readonly sortKey: string;
}

/** A backing that holds nothing: the state is all in memory. */
export const emptyBacking: Backing = { get: () => undefined, scan: () => [] };
