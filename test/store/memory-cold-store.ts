// A simple cold store in memory, which a test writes while the record store flushes.

import { indexNameOf, indexRowsOf } from '../../src/domain/indexes.ts';
import type { Change, StoredRecord } from '../../src/domain/record.ts';
import type { ScanRange } from '../../src/domain/view.ts';
import type { ColdStore } from '../../src/store/cold-store.ts';

/** The rows of an index over `records`, by the definition of a range. */
export function scanAll(records: Iterable<StoredRecord>, index: string, range: ScanRange): string[] {
  const rows = [...records].flatMap(indexRowsOf).filter((row) => indexNameOf(row) === index);
  return within(rows.map(({ sortKey }) => sortKey).sort(), range);
}

/** What of the rows of an index is in the range. */
function within(keys: readonly string[], { after, before, descending }: ScanRange): string[] {
  const found = keys.filter(
    (key) => (after === undefined || key > after) && (before === undefined || key < before),
  );
  return descending ? found.reverse() : found;
}

export class MemoryColdStore implements ColdStore {
  readonly #records = new Map<string, StoredRecord>();
  /** The rows of each index, in order; null: they are made when somebody asks. */
  #rows: Map<string, string[]> | null = null;

  get(id: string): StoredRecord | undefined {
    return this.#records.get(id);
  }

  scan(index: string, range: ScanRange): Iterable<string> {
    this.#rows ??= this.#allRows();
    return within(this.#rows.get(index) ?? [], range);
  }

  #allRows(): Map<string, string[]> {
    const rows = new Map<string, string[]>();
    for (const row of [...this.#records.values()].flatMap(indexRowsOf)) {
      const index = indexNameOf(row);
      const keys = rows.get(index);
      if (keys === undefined) rows.set(index, [row.sortKey]);
      else keys.push(row.sortKey);
    }
    for (const keys of rows.values()) keys.sort();
    return rows;
  }

  strayRow(index: string, sortKey: string): Error {
    return new Error(`stray row ${sortKey} of ${index}`);
  }

  write(changes: Iterable<Change>): void {
    this.#rows = null;
    for (const change of changes) {
      if (change.removed) this.#records.delete(change.id);
      else this.#records.set(change.id, change);
    }
  }
}
