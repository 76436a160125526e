// The state of a shard in memory, in layers: what changed since the last checkpoint began (`dirty`), what a running
// checkpoint is writing (`frozen`), clean records that were used lately, and behind them the checkpoint itself. A
// layer hides what lies below it for the records it holds. `apply` is the only writer, live and in replay.
//
// Memory is bounded in bytes, as `objectBytes` estimates them: a checkpoint moves dirty records to the clean cache, and
// the cache evicts what was not used for longest once it holds more than it may. What a checkpoint has not written yet
// can't be evicted: its owner begins checkpoints in time, and takes no writes while `unwrittenBytes` is too much.

import { assert } from '../core/assert.ts';
import { objectBytes } from '../core/heap-bytes.ts';
import { SortedKeys } from '../core/sorted-keys.ts';
import { type Backing, emptyBacking, type ScanRange } from './backing.ts';
import { idOfSortKey, indexRowsOf } from './indexes.ts';
import type { Change, RecordKind, RecordOf, StoredRecord } from './record.ts';

/** What `decide` and the queries read: synchronous, and always the newest value. */
export interface View {
  /** The record, or undefined when there is none of this kind with this id in any organization. */
  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined;
  /** The records of an index in the order of their sort keys, lazily. */
  scan(index: string, range: ScanRange): Iterable<StoredRecord>;
}

/** About what a row of an index takes in memory: its sort key, and now and then an index of its own. */
const rowBytes = 300;

/** Changed records with their own index rows. */
class Layer {
  readonly records = new Map<string, StoredRecord>();
  /** Of the records alone. */
  recordBytes = 0;
  #rows = 0;
  readonly #indexes = new Map<string, SortedKeys>();
  /** Ids of records that do not stay in memory once they are on disk. */
  readonly #leaving: string[] = [];

  /** Of the records and their index rows. */
  get bytes(): number {
    return this.recordBytes + this.#rows * rowBytes;
  }

  put(record: StoredRecord): void {
    if (isLeaving(record)) this.#leaving.push(record.id);
    const before = this.records.get(record.id);
    const rows = indexRowsOf(record);
    this.recordBytes += objectBytes(record);
    this.#rows += rows.length;
    if (before !== undefined) {
      const rowsBefore = indexRowsOf(before);
      this.recordBytes -= objectBytes(before);
      this.#rows -= rowsBefore.length;
      for (const row of rowsBefore) {
        if (!rows.some(({ index, sortKey }) => index === row.index && sortKey === row.sortKey))
          this.#indexes.get(row.index)?.delete(row.sortKey);
      }
    }
    this.records.set(record.id, record);
    for (const row of rows) {
      let keys = this.#indexes.get(row.index);
      if (keys === undefined) {
        keys = new SortedKeys();
        this.#indexes.set(row.index, keys);
      }
      keys.add(row.sortKey);
    }
  }

  scan(index: string, range: ScanRange): Iterable<string> {
    return this.#indexes.get(index)?.scan(range) ?? [];
  }

  /** Takes the records out that do not stay in memory, and names them. */
  takeLeaving(): string[] {
    const ids = this.#leaving.filter((id) => isLeaving(this.records.get(id)));
    for (const id of ids) {
      const record = this.records.get(id);
      if (record === undefined) continue;
      this.recordBytes -= objectBytes(record);
      this.records.delete(id);
    }
    return ids;
  }
}

function isLeaving(record: StoredRecord | undefined): boolean {
  return record !== undefined && (record.removed === true || record.kind === 'attempt');
}

/** The cache is that many generations, each of as many bytes. */
const generationsMax = 8;

interface Generation {
  readonly records: Map<string, StoredRecord>;
  bytes: number;
}

/**
 * Clean records in generations: a record that is used moves to the youngest, and what is too much is evicted with
 * the oldest. A copy that stays behind in an older generation is hidden by the younger one, and goes before it.
 */
