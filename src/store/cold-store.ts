// The cold store is the checkpoint as the record store sees it: it is read synchronously, and never written.

import type { StoredRecord } from '../domain/record.ts';
import type { ScanRange } from '../domain/view.ts';

/** Reads of the checkpoint. */
export interface ColdStore {
  get(id: string): StoredRecord | undefined;
  /**
   * The sort keys of an index, ascending or descending, strictly between the bounds. An index has one row for each
   * record that belongs to it; its sort key ends with the record's id.
   */
  scan(index: string, range: ScanRange): Iterable<string>;
}

/** A cold store that holds nothing: every record is in memory. */
export const emptyColdStore: ColdStore = { get: () => undefined, scan: () => [] };
