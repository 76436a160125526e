// The cold store is the checkpoint as the record store sees it: it is read synchronously, and never written.

import { AssertionFailure } from '../core/assert.ts';
import type { StoredRecord } from '../domain/record.ts';
import type { ScanRange } from '../domain/view.ts';

/** Reads of the checkpoint. */
export interface ColdStore {
  /** Throws when a record with this id may be there and can't be read. */
  get(id: string): StoredRecord | undefined;
  /**
   * The sort keys of an index, ascending or descending, strictly between the bounds. An index has one row for each
   * record that belongs to it; its sort key ends with the record's id.
   */
  scan(index: string, range: ScanRange): Iterable<string>;
  /** The error for a row of an index whose record is not there, or does not ask for it. */
  strayRow(index: string, sortKey: string): Error;
}

/** A cold store that holds nothing: every record is in memory. */
export const emptyColdStore: ColdStore = {
  get: () => undefined,
  scan: () => [],
  strayRow: (index, sortKey) => new AssertionFailure(`the index ${index} has the stray row ${sortKey}`),
};
