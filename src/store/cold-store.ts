// What lies behind the records in memory: the checkpoint. It is only read, synchronously.

import type { StoredRecord } from '../domain/record.ts';
import type { ScanRange } from '../domain/view.ts';

/** Reads of what was checkpointed. */
export interface ColdStore {
  get(id: string): StoredRecord | undefined;
  /**
   * The sort keys of an index, ascending or descending, strictly inside the bounds. An index holds one row for each
   * record that belongs to it; a sort key ends with the record's id.
   */
  scan(index: string, range: ScanRange): Iterable<string>;
}

/** A cold store that holds nothing: every record is in memory. */
export const emptyColdStore: ColdStore = { get: () => undefined, scan: () => [] };
