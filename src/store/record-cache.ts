// The cache holds records that were read lately, as objects. Its size in bytes is bounded: the record that was not used for
// the longest time is evicted first. It has the newest value of a record or none.

import { objectBytes } from '../core/heap-bytes.ts';
import type { StoredRecord } from '../domain/record.ts';

/** The cache is divided into this many generations of equal size. */
const generationsMax = 8;

interface Generation {
  readonly records: Map<string, StoredRecord>;
  bytes: number;
}

/** A record that is used moves to the youngest generation. When the cache is full, the oldest generation is dropped whole. */
export class RecordCache {
  /** Youngest first. There is always at least one. */
  readonly #generations: Generation[] = [{ records: new Map(), bytes: 0 }];
  #bytes = 0;
  #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Changes how many bytes the cache may have. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#evict();
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

  /** Adds a record that the cache does not have. */
  put(record: StoredRecord): void {
    const bytes = objectBytes(record);
    if (this.#generations[0]!.bytes + bytes > Math.max(1, Math.floor(this.#bytesMax / generationsMax)))
      this.#generations.unshift({ records: new Map(), bytes: 0 });
    const young = this.#generations[0]!;
    young.records.set(record.id, record);
    young.bytes += bytes;
    this.#bytes += bytes;
    this.#evict();
  }

  /** Replaces a record that has changed, if the cache has it: a record that was read is likely to be read again. */
  changed(record: StoredRecord): void {
    for (const generation of this.#generations) {
      const before = generation.records.get(record.id);
      if (before === undefined) continue;
      this.#drop(generation, before);
      if (!record.removed) this.put(record);
      return;
    }
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
}
