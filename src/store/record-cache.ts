// The cache holds records that were read lately, as objects, up to a number of bytes. It has the
// newest value of a record or none. A record that is used moves to the youngest of its generations,
// and when it is full the oldest generation is dropped whole.

import { objectBytes } from '../core/heap-bytes.ts';
import type { StoredRecord } from '../domain/record.ts';

/** The size of a generation, as a part of the cache's: each look-up asks one after the other. */
const generationPart = 1 / 2;

interface Cached {
  record: StoredRecord;
  bytes: number;
}

interface Generation {
  readonly records: Map<string, Cached>;
  bytes: number;
}

export class RecordCache {
  #young: Generation = { records: new Map(), bytes: 0 };
  /** Youngest first. */
  readonly #generations: Generation[] = [this.#young];
  #bytes = 0;
  #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Changes how many bytes the cache may have. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#makeRoom();
  }

  get #generationBytesMax(): number {
    return Math.max(1, this.#bytesMax * generationPart);
  }

  #beginGeneration(): void {
    this.#young = { records: new Map(), bytes: 0 };
    this.#generations.unshift(this.#young);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#generations.reduce((size, { records }) => size + records.size, 0);
  }

  get(id: string): StoredRecord | undefined {
    return this.#use(id)?.record;
  }

  /** What the cache has of this id, in its youngest generation from now on. */
  #use(id: string): Cached | undefined {
    for (const generation of this.#generations) {
      const cached = generation.records.get(id);
      if (cached === undefined) continue;
      if (generation !== this.#young) {
        this.#drop(generation, cached);
        this.#add(cached);
      }
      return cached;
    }
    return undefined;
  }

  has(id: string): boolean {
    return this.#generations.some(({ records }) => records.has(id));
  }

  /** Adds a record that the cache does not have. */
  put(record: StoredRecord): void {
    this.#add({ record, bytes: objectBytes(record) });
  }

  #add(cached: Cached): void {
    const { record, bytes } = cached;
    if (this.#young.bytes + bytes > this.#generationBytesMax) this.#beginGeneration();
    this.#young.records.set(record.id, cached);
    this.#young.bytes += bytes;
    this.#bytes += bytes;
    this.#evict();
  }

  /**
   * Replaces a record that has changed, if the cache has it: it is likely to be read again, unless
   * it is a delivery that has ended. Returns what it was before.
   */
  changed(record: StoredRecord): StoredRecord | undefined {
    const cached = this.#use(record.id);
    if (cached === undefined) return undefined;
    const { record: before, bytes: bytesBefore } = cached;
    if (record.removed || isEndedDelivery(record)) this.#drop(this.#young, cached);
    else {
      cached.record = record;
      cached.bytes = objectBytes(record);
      this.#young.bytes += cached.bytes - bytesBefore;
      this.#bytes += cached.bytes - bytesBefore;
      this.#makeRoom();
    }
    return before;
  }

  /** What there is may be too much. */
  #makeRoom(): void {
    if (this.#young.bytes > this.#generationBytesMax) this.#beginGeneration();
    this.#evict();
  }

  #evict(): void {
    for (let oldest = this.#generations.at(-1); oldest !== this.#young; oldest = this.#generations.at(-1)) {
      if (oldest === undefined || (this.#bytes <= this.#bytesMax && oldest.records.size > 0)) return;
      this.#bytes -= oldest.bytes;
      this.#generations.pop();
    }
  }

  #drop(generation: Generation, { record, bytes }: Cached): void {
    generation.records.delete(record.id);
    generation.bytes -= bytes;
    this.#bytes -= bytes;
  }
}

function isEndedDelivery(record: StoredRecord): boolean {
  return record.kind === 'delivery' && record.ended_at_ms !== null;
}
