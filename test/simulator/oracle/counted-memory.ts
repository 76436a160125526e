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
const tolerance = 0.02;

/** What has changed since a flush began. */
class Changes {
  readonly ids = new Set<string>();
  /** The indexes that had a row, and how often one was added. */
  readonly indexes = new Map<string, number>();
  readonly lists = new Set<string>();
  bytes = 0;
}

export class CountedMemory {
  readonly #world: World;
  readonly #store: RecordStore;
  #changes = new Changes();
  #flushing: Changes | null = null;
  #flushingBytes = 0;
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
    const { indexes, lists } = this.#changes;
    for (const row of indexRowsOf(change)) {
      const name = indexNameOf(row);
      indexes.set(name, (indexes.get(name) ?? 0) + 1);
      if (row.value !== null) lists.add(row.list);
    }
    this.#largest = Math.max(this.#largest, objectBytes(change));
  }

  restored(change: Change): void {
    this.#changes.bytes += objectBytes(change);
  }

  packed(bytes: number): void {
    this.#changes.bytes += of.batch + bytes;
  }

  /** `before` is what the memtable had said. */
  flushing(before: number): void {
    this.#flushing = this.#changes;
    this.#flushingBytes = before;
    this.#changes = new Changes();
    this.#is(this.#store.memtableBytes, 0, 'of what has changed since a flush has just begun');
  }

  flushed(): void {
    this.#flushing = null;
    this.#flushingBytes = 0;
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
    const { ids, bytes } = this.#changes;
    const moments = new Set(Array.from(ids, momentOfId));
    const rows = rowsOf(ids, records);
    const least = bytes + of.record * ids.size + of.moment * moments.size + rows.bytes;
    const most = least + this.#bytesLeft(rows);
    this.#check(
      memtableBytes >= (1 - tolerance) * least && memtableBytes <= (1 + tolerance) * most,
      () => `${ids.size} changed records take about ${least} to ${most} bytes, not ${memtableBytes}`,
    );
  }

  /** An index stays that had several rows, and a list with values that had one. */
  #bytesLeft(rows: Rows): number {
    const { indexes, lists } = this.#changes;
    let bytes = 0;
    for (const [name, added] of indexes) {
      const count = rows.countIn.get(name) ?? 0;
      if (added > 1 && count < 2) bytes += of.manyRows + (count === 0 ? of.index + textBytes(name) : 0);
    }
    for (const list of lists) if (!rows.lists.has(list)) bytes += of.list + textBytes(list);
    return bytes;
  }

  checkCache(): void {
    const { residentBytes, unwrittenBytes, memtableBytes, residentCount } = this.#store;
    this.#is(unwrittenBytes, memtableBytes + this.#flushingBytes, 'of what is to be written');
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

/** The rows of some records, by index, the lists with values among them, and what they take. */
interface Rows {
  readonly countIn: ReadonlyMap<string, number>;
  readonly lists: ReadonlySet<string>;
  readonly bytes: number;
}

function rowsOf(ids: Iterable<string>, records: PlainRecords): Rows {
  const countIn = new Map<string, number>();
  const lists = new Set<string>();
  let bytes = 0;
  for (const id of ids) {
    const record = records.get(id);
    for (const row of record === undefined ? [] : indexRowsOf(record)) {
      const { list, value, sortKey } = row;
      const name = indexNameOf(row);
      const count = countIn.get(name) ?? 0;
      countIn.set(name, count + 1);
      bytes += of.row + (sortKey === id ? 0 : textBytes(sortKey));
      if (count === 0) bytes += of.index + textBytes(value ?? list);
      if (count === 1) bytes += of.manyRows;
      if (value !== null && !lists.has(list)) bytes += of.list + textBytes(list);
      if (value !== null) lists.add(list);
    }
  }
  return { countIn, lists, bytes };
}
