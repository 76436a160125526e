// A simple cold store in memory, which a test writes while the record store flushes.

import { indexNameOf, indexRowsOf } from '../../src/domain/indexes.ts';
import type { Change, StoredRecord } from '../../src/domain/record.ts';
import type { ScanRange } from '../../src/domain/view.ts';
import type { ColdStore } from '../../src/store/cold-store.ts';

/** The rows of an index over `records`, by the definition of a range. */
export function scanAll(records: Iterable<StoredRecord>, index: string, range: ScanRange): string[] {
  const { after, before, descending } = range;
  const keys = [...records]
    .flatMap(indexRowsOf)
    .filter((row) => indexNameOf(row) === index)
    .map(({ sortKey }) => sortKey)
    .filter((key) => (after === undefined || key > after) && (before === undefined || key < before))
    .sort();
  return descending ? keys.reverse() : keys;
}

export class MemoryColdStore implements ColdStore {
  readonly #records = new Map<string, StoredRecord>();

  get(id: string): StoredRecord | undefined {
    return this.#records.get(id);
  }

  scan(index: string, range: ScanRange): Iterable<string> {
    return scanAll(this.#records.values(), index, range);
  }

  strayRow(index: string, sortKey: string): Error {
    return new Error(`stray row ${sortKey} of ${index}`);
  }

  write(changes: Iterable<Change>): void {
    for (const change of changes) {
      if (change.removed) this.#records.delete(change.id);
      else this.#records.set(change.id, change);
    }
  }
}
