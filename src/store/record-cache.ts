// Records that are on disk and were used lately, bounded in bytes: what was not used for longest is evicted first.

import { objectBytes } from '../core/heap-bytes.ts';
import type { StoredRecord } from '../domain/record.ts';
import type { Memtable } from './memtable.ts';

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
export class RecordCache {
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

  /** Takes over the records of a memtable: as a generation of their own, when they are many enough and not too many. */
  adopt({ records, recordBytes: bytes }: Memtable): void {
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
