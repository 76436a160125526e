// The index rows of the checkpoint, and the numbers of the lists in their keys (see index-keys.ts),
// which never change. LMDB splits a full page in the middle, and new rows mostly belong at the end
// of a list, also where values are ids: written in order, they would leave every page half empty.
// So a little more than every second row is written first, and the others then fill the pages.

import { pieceSize } from '../../core/piece-size.ts';
import type { Table } from '../../disk/environment.ts';
import { type IndexedRecord, isSameRow, splitIndexName } from '../../domain/indexes.ts';
import type { IndexRow, ScanRange } from '../../domain/view.ts';
import { ByteWriter } from '../records/byte-writer.ts';
import { compareBytes } from '../records/compare-bytes.ts';
import { unpackText } from '../records/packed-text.ts';
import { indexPrefix, numberBytes, scanBounds, writeRowKey } from './index-keys.ts';

/** The rows of all indexes to which a record belongs. */
export type IndexRowsOf = (record: IndexedRecord) => readonly IndexRow[];

export type Read = <T>(read: () => T) => T;

const nothing = Buffer.alloc(0);
const knownMax = pieceSize(100_000);

/** So many indexes have their newest keys in memory, and of each so many: a page and one more. */
const newestIndexesMax = pieceSize(500);
const newestKeysMax = pieceSize(101);

/** The newest keys of an index, newest first, as far as they were read. */
interface NewestKeys {
  readonly keys: string[];
  /** Whether the index has no others. */
  isWhole: boolean;
}

/** The rows of a list that the next transaction writes, whatever their indexes. */
interface Gathered {
  readonly number: Buffer;
  /**
   * Twice the place of each row's key among the gathered bytes, one more if it is to be removed.
   */
  readonly rows: number[];
  isSorted: boolean;
}

export class IndexTable {
  readonly #rows: Table;
  readonly #lists: Table;
  readonly #read: Read;
  /** The numbers of the lists that were used lately. */
  readonly #known = new Map<string, number>();
  readonly #gathered = new Map<string, Gathered>();
  /**
   * The keys of the gathered rows, each behind its length (u8): objects would take ten times as
   * much.
   */
  readonly #keys = new ByteWriter();
  /** The lists whose numbers the next transaction writes. */
  readonly #added = new Map<string, number>();
  /** What every list begins with, which is asked for again and again. */
  readonly #newest = new Map<string, NewestKeys>();
  /** The number of lists; null until it is needed. */
  #count: number | null = null;

  /** `lists` holds the number of each list by its name. */
  constructor(rows: Table, lists: Table, read: Read) {
    this.#rows = rows;
    this.#lists = lists;
    this.#read = read;
  }

  *scan(index: string, range: ScanRange): Generator<string> {
    const { after, before, descending } = range;
    if (!descending || after !== undefined || before !== undefined) return yield* this.#stored(index, range);
    const newest = this.#newestOf(index);
    const { keys } = newest;
    let passed = 0;
    for (; passed < keys.length; passed++) yield keys[passed]!;
    if (newest.isWhole) return;
    for (const key of this.#stored(index, { before: keys.at(-1), descending })) {
      // Another scan may have read it meanwhile.
      if (passed === keys.length && passed < newestKeysMax) keys.push(key);
      passed++;
      yield key;
    }
    newest.isWhole = passed === keys.length;
  }

  #newestOf(index: string): NewestKeys {
    const known = this.#newest.get(index);
    if (known !== undefined) return known;
    if (this.#newest.size >= newestIndexesMax) this.#newest.clear();
    const newest = { keys: [], isWhole: false };
    this.#newest.set(index, newest);
    return newest;
  }

  /** Forgets what was read, because somebody has written. */
  renew(): void {
    this.#newest.clear();
  }

