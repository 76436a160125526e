// The cache holds records that were read lately, as objects, up to a number of bytes. It has the
// newest value of a record or none. A record that is used moves to the younger of two generations;
// when that is full, the older one is dropped whole, and it takes its place.

import { objectBytes } from '../core/heap-bytes.ts';
import type { StoredRecord } from '../domain/record.ts';

/** The size of a generation, as a part of the cache's: each look-up asks one after the other. */
const generationPart = 1 / 2;

interface Cached {
  record: StoredRecord;
  bytes: number;
}

class Generation {
  readonly records = new Map<string, Cached>();
  bytes = 0;
}

export class RecordCache {
  #young = new Generation();
  #old = new Generation();
  #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Changes how many bytes the cache may have. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#makeRoom(0);
  }

  /** For so many bytes more. One record is always taken. */
  #makeRoom(bytes: number): void {
    if (this.#young.bytes + bytes > this.#bytesMax * generationPart) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    if (this.bytes + bytes > this.#bytesMax) this.#old = new Generation();
  }

  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  get size(): number {
    return this.#young.records.size + this.#old.records.size;
  }

  get(id: string): StoredRecord | undefined {
    return this.#use(id)?.record;
  }

  /** What the cache has of this id, in the young generation from now on. */
  #use(id: string): Cached | undefined {
    const young = this.#young.records.get(id);
    if (young !== undefined) return young;
    const old = this.#old.records.get(id);
    if (old === undefined) return undefined;
    this.#drop(this.#old, old);
    this.#add(old);
    return old;
  }

  has(id: string): boolean {
    return this.#young.records.has(id) || this.#old.records.has(id);
  }

  /** Adds a record that the cache does not have. */
  put(record: StoredRecord): void {
    this.#add({ record, bytes: objectBytes(record) });
  }

  #add(cached: Cached): void {
    this.#makeRoom(cached.bytes);
    this.#young.records.set(cached.record.id, cached);
    this.#young.bytes += cached.bytes;
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
      this.#makeRoom(0);
    }
    return before;
  }

  #drop(generation: Generation, { record, bytes }: Cached): void {
    generation.records.delete(record.id);
    generation.bytes -= bytes;
  }
}

function isEndedDelivery(record: StoredRecord): boolean {
  return record.kind === 'delivery' && record.ended_at_ms !== null;
}
