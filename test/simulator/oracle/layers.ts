// What a shard's records show while they lie in several layers is compared with the plain set of them: when a commit batch was
// packed, when a flush begins and ends, and right before its checkpoint is written, a few records and parts of indexes each time,
// both ways and from any place.

import { isDeepStrictEqual } from 'node:util';
import { AssertionFailure } from '../../../src/core/assert.ts';
import { objectBytes } from '../../../src/core/heap-bytes.ts';
import { idsIn } from '../../../src/domain/indexes.ts';
import type { Change, StoredRecord } from '../../../src/domain/record.ts';
import type { ScanRange } from '../../../src/domain/view.ts';
import { JournalDamaged } from '../../../src/journal/journal.ts';
import type { ColdStore } from '../../../src/store/cold-store.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import type { Random } from '../kernel/random.ts';
import type { World } from '../world/world.ts';
import { CountedMemory } from './counted-memory.ts';
import { PlainRecords } from './plain-records.ts';

/** How often somebody looks when a batch was packed. */
const packedShare = 0.25;
/** A part of an index has so many keys at most. */
const shownMax = 40;

export class Layers {
  readonly #world: World;
  readonly #random: Random;
  readonly #store: RecordStore;
  readonly #plain: PlainRecords;
  readonly #memory: CountedMemory;
  /** Every record that there ever was, the newest last. */
  readonly #known: Pick<StoredRecord, 'kind' | 'id'>[];
  #coldReads = 0;

  /** `base` is what the cold store has; whatever is changed in the store from now on is heard of. */
  constructor(
    world: World,
    random: Random,
    base: Iterable<StoredRecord>,
    cold: ColdStore,
    store: RecordStore,
    cacheBytesMax: number,
  ) {
    const records = [...base];
    this.#world = world;
    this.#random = random;
    this.#store = store;
    this.#plain = new PlainRecords(records);
    this.#known = records.map(({ kind, id }) => ({ kind, id }));
    this.#memory = new CountedMemory(world, store, records, cacheBytesMax);
    const get = cold.get.bind(cold);
    cold.get = (id) => {
      this.#coldReads++;
      return get(id);
    };
    this.#watch(store);
  }

  #watch(store: RecordStore): void {
    const { apply, restore, pack, beginFlush, endFlush, limitCache } = store;
    const memory = this.#memory;
    store.apply = (change) => {
      apply.call(store, change);
      this.#changed(change);
    };
    store.restore = (change) => {
      restore.call(store, change);
      this.#changed(change);
      memory.restored(change);
    };
    store.pack = (entries, packed) => {
      pack.call(store, entries, packed);
      memory.packed(packed.bytes);
      if (this.#random.chance(packedShare)) this.look();
    };
    store.beginFlush = () => {
      memory.check(this.#plain);
      const { memtableBytes } = store;
      beginFlush.call(store);
      memory.flushing(memtableBytes);
      this.look();
    };
    store.endFlush = () => {
      endFlush.call(store);
      memory.flushed();
      this.look();
      this.#keepsWhatIsUsed();
    };
    store.limitCache = (bytesMax) => {
      limitCache.call(store, bytesMax);
      memory.limited(bytesMax);
    };
  }

  #changed(change: Change): void {
    const { kind, id } = change;
    if (this.#plain.get(id) === undefined) this.#known.push({ kind, id });
    this.#plain.apply(change);
    this.#memory.changed(change);
  }

  /** Somebody reads a little. Of what was damaged nobody knows what is left of it. */
  look(): void {
    if (this.#world.isDamaged || this.#known.length === 0) return;
    try {
      for (let i = 0; i < 2; i++) this.#read(this.#pick());
      this.#scan(this.#random.pick(this.#plain.indexes));
      this.#memory.checkCache();
    } catch (error) {
      if (!(error instanceof JournalDamaged || error instanceof AssertionFailure)) throw error;
      this.#same(false, () => error.message);
    }
  }

  #same(holds: boolean, what: () => string): void {
    this.#world.judge.check('what a shard reads is what was written', holds, what);
  }

  /** Mostly one of the newest. */
  #pick(): Pick<StoredRecord, 'kind' | 'id'> {
    const { length } = this.#known;
    return this.#known[length - 1 - Math.floor(length * this.#random.unit() ** 3)]!;
  }

  #read({ kind, id }: Pick<StoredRecord, 'kind' | 'id'>): StoredRecord | undefined {
    const found = this.#store.get(kind, id);
    const wanted = this.#plain.get(id);
    this.#same(
      isDeepStrictEqual(found, wanted),
      () => `${id} is read as ${JSON.stringify(found)} and was written as ${JSON.stringify(wanted)}`,
    );
    return found;
  }

  #scan(index: string): void {
    const keys = this.#plain.keysIn(index, { descending: false });
    const range = this.#range(keys);
    const wanted = this.#plain.keysIn(index, range).slice(0, shownMax).map(idsIn(index));
    const found: StoredRecord[] = [];
    for (const record of this.#store.scan(index, range)) {
      if (found.push(record) >= shownMax) break;
    }
    this.#same(
      isDeepStrictEqual(
        found,
        wanted.map((id) => this.#plain.get(id)),
      ),
      () => `${index} ${JSON.stringify(range)} shows ${found.map(({ id }) => id)} instead of ${wanted}`,
    );
    const count = this.#store.count(index);
    this.#same(count === keys.length, () => `${index} has ${count} rows instead of ${keys.length}`);
  }

  /** Bounds are keys, or lie right behind or before one, also with characters that no key has. */
  #range(keys: readonly string[]): ScanRange {
    const random = this.#random;
    const bound = () => {
      if (keys.length === 0 || random.chance(0.5)) return undefined;
      const key = random.pick(keys);
      return random.pick([key, key, `${key}0`, `${key}-`, `${key.slice(0, random.below(key.length))}~`]);
    };
    return { after: bound(), before: bound(), descending: random.chance(0.5) };
  }

  /** What was read just now stays in memory, however much is read after it that takes less than a quarter of the cache. */
  #keepsWhatIsUsed(): void {
    if (this.#world.isDamaged || this.#known.length === 0) return;
    const used = this.#pick();
    const record = this.#read(used);
    const room = this.#memory.cacheBytesMax / 4;
    if (record === undefined || objectBytes(record) > room) return;
    let bytes = 0;
    for (let i = 0; i < 8; i++) {
      const other = this.#read(this.#pick());
      bytes += other === undefined ? 0 : objectBytes(other);
    }
    const before = this.#coldReads;
    this.#read(used);
    if (bytes > room) return;
    this.#world.judge.check(
      'what a shard has just used stays in memory',
      this.#coldReads === before,
      () => `${used.id} is read from the disk again after ${bytes} bytes of others`,
    );
  }
}
