// The records of a shard, in layers: what changed since the last checkpoint began (the memtable), what a running checkpoint
// is writing, clean records that were used lately, and behind them the checkpoint itself, the cold store. A layer hides
// what lies below it for the records that it holds. `apply` is the only writer, live and in replay.
//
// Memory is bounded in bytes, as `objectBytes` estimates them: a checkpoint moves the memtable's records to the cache, and
// the cache evicts what was not used for longest once it holds more than it may. What a checkpoint has not written yet
// can't be evicted: its owner begins checkpoints in time, and takes no writes while `unwrittenBytes` is too much.

import { assert } from '../core/assert.ts';
import { idOfSortKey } from '../domain/indexes.ts';
import type { Change, RecordKind, RecordOf, StoredRecord } from '../domain/record.ts';
import type { ScanRange, View } from '../domain/view.ts';
import { type ColdStore, emptyColdStore } from './cold-store.ts';
import { Memtable } from './memtable.ts';
import { RecordCache } from './record-cache.ts';

const cleanBytesMaxDefault = 128 * 1024 * 1024;

export class RecordStore implements View {
  readonly #cold: ColdStore;
  readonly #clean: RecordCache;
  #memtable = new Memtable();
  #flushing: Memtable | null = null;

  constructor(cold: ColdStore = emptyColdStore, cleanBytesMax = cleanBytesMaxDefault) {
    this.#cold = cold;
    this.#clean = new RecordCache(cleanBytesMax);
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
    return this.unwrittenBytes + this.#clean.bytes;
  }

  /** The number of records in memory. */
  get residentCount(): number {
    return this.#memtable.records.size + (this.#flushing?.records.size ?? 0) + this.#clean.size;
  }

  apply(change: Change): void {
    this.#memtable.put(change);
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    const record = this.#find(id);
    return record?.kind === kind && !record.removed ? (record as RecordOf<K>) : undefined;
  }

  #find(id: string): StoredRecord | undefined {
    const changed = this.#memtable.records.get(id) ?? this.#flushing?.records.get(id) ?? this.#clean.get(id);
    if (changed !== undefined) return changed;
    const stored = this.#cold.get(id);
    if (stored !== undefined) this.#clean.put(stored);
    return stored;
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
      !hiddenBy.some((layer) => layer.records.has(idOfSortKey(index, key)));
    if (flushing !== null)
      layers.push(filter(flushing.scan(index, range), (key) => visible(key, [memtable])));
    const upper = flushing === null ? [memtable] : [memtable, flushing];
    layers.push(filter(this.#cold.scan(index, range), (key) => visible(key, upper)));
    return mergeSorted(layers, range.descending);
  }

  /** A checkpoint begins to write what has changed, which stays readable in memory until `endFlush`. */
  beginFlush(): ReadonlyMap<string, StoredRecord> {
    assert(this.#flushing === null, 'one checkpoint at a time');
    this.#flushing = this.#memtable;
    this.#memtable = new Memtable();
    return this.#flushing.records;
  }

  /** The checkpoint now holds what it began to write. Attempts, which are large and hardly ever read, leave memory. */
  endFlush(): void {
    const flushing = this.#flushing;
    assert(flushing !== null, 'no checkpoint is running');
    for (const id of flushing.takeLeavingMemory()) this.#clean.delete(id);
    this.#clean.adopt(flushing);
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
