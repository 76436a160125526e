// The memtable: the records that changed since a checkpoint began, with their index rows. It hides what the layers below it
// hold of the same records.
//
// A changed record is an object until its turn was appended to the log, and the log batch's bytes from then on: nearly
// everything that commands write is not read again before the checkpoint has it, and thousands of objects that live for
// seconds are what costs the collector most. What is read is decoded, by its number among all that was packed.

import { objectBytes, textBytes } from '../core/heap-bytes.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import type { Change, StoredRecord } from '../domain/record.ts';
import type { IndexRow, ScanRange } from '../domain/view.ts';
import type { PackedChanges } from './packed-changes.ts';
import { SortedKeys } from './sorted-keys.ts';

/** What is kept for each changed record besides its bytes: its id, and its place in the table. */
const recordBytes = 120;
/** A row of an index that has many. */
const rowBytes = 16;
/** An index besides its name: most have one row only. */
const indexBytes = 400;
/** A batch besides its bytes. */
const batchBytes = 350;

interface Batch {
  readonly changes: PackedChanges;
  /** The number of its first change among all that was packed. */
  readonly first: number;
}

export class Memtable {
  /** By id: the object, or the number of the packed change. */
  readonly #records = new Map<string, StoredRecord | number>();
  readonly #batches: Batch[] = [];
  #packed = 0;
  readonly #indexes = new Map<string, SortedKeys>();
  #bytes = 0;

  /** About what all of it takes in memory, besides the objects of the turn under way. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#records.size;
  }

  has(id: string): boolean {
    return this.#records.has(id);
  }

  put(record: StoredRecord): void {
    const { id } = record;
    const held = this.#records.get(id);
    const rows = indexRowsOf(record);
    if (held === undefined) this.#bytes += recordBytes;
    else this.#removeStale(id, indexRowsOf(this.#decoded(held)), rows);
    this.#records.set(id, record);
    for (const row of rows) this.#addRow(row, id);
  }

  /** Puts a change that was read from the log: nothing packs it, so it counts as the object that it is. */
  putRestored(record: StoredRecord): void {
    this.put(record);
    this.#bytes += objectBytes(record);
  }

  #addRow({ index, sortKey }: IndexRow, id: string): void {
    let keys = this.#indexes.get(index);
    if (keys === undefined) {
      keys = new SortedKeys();
      this.#indexes.set(index, keys);
      this.#bytes += indexBytes + textBytes(index);
    }
    if (keys.add(sortKey)) this.#bytes += bytesOfRow(sortKey, id);
  }

  /** An index that is empty now stays, and stays counted. */
  #removeStale(id: string, before: readonly IndexRow[], after: readonly IndexRow[]): void {
    for (const { index, sortKey } of before) {
      if (after.some((row) => row.index === index && row.sortKey === sortKey)) continue;
      if (this.#indexes.get(index)?.delete(sortKey)) this.#bytes -= bytesOfRow(sortKey, id);
    }
  }

  /** Lets the objects of a turn go for the bytes that the log took of them, in the same order. */
  pack(entries: readonly { readonly changes: readonly Change[] }[], packed: PackedChanges): void {
    this.#batches.push({ changes: packed, first: this.#packed });
    this.#bytes += batchBytes + packed.bytes;
    for (const { changes } of entries) for (const { id } of changes) this.#records.set(id, this.#packed++);
  }

  /** The record when it is still an object; else whether its bytes are here. */
  get(id: string): StoredRecord | 'packed' | undefined {
    const held = this.#records.get(id);
    return typeof held === 'number' ? 'packed' : held;
  }

  /** The record, decoded if need be. */
  read(id: string): StoredRecord | undefined {
    const held = this.#records.get(id);
    return held === undefined ? undefined : this.#decoded(held);
  }

  #decoded(held: StoredRecord | number): StoredRecord {
    if (typeof held !== 'number') return held;
    const batches = this.#batches;
    let low = 0;
    let high = batches.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (batches[middle]!.first <= held) low = middle;
      else high = middle - 1;
    }
    const { changes, first } = batches[low]!;
    return changes.read(held - first);
  }

  scan(index: string, range: ScanRange): Iterable<string> {
    return this.#indexes.get(index)?.scan(range) ?? [];
  }
}

/** A sort key that is the record's id takes no more than its place. */
function bytesOfRow(sortKey: string, id: string): number {
  return sortKey === id ? rowBytes : rowBytes + textBytes(sortKey);
}
