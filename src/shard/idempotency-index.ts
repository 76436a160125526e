// The idempotency index: for each key used in the last 24 hours, the digest of its request and where its answer lies
// in the log. A hash table with open addressing in one typed array, 48 bytes a key, so that millions of keys cost the
// garbage collector nothing. When it is full, a larger table takes over and the old one is moved a few rows at each
// insertion; rows that have expired are left behind.

import { idempotencyRetentionMs } from '../contract/limits.ts';
import type { AnswerLocation, KeptKey } from '../journal/journal.ts';

// A row, in 32-bit words: key digest 0-3 · fingerprint 4-7 · record 8-9 · offset 10 · time of use, Unix seconds 11.
const rowWords = 12;
const timeWord = 11;
const firstCapacity = 1024;
const movedPerInsertion = 8;
const retentionSeconds = idempotencyRetentionMs / 1000;

export interface IndexedKey {
  readonly fingerprint: Uint8Array;
  readonly location: AnswerLocation;
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

  /** The start of the row that holds a digest, or of the empty row where it would go. */
  rowOf(digest: Uint32Array): number {
    const { words, capacity } = this;
    for (let row = digest[0]! & (capacity - 1); ; row = (row + 1) & (capacity - 1)) {
      const at = row * rowWords;
      if (words[at + timeWord] === 0) return at;
      if (
        words[at] === digest[0] &&
        words[at + 1] === digest[1] &&
        words[at + 2] === digest[2] &&
        words[at + 3] === digest[3]
      ) {
        return at;
      }
    }
  }

  put(row: Uint32Array): void {
    const at = this.rowOf(row);
    if (this.words[at + timeWord] === 0) this.used++;
    this.words.set(row, at);
  }
}

/** A digest as words, whatever its alignment. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer, 0, 4);
}

export class IdempotencyIndex {
  #table = new Table(firstCapacity);
  /** The table before, while its rows are being moved, and how far that has come. */
  #old: Table | null = null;
  #moved = 0;

  /** What is known of a key digest, or undefined when it was not used within the last 24 hours. */
  get(keyDigest: Uint8Array, nowMs: number): IndexedKey | undefined {
    const digest = wordsOf(keyDigest);
    return (
      this.#read(this.#table, digest, nowMs) ??
      (this.#old && this.#read(this.#old, digest, nowMs)) ??
      undefined
    );
  }

  #read(table: Table, digest: Uint32Array, nowMs: number): IndexedKey | undefined {
    const at = table.rowOf(digest);
    const row = table.words.subarray(at, at + rowWords);
    if (isExpired(row, nowMs)) return undefined;
    const fingerprint = new Uint8Array(row.slice(4, 8).buffer);
    return { fingerprint, location: { record: row[8]! + row[9]! * 2 ** 32, offset: row[10]! } };
  }

  /** Remembers a key; one that was used before (and has expired) is replaced. */
  add(key: KeptKey): void {
    if (this.#old !== null) this.#move(movedPerInsertion, key.usedAtMs);
    else if (this.#table.full) this.#grow(key.usedAtMs);
    const row = new Uint32Array(rowWords);
    row.set(wordsOf(key.keyDigest), 0);
    row.set(wordsOf(key.fingerprint), 4);
    row[8] = key.location.record % 2 ** 32;
    row[9] = Math.floor(key.location.record / 2 ** 32);
    row[10] = key.location.offset;
    row[timeWord] = Math.ceil(key.usedAtMs / 1000);
    this.#table.put(row);
  }

  /** Twice the size of what is still alive, so that a table whose rows have mostly expired shrinks. */
  #grow(nowMs: number): void {
    const { words } = this.#table;
    let alive = 0;
    for (let at = 0; at < words.length; at += rowWords) {
      if (!isExpired(words.subarray(at, at + rowWords), nowMs)) alive++;
    }
    let capacity = firstCapacity;
    while (capacity < alive * 3) capacity *= 2;
    this.#old = this.#table;
    this.#table = new Table(capacity);
    this.#moved = 0;
  }

  #move(rows: number, nowMs: number): void {
    const { words } = this.#old!;
    const end = Math.min(words.length, this.#moved + rows * rowWords);
    for (; this.#moved < end; this.#moved += rowWords) {
      const row = words.subarray(this.#moved, this.#moved + rowWords);
      // A key that was used again after it had expired is in the new table already, and newer.
      if (!isExpired(row, nowMs) && this.#table.words[this.#table.rowOf(row) + timeWord] === 0) {
        this.#table.put(row);
      }
    }
    if (this.#moved === words.length) this.#old = null;
  }
}

/** True for an empty row, too. */
function isExpired(row: Uint32Array, nowMs: number): boolean {
  return row[timeWord]! + retentionSeconds <= nowMs / 1000;
}