  *#stored(index: string, range: ScanRange): Generator<string> {
    const { list, value } = splitIndexName(index);
    const number = this.#numberOf(list);
    if (number === undefined) return;
    const prefix = indexPrefix(number, value);
    const keys = this.#read(() => this.#rows.getKeys(scanBounds(prefix, range))[Symbol.iterator]());
    try {
      for (;;) {
        const { done, value: key } = this.#read(() => keys.next());
        if (done === true) return;
        yield unpackText(key, prefix.length);
      }
    } finally {
      keys.return?.();
    }
  }

  /** The first list after `text`, by the bytes of the names, of all lists that ever had a row. */
  listAfter(text: string): string | undefined {
    const range = { start: Buffer.from(text), exclusiveStart: true, limit: 1 };
    const [name] = this.#read(() => [...this.#lists.getKeys(range)]);
    return name && Buffer.from(name).toString();
  }

  #numberOf(list: string): number | undefined {
    const known = this.#known.get(list) ?? this.#added.get(list);
    if (known !== undefined) return known;
    const number = this.#read(() => this.#lists.get(Buffer.from(list)))?.readUInt32LE(0);
    if (number !== undefined) this.#remember(list, number);
    return number;
  }

  #remember(list: string, number: number): void {
    if (this.#known.size >= knownMax) this.#known.clear();
    this.#known.set(list, number);
  }

  /** Gathers the difference between a record's rows before and after a change. */
  change(before: readonly IndexRow[], after: readonly IndexRow[]): void {
    for (const row of before) if (!holds(after, row)) this.#gather(row, true);
    for (const row of after) if (!holds(before, row)) this.#gather(row, false);
  }

  #gather({ list, value, sortKey }: IndexRow, isRemoved: boolean): void {
    const gathered = this.#gathered.get(list) ?? this.#begin(list);
    const at = this.#keys.skip(1);
    const length = writeRowKey(this.#keys, gathered.number, value, sortKey);
    this.#keys.buffer[at] = length;
    const { rows } = gathered;
    const row = 2 * at + (isRemoved ? 1 : 0);
    if (gathered.isSorted && rows.length > 0) gathered.isSorted = this.#compare(rows.at(-1)!, row) <= 0;
    rows.push(row);
  }

  #begin(list: string): Gathered {
    const number = numberBytes(this.#numberOf(list) ?? this.#add(list));
    const gathered = { number, rows: [], isSorted: true };
    this.#gathered.set(list, gathered);
    return gathered;
  }

  #keyAt(row: number): Buffer {
    const { buffer } = this.#keys;
    const start = (row >>> 1) + 1;
    return buffer.subarray(start, start + buffer[start - 1]!);
  }

  /** The order of the keys of two gathered rows. */
  #compare(a: number, b: number): number {
    const { buffer } = this.#keys;
    const aAt = a >>> 1;
    const bAt = b >>> 1;
    return compareBytes(buffer, aAt + 1, buffer[aAt]!, buffer, bAt + 1, buffer[bAt]!);
  }

  #add(list: string): number {
    const number = (this.#count ?? this.#read(() => this.#lists.getCount({}))) + 1;
    this.#count = number;
    this.#added.set(list, number);
    this.#remember(list, number);
    return number;
  }

  write(): void {
    for (const [list, number] of this.#added) {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(number);
      this.#lists.putSync(Buffer.from(list), bytes);
    }
    const inOrder = [...this.#gathered.values()].sort((a, b) => a.number.compare(b.number));
    for (const { rows, isSorted } of inOrder) {
      if (!isSorted) rows.sort((a, b) => this.#compare(a, b));
      for (const isFirst of [true, false]) {
        for (let i = 0; i < rows.length; i++) {
          if (firstOfNine[i % 9] !== isFirst) continue;
          const key = this.#keyAt(rows[i]!);
          if ((rows[i]! & 1) === 1) this.#rows.removeSync(key);
          else this.#rows.putSync(key, nothing);
        }
      }
    }
    this.#added.clear();
    this.#gathered.clear();
    this.#keys.clear();
    this.renew();
  }
}

/**
 * Of nine rows, those that are written first. They leave the pages half full, and the others fit
 * in.
 */
const firstOfNine = [true, false, true, false, true, false, true, false, true];

function holds(rows: readonly IndexRow[], row: IndexRow): boolean {
  return rows.some((each) => isSameRow(each, row));
}
