// The memtable: the records that changed since a checkpoint began, with their index rows. It hides what the layers below it
// hold of the same records. Its size is an estimate in bytes of what it takes in memory.

import { objectBytes } from '../core/heap-bytes.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import type { StoredRecord } from '../domain/record.ts';
import type { ScanRange } from '../domain/view.ts';
import { SortedKeys } from './sorted-keys.ts';

/** About what a row of an index takes in memory: its sort key, and now and then an index of its own. */
const rowBytes = 300;

/** Changed records with their own index rows. */
export class Memtable {
  readonly records = new Map<string, StoredRecord>();
  /** Of the records alone. */
  recordBytes = 0;
  #rows = 0;
  readonly #indexes = new Map<string, SortedKeys>();
  /** Ids of records that do not stay in memory once they are on disk. */
  readonly #leavingIds: string[] = [];

  /** Of the records and their index rows. */
  get bytes(): number {
    return this.recordBytes + this.#rows * rowBytes;
  }

  put(record: StoredRecord): void {
    if (leavesMemory(record)) this.#leavingIds.push(record.id);
    const before = this.records.get(record.id);
    const rows = indexRowsOf(record);
    this.recordBytes += objectBytes(record);
    this.#rows += rows.length;
    if (before !== undefined) {
      const rowsBefore = indexRowsOf(before);
      this.recordBytes -= objectBytes(before);
      this.#rows -= rowsBefore.length;
      for (const row of rowsBefore) {
        if (!rows.some(({ index, sortKey }) => index === row.index && sortKey === row.sortKey))
          this.#indexes.get(row.index)?.delete(row.sortKey);
      }
    }
    this.records.set(record.id, record);
    for (const row of rows) {
      let keys = this.#indexes.get(row.index);
      if (keys === undefined) {
        keys = new SortedKeys();
        this.#indexes.set(row.index, keys);
      }
      keys.add(row.sortKey);
    }
  }

  scan(index: string, range: ScanRange): Iterable<string> {
    return this.#indexes.get(index)?.scan(range) ?? [];
  }

  /** Takes out the records that do not stay in memory, and returns their ids. */
  takeLeavingMemory(): string[] {
    const ids = this.#leavingIds.filter((id) => leavesMemory(this.records.get(id)));
    for (const id of ids) {
      const record = this.records.get(id);
      if (record === undefined) continue;
      this.recordBytes -= objectBytes(record);
      this.records.delete(id);
    }
    return ids;
  }
}

function leavesMemory(record: StoredRecord | undefined): boolean {
  return record !== undefined && (record.removed === true || record.kind === 'attempt');
}
