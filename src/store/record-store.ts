// The records of a shard, in three layers: the memtable, the memtable that is being flushed, and
// the checkpoint as cold store. A record in a layer hides its older values in the layers below. A
// cache beside them holds records that were read lately. Every change is applied here, live and in
// replay. What is not in the checkpoint yet can't be evicted, so the owner begins flushes in time
// and refuses writes while `unwrittenBytes` is too much.

import { assert } from '../core/assert.ts';
import { hasIndexRow, idsIn } from '../domain/indexes.ts';
import type { Change, RecordKind, RecordOf, StoredRecord } from '../domain/record.ts';
import type { ScanRange, View } from '../domain/view.ts';
import { type ColdStore, emptyColdStore, type PackedChanges } from './cold-store.ts';
import { Memtable, noKeys } from './memtable.ts';
import { RecordCache } from './record-cache.ts';

/** Rows of indexes that a scan leaves out: what they lead to can't be read. */
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

  constructor(cold: ColdStore = emptyColdStore, cacheBytesMax = Infinity) {
    this.#cold = cold;
    this.#cache = new RecordCache(cacheBytesMax);
  }

  limitCache(bytesMax: number): void {
    this.#cache.limit(bytesMax);
  }

  /** The bytes of what changed since the last flush began. */
  get memtableBytes(): number {
    return this.#memtable.bytes;
  }

  /** The bytes of what changed and may not be in the checkpoint yet. */
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
    this.#memtable.put(change, this.#cache.changed(change));
  }

  /** Applies a change that was read from the log. */
  restore(change: Change): void {
    this.#memtable.putRestored(change);
    this.#cache.changed(change);
  }

  /** Replaces the objects of a commit batch, which was appended to the log, with its bytes. */
  pack(entries: readonly { readonly changes: readonly Change[] }[], packed: PackedChanges): void {
    this.#memtable.pack(entries, packed);
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    const record = this.#find(id);
    return record?.kind === kind && !record.removed ? (record as RecordOf<K>) : undefined;
  }

  /** Keeps the newest value of a record as an object, because it is going to be read soon. */
  keepAtHand(record: StoredRecord): void {
    if (!this.#cache.has(record.id)) this.#cache.put(record);
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

  *scan(index: string, range: ScanRange, quarantine?: Quarantine): Iterable<StoredRecord> {
    const idOf = idsIn(index);
    for (const key of this.#keys(index, range)) {
      if (quarantine?.has(index, key)) continue;
      let record: StoredRecord;
      try {
        record = this.#ofRow(index, key, idOf(key));
      } catch (error) {
        if (quarantine === undefined) throw error;
        quarantine.add(index, key, error);
        continue;
      }
      yield record;
    }
  }

  /** The record of an index row, which has no checksum: one that its record lacks is refused. */
  #ofRow(index: string, key: string, id: string): StoredRecord {
    const record = this.#find(id);
    if (record === undefined || !hasIndexRow(record, index, key)) throw this.#cold.strayRow(index, key);
    return record;
  }

  /** The number of records in an index. It walks over all keys, but reads no record. */
  count(index: string): number {
    let count = 0;
    for (const _key of this.#keys(index, { descending: false })) count++;
    return count;
  }

  #keys(index: string, range: ScanRange): Iterable<string> {
    const memtable = this.#memtable;
    const flushing = this.#flushing;
    const idOf = idsIn(index);
    const changed = memtable.scan(index, range);
    const cold = filter(this.#cold.scan(index, range), (key) => {
      const id = idOf(key);
      return !memtable.has(id) && !flushing?.has(id);
    });
    const layers = [changed, cold];
    if (flushing !== null)
      layers.push(filter(flushing.scan(index, range), (key) => !memtable.has(idOf(key))));
    else if (changed === noKeys) return cold;
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
    const heads = iterators.map((iterator) => ({ iterator, next: iterator.next() }));
    for (;;) {
      let best: (typeof heads)[number] | null = null;
      for (const head of heads) {
        if (head.next.done) continue;
        const { value } = head.next;
        if (best === null || (descending ? value > best.next.value : value < best.next.value)) best = head;
      }
      if (best === null) return;
      yield best.next.value;
      best.next = best.iterator.next();
    }
  } finally {
    for (const iterator of iterators) iterator.return?.();
  }
}
