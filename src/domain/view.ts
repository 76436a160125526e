// What the domain reads: the newest value of every record, at once, whoever holds it. `store/`
// implements it.

import type { RecordKind, RecordOf, StoredRecord } from './record.ts';

/** What `decide` and the queries read: synchronous, and always the newest value. */
export interface View {
  /** The record, or undefined when there is none of this kind with this id in any organization. */
  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined;
  /** The records of an index in the order of their sort keys, lazily. */
  scan(index: string, range: ScanRange): Iterable<StoredRecord>;
}

/** A part of an index. */
export interface ScanRange {
  /** Only sort keys greater than this one. */
  readonly after?: string | undefined;
  /** Only sort keys smaller than this one. */
  readonly before?: string | undefined;
  readonly descending: boolean;
}

/** A row of an index, whose name is in two parts (see indexes.ts). */
export interface IndexRow {
  readonly list: string;
  /** Null when the index is the whole list. */
  readonly value: string | null;
  /** Ends with the record's id. */
  readonly sortKey: string;
}
