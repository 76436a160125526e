// What the records of a shard say of the memory that they take is compared with what they hold: flushes begin by it, writes are
// refused and the cache is emptied. It is an estimate, so it need only be about right.

import { objectBytes, textBytes } from '../../../src/core/heap-bytes.ts';
import { momentOfId } from '../../../src/core/ids.ts';
import { indexNameOf, indexRowsOf } from '../../../src/domain/indexes.ts';
import type { Change, StoredRecord } from '../../../src/domain/record.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import type { World } from '../world/world.ts';
import type { PlainRecords } from './plain-records.ts';

/** What each of these takes besides the bytes that it holds. */
const of = { record: 120, moment: 250, batch: 350, list: 250, index: 100, manyRows: 300, row: 16 };
const tolerance = 0.1;

/** What has changed since a flush began. */
class Changes {
  readonly ids = new Set<string>();
  readonly indexes = new Set<string>();
  bytes = 0;
}

export class CountedMemory {
  readonly #world: World;
  readonly #store: RecordStore;
  #changes = new Changes();
  #flushing: Changes | null = null;
  #largest: number;
  /** How many bytes the cache may have. */
  cacheBytesMax: number;

  constructor(world: World, store: RecordStore, records: readonly StoredRecord[], cacheBytesMax: number) {
    this.#world = world;
    this.#store = store;
    this.cacheBytesMax = cacheBytesMax;
    this.#largest = records.reduce((largest, record) => Math.max(largest, objectBytes(record)), 0);
  }

  limited(bytesMax: number): void {
    this.cacheBytesMax = bytesMax;
    this.checkCache();
  }

  changed(change: Change): void {
    this.#changes.ids.add(change.id);
    for (const row of indexRowsOf(change)) this.#changes.indexes.add(indexNameOf(row));
    this.#largest = Math.max(this.#largest, objectBytes(change));
  }

  restored(change: Change): void {
    this.#changes.bytes += objectBytes(change);
  }

  packed(bytes: number): void {
    this.#changes.bytes += of.batch + bytes;
  }

  flushing(): void {
    this.#flushing = this.#changes;
    this.#changes = new Changes();
    this.#is(this.#store.memtableBytes, 0, 'of what has changed since a flush has just begun');
  }

  flushed(): void {
    this.#flushing = null;
    this.#is(this.#store.unwrittenBytes, this.#store.memtableBytes, 'of what no flush has written');
  }

  #is(bytes: number, wanted: number, what: string): void {
    this.#check(bytes === wanted, () => `${bytes} bytes ${what}, not ${wanted}`);
  }

  /** Of what was damaged nobody knows what the cold store has. */
  #check(holds: boolean, what: () => string): void {
    if (!this.#world.isDamaged) this.#world.judge.check('memory is counted as it is used', holds, what);
  }

  /** What has changed is packed, and no flush is under way. */
  check(records: PlainRecords): void {
    const { memtableBytes } = this.#store;
    const { ids, indexes, bytes } = this.#changes;
    const moments = new Set(Array.from(ids, momentOfId));
    const least = bytes + of.record * ids.size + of.moment * moments.size + bytesOfRows(ids, records);
    // An index may stay that has no row any more.
    const most = least + (of.index + of.manyRows) * indexes.size;
    this.#check(
      memtableBytes >= (1 - tolerance) * least && memtableBytes <= (1 + tolerance) * most,
      () => `${ids.size} changed records take about ${least} to ${most} bytes, not ${memtableBytes}`,
    );
    this.#is(this.#store.unwrittenBytes, memtableBytes, 'of what is to be written');
  }

  checkCache(): void {
    const { residentBytes, unwrittenBytes, residentCount } = this.#store;
    const bytes = residentBytes - unwrittenBytes;
    const count = residentCount - this.#changes.ids.size - (this.#flushing?.ids.size ?? 0);
    this.#check(
      count >= 0 && bytes >= 100 * count && bytes <= this.#largest * count,
      () => `the cache has ${count} records of up to ${this.#largest} bytes, and not ${bytes} bytes`,
    );
    const most = Math.max(this.cacheBytesMax, this.#largest);
    this.#check(bytes <= most, () => `the cache has ${bytes} bytes, and may have ${most}`);
  }
}

/** What the rows of these records take in their indexes. */
function bytesOfRows(ids: Iterable<string>, records: PlainRecords): number {
  const rowsIn = new Map<string, number>();
  const lists = new Set<string>();
  let bytes = 0;
  for (const id of ids) {
    const record = records.get(id);
    for (const row of record === undefined ? [] : indexRowsOf(record)) {
      const { list, value, sortKey } = row;
      const name = indexNameOf(row);
      const count = rowsIn.get(name) ?? 0;
      rowsIn.set(name, count + 1);
      bytes += of.row + (sortKey === id ? 0 : textBytes(sortKey));
      if (count === 0) bytes += of.index + textBytes(value ?? list);
      if (count === 1) bytes += of.manyRows;
      if (value !== null && !lists.has(list)) bytes += of.list + textBytes(list);
      if (value !== null) lists.add(list);
    }
  }
  return bytes;
}
