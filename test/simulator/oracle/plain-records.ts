// The records of a shard as a plain set, with the rows of every index: what its layers together, memtables, cache and
// checkpoint, must show.

import { indexNameOf, indexRowsOf } from '../../../src/domain/indexes.ts';
import type { Change, StoredRecord } from '../../../src/domain/record.ts';
import type { ScanRange } from '../../../src/domain/view.ts';

export class PlainRecords {
  readonly #records = new Map<string, StoredRecord>();
  readonly #rows = new Map<string, Set<string>>();

  constructor(records: Iterable<StoredRecord>) {
    for (const record of records) this.apply(record);
  }

  apply(change: Change): void {
    const { id } = change;
    const before = this.#records.get(id);
    if (before !== undefined)
      for (const row of indexRowsOf(before)) this.#rows.get(indexNameOf(row))?.delete(row.sortKey);
    if (change.removed) {
      this.#records.delete(id);
      return;
    }
    this.#records.set(id, change);
    for (const row of indexRowsOf(change)) this.#rowsOf(indexNameOf(row)).add(row.sortKey);
  }

  #rowsOf(index: string): Set<string> {
    const known = this.#rows.get(index);
    if (known !== undefined) return known;
    const rows = new Set<string>();
    this.#rows.set(index, rows);
    return rows;
  }

  get(id: string): StoredRecord | undefined {
    return this.#records.get(id);
  }

  get all(): readonly StoredRecord[] {
    return [...this.#records.values()];
  }

  /** The names of all indexes that ever had a row. */
  get indexes(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** The sort keys of an index in a range, in its order. */
  keysIn(index: string, { after, before, descending }: ScanRange): string[] {
    const keys = [...(this.#rows.get(index) ?? [])].sort();
    const within = keys.filter(
      (key) => (after === undefined || key > after) && (before === undefined || key < before),
    );
    return descending ? within.reverse() : within;
  }
}
