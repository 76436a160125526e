// The memtable holds the records that changed since the last flush began, with their index rows. It
// hides older values in the layers below it. A changed record is an object until its commit batch
// is appended to the log. Then its bytes take its place, because thousands of objects that live for
// seconds cost the garbage collector most. A packed record has a number, by which it is found and
// decoded.

import { assert, defined, elementAt } from '../core/assert.ts';
import { ClusteredMap } from '../core/clustered-map.ts';
import { objectBytes, textBytes } from '../core/heap-bytes.ts';
import { momentOfId } from '../core/ids.ts';
import { indexRowsOf, isSameRow, splitIndexName } from '../domain/indexes.ts';
import type { Change, StoredRecord } from '../domain/record.ts';
import type { IndexRow, ScanRange } from '../domain/view.ts';
import type { PackedChanges } from './cold-store.ts';
import { isWithin, SortedKeys } from './sorted-keys.ts';

/** What each changed record takes besides its bytes: its id, and its entry in the map. */
const recordBytes = 120;
/** What the map of the ids of one moment takes. */
const mapBytes = 250;
/** What a row takes in an index that has many. */
const rowBytes = 16;
/** What an index takes besides its value, and what it takes more once it has a second row. */
const indexBytes = 100;
const sortedBytes = 300;
/** What a list with values takes besides its name and its indexes. */
const listBytes = 250;
/** What a batch takes besides its bytes. */
const batchBytes = 350;

/** The scan of an index that has none in the range. */
export const noKeys: readonly string[] = [];

/** By value, or by list. Most indexes have one row only, which is kept as it is. */
type Indexes = Map<string, SortedKeys | string>;

interface PackedBatch {
  readonly changes: PackedChanges;
  /** The number of its first change. */
  readonly first: number;
}

export class Memtable {
  /** By id: the object, or the number of the packed record. */
  readonly #records = new ClusteredMap<StoredRecord | number>(momentOfId);
  readonly #batches: PackedBatch[] = [];
  #packed = 0;
  readonly #wholeLists: Indexes = new Map();
  /** Those of each list that has values. */
  readonly #valued = new Map<string, Indexes>();
  #bytes = 0;

  /** An estimate of its memory, without the objects of the open commit batch. */
  get bytes(): number {
    return this.#bytes + this.#records.clusterCount * mapBytes;
  }

  get size(): number {
    return this.#records.size;
  }

  has(id: string): boolean {
    return this.#records.has(id);
  }

  /** Puts a changed record. `before`: what it was, where that is known; otherwise it is decoded. */
  put(record: StoredRecord, before?: StoredRecord): void {
    const { id } = record;
    const entry = this.#records.get(id);
    const rows = indexRowsOf(record);
    let rowsBefore: readonly IndexRow[] = [];
    if (entry === undefined) this.#bytes += recordBytes;
    else rowsBefore = indexRowsOf(before ?? this.#decoded(id, entry));
    this.#records.set(id, record);
    for (const row of rowsBefore) if (!hasRow(rows, row)) this.#removeRow(row, id);
    for (const row of rows) if (!hasRow(rowsBefore, row)) this.#addRow(row, id);
  }

  /** Puts a change that was read from the log. It is never packed, so its object is counted. */
  putRestored(record: StoredRecord): void {
    this.put(record);
    this.#bytes += objectBytes(record);
  }

  #addRow({ list, value, sortKey }: IndexRow, id: string): void {
    const indexes = this.#indexesOf(list, value) ?? this.#addList(list);
    const name = value ?? list;
    const keys = indexes.get(name);
    if (keys === undefined) {
      indexes.set(name, sortKey);
      this.#bytes += indexBytes + textBytes(name) + bytesOfRow(sortKey, id);
    } else if (this.#sorted(indexes, name, keys).add(sortKey)) {
      this.#bytes += bytesOfRow(sortKey, id);
    }
  }

  /** The indexes among which that of this list and value is. */
  #indexesOf(list: string, value: string | null): Indexes | undefined {
    return value === null ? this.#wholeLists : this.#valued.get(list);
  }

  #addList(list: string): Indexes {
    const indexes: Indexes = new Map();
    this.#valued.set(list, indexes);
    this.#bytes += listBytes + textBytes(list);
    return indexes;
  }

  /** The rows of an index that gets a second one. */
  #sorted(indexes: Indexes, name: string, keys: SortedKeys | string): SortedKeys {
    if (typeof keys !== 'string') return keys;
    const sorted = new SortedKeys();
    sorted.add(keys);
    indexes.set(name, sorted);
    this.#bytes += sortedBytes;
    return sorted;
  }

  /** An index that becomes empty stays, unless it had one row only. */
  #removeRow({ list, value, sortKey }: IndexRow, id: string): void {
    const indexes = defined(this.#indexesOf(list, value), 'a row that goes was added');
    const name = value ?? list;
    const keys = indexes.get(name);
    if (keys === sortKey) {
      indexes.delete(name);
      this.#bytes -= indexBytes + textBytes(name) + bytesOfRow(sortKey, id);
    } else if (typeof keys === 'object' && keys.delete(sortKey)) this.#bytes -= bytesOfRow(sortKey, id);
  }

  /** Replaces the objects of a commit batch with its bytes, which are in the same order. */
  pack(entries: readonly { readonly changes: readonly Change[] }[], packed: PackedChanges): void {
    this.#batches.push({ changes: packed, first: this.#packed });
    this.#bytes += batchBytes + packed.bytes;
    for (const { changes } of entries) for (const { id } of changes) this.#records.set(id, this.#packed++);
  }

  /** The record if it is still an object, `packed` if the table has its bytes. */
  get(id: string): StoredRecord | 'packed' | undefined {
    const entry = this.#records.get(id);
    return typeof entry === 'number' ? 'packed' : entry;
  }

  /** The record, decoded if it is packed. */
  read(id: string): StoredRecord | undefined {
    const entry = this.#records.get(id);
    return entry === undefined ? undefined : this.#decoded(id, entry);
  }

  #decoded(id: string, entry: StoredRecord | number): StoredRecord {
    if (typeof entry !== 'number') return entry;
    const batches = this.#batches;
    let low = 0;
    let high = batches.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (elementAt(batches, middle).first <= entry) low = middle;
      else high = middle - 1;
    }
    const { changes, first } = elementAt(batches, low);
    const record = changes.read(entry - first, id);
    assert(record.id === id, 'a packed change is that of its record');
    return record;
  }

  scan(index: string, range: ScanRange): Iterable<string> {
    const { list, value } = splitIndexName(index);
    const keys = this.#indexesOf(list, value)?.get(value ?? list);
    if (typeof keys !== 'string') return keys?.scan(range) ?? noKeys;
    return isWithin(keys, range) ? [keys] : noKeys;
  }
}

function hasRow(rows: readonly IndexRow[], row: IndexRow): boolean {
  for (const each of rows) if (isSameRow(each, row)) return true;
  return false;
}

/** A sort key that is the record's id shares its text. */
function bytesOfRow(sortKey: string, id: string): number {
  return sortKey === id ? rowBytes : rowBytes + textBytes(sortKey);
}
