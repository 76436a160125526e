// The idempotency index: for each key used in the last 24 hours, the digest of its request and where its answer lies
// in the log. A hash table with open addressing in one typed array, 48 bytes a key, so that millions of keys cost the
// garbage collector nothing. When it is full, a larger table takes over and the old one is moved a few rows at each
// insertion; rows that have expired are left behind.

import { idempotencyRetentionMs } from '../contract/limits.ts';
import type { IdempotencyRecord, ResponseLocation } from '../journal/journal.ts';

// A row, in 32-bit words: key digest 0-3 · fingerprint 4-7 · record 8-9 · offset 10 · time of use, seconds of service time 11.
const rowWords = 12;
const timeWord = 11;
const firstCapacity = 1024;
const movedPerInsertion = 8;
const retentionSeconds = idempotencyRetentionMs / 1000;

export interface IndexedKey {
  readonly fingerprint: Uint8Array;
  readonly location: ResponseLocation;
}

class Table {
  readonly capacity: number;
  readonly words: Uint32Array;
  used = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.words = new Uint32Array(capacity * rowWords);
  }

  get full(): boolean {
    return this.used * 4 >= this.capacity * 3;
  }

  /** The start of the row whose first four words are those of `row` at `from`, or of the empty row where it would go. */
  rowOf(row: Uint32Array, from = 0): number {
    const { words, capacity } = this;
    for (let number = row[from]! & (capacity - 1); ; number = (number + 1) & (capacity - 1)) {
      const at = number * rowWords;
      if (words[at + timeWord] === 0) return at;
      if (
        words[at] === row[from] &&
        words[at + 1] === row[from + 1] &&
        words[at + 2] === row[from + 2] &&
        words[at + 3] === row[from + 3]
      ) {
        return at;
      }
    }
  }

  /** Writes a row where its digest belongs. */
  put(row: Uint32Array, from = 0): void {
    const at = this.rowOf(row, from);
    if (this.words[at + timeWord] === 0) this.used++;
    for (let i = 0; i < rowWords; i++) this.words[at + i] = row[from + i]!;
  }
}

/** Writes 16 bytes, whatever their alignment, as four words. */
function setWords(row: Uint32Array, from: number, bytes: Uint8Array): void {
  for (let i = 0; i < 4; i++) {
    const at = i * 4;
    row[from + i] = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  }
}

/** The opposite of `setWords`. */
function bytesOf(words: Uint32Array, from: number): Uint8Array {
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 16; i++) bytes[i] = words[from + (i >> 2)]! >>> ((i & 3) * 8);
  return bytes;
}

export class IdempotencyIndex {
  #table = new Table(firstCapacity);
  /** The table before, while its rows are being moved, and how far that has come. */
  #old: Table | null = null;
  #moved = 0;

  /** The row in hand, made once. */
  readonly #row = new Uint32Array(rowWords);

  /** What is known of a key digest, or undefined when it was not used within the last 24 hours. */
  get(keyDigest: Uint8Array, serviceMs: number): IndexedKey | undefined {
    setWords(this.#row, 0, keyDigest);
    return (
      this.#read(this.#table, serviceMs) ??
      (this.#old === null ? undefined : this.#read(this.#old, serviceMs))
    );
  }

  #read(table: Table, serviceMs: number): IndexedKey | undefined {
    const { words } = table;
    const at = table.rowOf(this.#row);
    if (isExpired(words, at, serviceMs)) return undefined;
    const record = words[at + 8]! + words[at + 9]! * 2 ** 32;
    return { fingerprint: bytesOf(words, at + 4), location: { record, offset: words[at + 10]! } };
  }

  /** Remembers a key; one that was used before (and has expired) is replaced. */
  add(key: Omit<IdempotencyRecord, 'slot'>): void {
    if (this.#old !== null) this.#move(movedPerInsertion, key.usedAtMs);
    else if (this.#table.full) this.#grow(key.usedAtMs);
    const row = this.#row;
    setWords(row, 0, key.keyDigest);
    setWords(row, 4, key.fingerprint);
    row[8] = key.location.record % 2 ** 32;
    row[9] = Math.floor(key.location.record / 2 ** 32);
    row[10] = key.location.offset;
    row[timeWord] = Math.ceil(key.usedAtMs / 1000);
    this.#table.put(row);
  }

  /**
   * Room for twice what is still alive and what is added until the old table has been moved, so that a table whose
   * rows have mostly expired shrinks.
   */
  #grow(serviceMs: number): void {
    const { words, capacity: oldCapacity } = this.#table;
    let alive = 0;
    for (let at = 0; at < words.length; at += rowWords) if (!isExpired(words, at, serviceMs)) alive++;
    let capacity = firstCapacity;
    while (capacity < (alive + oldCapacity / movedPerInsertion) * 2) capacity *= 2;
    this.#old = this.#table;
    this.#table = new Table(capacity);
    this.#moved = 0;
  }

  #move(rows: number, serviceMs: number): void {
    const { words } = this.#old!;
    const end = Math.min(words.length, this.#moved + rows * rowWords);
    for (; this.#moved < end; this.#moved += rowWords) {
      if (isExpired(words, this.#moved, serviceMs)) continue;
      // A key that was used again after it had expired is in the new table already, and newer.
      const isNewer = this.#table.words[this.#table.rowOf(words, this.#moved) + timeWord] !== 0;
      if (!isNewer) this.#table.put(words, this.#moved);
    }
    if (this.#moved === words.length) this.#old = null;
  }
}

/** True for an empty row, too. */
function isExpired(words: Uint32Array, at: number, serviceMs: number): boolean {
  return words[at + timeWord]! + retentionSeconds <= serviceMs / 1000;
}
