// The records of a shard, in layers: what changed since the last checkpoint began (the memtable), what a running checkpoint
// is writing, and behind them the checkpoint itself, the cold store. A layer hides what lies below it for the records that
// it holds. Beside them, a cache holds as objects what was read lately, whichever layer it is from. `apply` is the only
// writer, live and in replay.
//
// Memory is bounded in bytes: a checkpoint lets go of what it has written, and the cache evicts what was not used for
// longest once it holds more than it may. What a checkpoint has not written yet can't be evicted: its owner begins
// checkpoints in time, and takes no writes while `unwrittenBytes` is too much.

import { assert } from '../core/assert.ts';
import { idOfSortKey } from '../domain/indexes.ts';
import type { Change, RecordKind, RecordOf, StoredRecord } from '../domain/record.ts';
import type { ScanRange, View } from '../domain/view.ts';
import { type ColdStore, emptyColdStore } from './cold-store.ts';
import { Memtable } from './memtable.ts';
import type { PackedChanges } from './packed-changes.ts';
import { RecordCache } from './record-cache.ts';

const cacheBytesMaxDefault = 128 * 1024 * 1024;

export class RecordStore implements View {
  readonly #cold: ColdStore;
  readonly #cache: RecordCache;
  #memtable = new Memtable();
  #flushing: Memtable | null = null;

  constructor(cold: ColdStore = emptyColdStore, cacheBytesMax = cacheBytesMaxDefault) {
    this.#cold = cold;
    this.#cache = new RecordCache(cacheBytesMax);
  }

  /** What changed since the last checkpoint began. */
  get memtableBytes(): number {
    return this.#memtable.bytes;
  }

  /** What changed and is not known to be in the checkpoint: all that can't be evicted. */
  get unwrittenBytes(): number {
    return this.#memtable.bytes + (this.#flushing?.bytes ?? 0);
  }

  /** About what everything in memory takes. */
  get residentBytes(): number {
    return this.unwrittenBytes + this.#cache.bytes;
  }

  /** The number of records in memory, those twice that lie in two layers. */
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

  /** The log has taken what was applied since the last turn, as these bytes. */
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

  *scan(index: string, range: ScanRange): Iterable<StoredRecord> {
    for (const key of this.#keys(index, range)) {
      const record = this.#find(idOfSortKey(index, key));
      assert(record !== undefined, `index ${index} names ${key}, which does not exist`);
      yield record;
    }
  }

  /** How many records an index has; walks over all of its keys, but reads no record. */
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

  /** A checkpoint begins to write what has changed, which stays readable in memory until `endFlush`. */
  beginFlush(): void {
    assert(this.#flushing === null, 'one checkpoint at a time');
    this.#flushing = this.#memtable;
    this.#memtable = new Memtable();
  }

  /** The checkpoint now holds what it began to write. */
  endFlush(): void {
    assert(this.#flushing !== null, 'no checkpoint is running');
    this.#flushing = null;
  }
}

function* filter(keys: Iterable<string>, keep: (key: string) => boolean): Iterable<string> {
  for (const key of keys) if (keep(key)) yield key;
}

/** Merges sorted sequences of which no two hold the same key. */
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
