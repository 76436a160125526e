// What the journal gives to the record store: the checkpoint as the cold store, which is read
// synchronously and never written, and the changes of a commit batch as the bytes that the log has.

import { AssertionFailure } from '../core/assert.ts';
import type { Change, StoredRecord } from '../domain/record.ts';
import type { ScanRange } from '../domain/view.ts';

/** Reads of the checkpoint. */
export interface ColdStore {
  /** Throws when a record with this id may be there and can't be read. */
  get(id: string): StoredRecord | undefined;
  /** The sort keys of an index strictly between the bounds. Each ends with its record's id. */
  scan(index: string, range: ScanRange): Iterable<string>;
  /** The error for a row of an index whose record is not there, or does not ask for it. */
  strayRow(index: string, sortKey: string): Error;
}

/**
 * Memory has changes in this form until the checkpoint has them: some kilobytes in one piece
 * outside of V8's heap, while the garbage collector would mark and copy objects again and again.
 */
export interface PackedChanges {
  /** The memory that the batch takes. */
  readonly bytes: number;
  /** Decodes a change of the record `id` by its number, from 0 over all entries of the batch. */
  read(number: number, id: string): Change;
}

/** A cold store that contains nothing: every record is in memory. */
export const emptyColdStore: ColdStore = {
  get: () => undefined,
  scan: () => [],
  strayRow: (index, sortKey) => new AssertionFailure(`the index ${index} has the stray row ${sortKey}`),
};
