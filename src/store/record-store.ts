// The records of a shard, in three layers: the memtable with what changed since the last flush began, the memtable that is
// being flushed, and the cold store, which is the checkpoint. A record in a layer hides its older values in the layers
// below. A cache beside the layers holds the records that were read lately as objects. Every change is applied here, live
// and in replay.
//
// Memory is bounded in bytes: a flush frees its memtable when the checkpoint has it, and the cache evicts what was not used
// for the longest time. What is not in the checkpoint yet can't be evicted, so the owner begins flushes in time and refuses
// writes while `unwrittenBytes` is too much.

import { assert } from '../core/assert.ts';
import { idOfSortKey, indexRowsOf } from '../domain/indexes.ts';
import type { Change, RecordKind, RecordOf, StoredRecord } from '../domain/record.ts';
import type { ScanRange, View } from '../domain/view.ts';
import { type ColdStore, emptyColdStore } from './cold-store.ts';
import { Memtable } from './memtable.ts';
import type { PackedChanges } from './packed-changes.ts';
import { RecordCache } from './record-cache.ts';

const cacheBytesMaxDefault = 128 * 1024 * 1024;

/** Rows of indexes that a scan leaves out, because what they lead to can't be read. */
export interface Quarantine {
  has(index: string, sortKey: string): boolean;
  /** Throws `error` unless it is about damage. */
  add(index: string, sortKey: string, error: unknown): void;
}

export class RecordStore implements View {
  readonly #cold: ColdStore;
  readonly #cache: RecordCache;
  #memtable = new Memtable();
  #flushing: Memtable | null = null;

  constructor(cold: ColdStore = emptyColdStore, cacheBytesMax = cacheBytesMaxDefault) {
    this.#cold = cold;
    this.#cache = new RecordCache(cacheBytesMax);
  }

  /** Changes how many bytes of records that were read may stay in memory. */
  limitCache(bytesMax: number): void {
    this.#cache.limit(bytesMax);
  }

  /** The bytes of what changed since the last flush began. */
  get memtableBytes(): number {
    return this.#memtable.bytes;
  }

  /** The bytes of what changed and may not be in the checkpoint yet. This can't be evicted. */
  get unwrittenBytes(): number {
    return this.#memtable.bytes + (this.#flushing?.bytes ?? 0);
  }

  /** An estimate of all the memory that records take. */
  get residentBytes(): number {
    return this.unwrittenBytes + this.#cache.bytes;
  }

  /** The number of records in memory. One that lies in two layers is counted twice. */
  get residentCount(): number {
    return this.#memtable.size + (this.#flushing?.size ?? 0) + this.#cache.size;
  }

  apply(change: Change): void {
    this.#memtable.put(change);
    this.#cache.changed(change);
  }

  /** Applies a change that was read from the log. */
  restore(change: Change): void {
    this.#memtable.putRestored(change);
    this.#cache.changed(change);
  }

  /** Replaces the objects of a turn, which was appended to the log, with the bytes of its log batch. */
  pack(entries: readonly { readonly changes: readonly Change[] }[], packed: PackedChanges): void {
    this.#memtable.pack(entries, packed);
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    const record = this.#find(id);
    return record?.kind === kind && !record.removed ? (record as RecordOf<K>) : undefined;
  }

  #find(id: string): StoredRecord | undefined {
    const changed = this.#memtable.get(id);
    if (typeof changed === 'object') return changed;
    const cached = this.#cache.get(id);
    if (cached !== undefined) return cached;
    const read = this.#memtable.read(id) ?? this.#flushing?.read(id) ?? this.#cold.get(id);
    if (read !== undefined && !read.removed) this.#cache.put(read);
    return read;
  }

  *scan(index: string, range: ScanRange, aside?: Quarantine): Iterable<StoredRecord> {
    for (const key of this.#keys(index, range)) {
      if (aside?.has(index, key)) continue;
      let record: StoredRecord;
      try {
        record = this.#ofRow(index, key);
      } catch (error) {
        if (aside === undefined) throw error;
        aside.add(index, key, error);
        continue;
      }
      yield record;
    }
  }

  /** The record of an index row. Rows have no checksum, so one that its record does not ask for is refused. */
  #ofRow(index: string, key: string): StoredRecord {
    const record = this.#find(idOfSortKey(index, key));
    const isRight = record && indexRowsOf(record).some((row) => row.index === index && row.sortKey === key);
    if (isRight !== true) throw this.#cold.strayRow(index, key);
    return record!;
  }

  /** The number of records in an index. It walks over all keys of the index, but reads no record. */
  count(index: string): number {
    let count = 0;
    for (const _key of this.#keys(index, { descending: false })) count++;
    return count;
  }

  #keys(index: string, range: ScanRange): Iterable<string> {
    const memtable = this.#memtable;
    const flushing = this.#flushing;
    const layers = [memtable.scan(index, range)];
    const visible = (key: string, hiddenBy: readonly Memtable[]) =>
      !hiddenBy.some((layer) => layer.has(idOfSortKey(index, key)));
    if (flushing !== null)
      layers.push(filter(flushing.scan(index, range), (key) => visible(key, [memtable])));
    const upper = flushing === null ? [memtable] : [memtable, flushing];
    layers.push(filter(this.#cold.scan(index, range), (key) => visible(key, upper)));
    return mergeSorted(layers, range.descending);
  }

  /** Begins a flush. The flushed records stay readable in memory until `endFlush`. */
  beginFlush(): void {
    assert(this.#flushing === null, 'a flush begins after the one before has ended');
    this.#flushing = this.#memtable;
    this.#memtable = new Memtable();
  }

  /** Ends the flush: the checkpoint now has its records. */
  endFlush(): void {
    assert(this.#flushing !== null, 'a flush that ends has begun');
    this.#flushing = null;
  }
}

function* filter(keys: Iterable<string>, keep: (key: string) => boolean): Iterable<string> {
  for (const key of keys) if (keep(key)) yield key;
}

/** Merges sorted sequences that have no key in common. */
function* mergeSorted(sources: readonly Iterable<string>[], descending: boolean): Iterable<string> {
  const iterators = sources.map((source) => source[Symbol.iterator]());
  try {
    const heads = iterators.map((iterator) => iterator.next());
    for (;;) {
      let best = -1;
      for (let i = 0; i < heads.length; i++) {
        const head = heads[i]!;
        if (head.done) continue;
        if (best < 0 || (descending ? head.value > heads[best]!.value : head.value < heads[best]!.value))
          best = i;
      }
      if (best < 0) return;
      yield heads[best]!.value;
      heads[best] = iterators[best]!.next();
    }
  } finally {
    for (const iterator of iterators) iterator.return?.();
  }
}
