// Records that were read lately, as objects, bounded in bytes: what was not used for longest is evicted first. It holds
// the newest value of a record, or nothing of it.

import { objectBytes } from '../core/heap-bytes.ts';
import type { StoredRecord } from '../domain/record.ts';

/** The cache is that many generations, each of as many bytes. */
const generationsMax = 8;

interface Generation {
  readonly records: Map<string, StoredRecord>;
  bytes: number;
}

/** A record lies in one generation: one that is used moves to the youngest, and what is too much goes with the oldest. */
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

  /** Takes a record in that it does not hold. */
  put(record: StoredRecord): void {
    const bytes = objectBytes(record);
    if (this.#generations[0]!.bytes + bytes > this.#generationBytesMax)
      this.#generations.unshift({ records: new Map(), bytes: 0 });
    const young = this.#generations[0]!;
    young.records.set(record.id, record);
    young.bytes += bytes;
    this.#bytes += bytes;
    this.#evict();
  }

  /** A record has changed: whoever read it before is likely to read it again. */
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