class CleanCache {
  /** Youngest first; never empty. */
  readonly #generations: Generation[] = [{ records: new Map(), bytes: 0 }];
  #bytes = 0;
  readonly #bytesMax: number;
  readonly #generationBytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#generationBytesMax = Math.max(1, Math.floor(bytesMax / generationsMax));
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#generations.reduce((size, { records }) => size + records.size, 0);
  }

  get(id: string): StoredRecord | undefined {
    for (const generation of this.#generations) {
      const record = generation.records.get(id);
      if (record === undefined) continue;
      if (generation !== this.#generations[0]) {
        this.#drop(generation, record);
        this.put(record);
      }
      return record;
    }
    return undefined;
  }

  put(record: StoredRecord): void {
    const bytes = objectBytes(record);
    if (this.#generations[0]!.bytes + bytes > this.#generationBytesMax) this.#begin(new Map(), 0);
    const young = this.#generations[0]!;
    const before = young.records.get(record.id);
    const added = before === undefined ? bytes : bytes - objectBytes(before);
    young.records.set(record.id, record);
    young.bytes += added;
    this.#bytes += added;
    this.#evict();
  }

  /** Takes over the records of a layer: as a generation of their own, when they are many enough and not too many. */
  adopt({ records, recordBytes: bytes }: Layer): void {
    if (bytes < this.#generationBytesMax || bytes > this.#bytesMax / 2) {
      for (const record of records.values()) this.put(record);
    } else this.#begin(records, bytes);
  }

  #begin(records: Map<string, StoredRecord>, bytes: number): void {
    this.#generations.unshift({ records, bytes });
    this.#bytes += bytes;
    this.#evict();
  }

  #evict(): void {
    while (this.#generations.length > 1) {
      const oldest = this.#generations.at(-1)!;
      if (this.#bytes <= this.#bytesMax && oldest.records.size > 0) return;
      this.#bytes -= oldest.bytes;
      this.#generations.pop();
    }
  }

  #drop(generation: Generation, record: StoredRecord): void {
    generation.records.delete(record.id);
    const bytes = objectBytes(record);
    generation.bytes -= bytes;
    this.#bytes -= bytes;
  }

  delete(id: string): void {
    for (const generation of this.#generations) {
      const record = generation.records.get(id);
      if (record !== undefined) this.#drop(generation, record);
    }
    this.#evict();
  }
}

const cleanBytesMaxDefault = 128 * 1024 * 1024;

export class State implements View {
  readonly #backing: Backing;
  readonly #clean: CleanCache;
  #dirty = new Layer();
  #frozen: Layer | null = null;

  constructor(backing: Backing = emptyBacking, cleanBytesMax = cleanBytesMaxDefault) {
    this.#backing = backing;
    this.#clean = new CleanCache(cleanBytesMax);
  }

  /** What changed since the last checkpoint began. */
  get dirtyBytes(): number {
    return this.#dirty.bytes;
  }

  /** What changed and is not known to be in the checkpoint: all that can't be evicted. */
  get unwrittenBytes(): number {
    return this.#dirty.bytes + (this.#frozen?.bytes ?? 0);
  }

  /** About what everything in memory takes. */
  get residentBytes(): number {
    return this.unwrittenBytes + this.#clean.bytes;
  }

  /** The number of records in memory. */
  get residentCount(): number {
    return this.#dirty.records.size + (this.#frozen?.records.size ?? 0) + this.#clean.size;
  }

  apply(change: Change): void {
    this.#dirty.put(change);
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    const record = this.#find(id);
    return record?.kind === kind && !record.removed ? (record as RecordOf<K>) : undefined;
  }

  #find(id: string): StoredRecord | undefined {
    const changed = this.#dirty.records.get(id) ?? this.#frozen?.records.get(id) ?? this.#clean.get(id);
    if (changed !== undefined) return changed;
    const stored = this.#backing.get(id);
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
    const dirty = this.#dirty;
    const frozen = this.#frozen;
    const layers = [dirty.scan(index, range)];
    const visible = (key: string, hiddenBy: readonly Layer[]) =>
      !hiddenBy.some((layer) => layer.records.has(idOfSortKey(index, key)));
    if (frozen !== null) layers.push(filter(frozen.scan(index, range), (key) => visible(key, [dirty])));
    const upper = frozen === null ? [dirty] : [dirty, frozen];
    layers.push(filter(this.#backing.scan(index, range), (key) => visible(key, upper)));
    return mergeSorted(layers, range.descending);
  }

  /** Starts a checkpoint: hands out what has changed, which stays readable until `thaw`. */
  freeze(): ReadonlyMap<string, StoredRecord> {
    assert(this.#frozen === null, 'one checkpoint at a time');
    this.#frozen = this.#dirty;
    this.#dirty = new Layer();
    return this.#frozen.records;
  }

  /** Ends a checkpoint: the backing now holds what was frozen. Attempts, large and hardly ever read, leave memory. */
  thaw(): void {
    const frozen = this.#frozen;
    assert(frozen !== null, 'no checkpoint is running');
    for (const id of frozen.takeLeaving()) this.#clean.delete(id);
    this.#clean.adopt(frozen);
    this.#frozen = null;
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
