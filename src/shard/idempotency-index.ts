// The idempotency index has, for each key that was used in the last 24 hours, the digest of its
// request and the place of its stored response in the log. Rows are in the order in which the keys
// were used, in blocks. The blocks of an hour are dropped when their last key has expired. One hash
// table with open addressing finds the rows. When half of its slots are in use, it is rebuilt, some
// rows at each insertion. All is in typed arrays, which cost the garbage collector nothing.

import { randomBytes } from 'node:crypto';
import { idempotencyRetentionMs } from '../contract/limits.ts';
import { AssertionFailure, assert, defined } from '../core/assert.ts';
import { pieceSize } from '../core/piece-size.ts';
import {
  digestBytes,
  type IdempotencyRecord,
  type PackedIdempotencyRecords,
  packedAt,
  packedWords,
  type ResponseLocation,
} from '../journal/journal.ts';

// A row, in 32-bit words: the first 12 bytes of the key's digest 0-2 · the first 8 bytes of the
// request's 3-4 · commit batch, its low word 5 · second of the hour when the key was used (high
// half) and the batch's high bits (low half) 6 · offset 7.
const rowWords = 8;
const fingerprintBytes = 8;
const blockRows = pieceSize(4_096);
/** A power of two, as is the capacity of every table. */
const firstCapacity = 2 ** pieceSize(10);
const enteredPerInsertion = 8;
const hourSeconds = 3_600;
const retentionSeconds = idempotencyRetentionMs / 1_000;
const batchMax = 2 ** 48;
const wholeRow = 'a packed record is whole';

interface IndexedKey {
  /** The first 8 bytes of the request's digest. */
  readonly fingerprint: Uint8Array;
  readonly location: ResponseLocation;
}

interface Block {
  readonly number: number;
  /** The hour since 1970, in service time. */
  readonly hour: number;
  readonly words: Uint32Array;
  length: number;
  next: Block | null;
}

interface Table {
  /** The numbers of rows, counted from 1 over all blocks; 0 in an empty slot. */
  readonly slots: Uint32Array<ArrayBuffer>;
  /**
   * They say in which slot the search for a digest begins, and are random in all but the smallest
   * table. Merchants choose their keys, and so the digests: otherwise some could fill a long piece
   * of the table, through which the searches for many keys of others would go.
   */
  readonly factors: readonly [number, number];
}

/** A table that is being filled. Its next row is row `row` of `block`. */
interface Rebuild extends Table {
  used: number;
  block: Block | null;
  row: number;
}

export class IdempotencyIndex {
  /** By number; null where a block was dropped and not replaced yet. */
  readonly #blocks: (Block | null)[] = [];
  #oldest: Block | null = null;
  #newest: Block | null = null;
  #rowCount = 0;
  #table = tableFor(0);
  #slotsUsed = 0;
  #rebuild: Rebuild | null = null;

  /** The row that is being looked up or added. It is reused. */
  readonly #row = new Uint32Array(rowWords);

  get bytes(): number {
    const slots = this.#table.slots.byteLength + (this.#rebuild?.slots.byteLength ?? 0);
    return slots + this.#rowCount * rowWords * Uint32Array.BYTES_PER_ELEMENT;
  }

  /** What is known of a key; undefined when it was not used within the last 24 hours. */
  get(keyDigest: Uint8Array, serviceMs: number): IndexedKey | undefined {
    const first = wordOf(keyDigest, 0);
    const second = wordOf(keyDigest, 4);
    const third = wordOf(keyDigest, 8);
    const { slots } = this.#table;
    const mask = slots.length - 1;
    for (let slot = firstSlot(this.#table, first, second); slots[slot] !== 0; slot = (slot + 1) & mask) {
      const place = numberAt(slots, slot) - 1;
      const block = this.#blocks[Math.floor(place / blockRows)];
      if (block == null) continue;
      const { words, hour } = block;
      const at = (place % blockRows) * rowWords;
      if (words[at] !== first || words[at + 1] !== second || words[at + 2] !== third) continue;
      // A key that was used again after it had expired has a later row.
      if (!isExpired(hour * hourSeconds + (numberAt(words, at + 6) >>> 16), serviceMs))
        return keyAt(words, at);
    }
    return undefined;
  }

  /** Adds a key that is not in the index. It was used no earlier than those before it. */
  add({ keyDigest, fingerprint, usedAtMs, location }: Omit<IdempotencyRecord, 'slot'>): void {
    assert(keyDigest.length === digestBytes && fingerprint.length >= fingerprintBytes, 'digests are whole');
    const row = this.#row;
    for (let i = 0; i < 3; i++) row[i] = wordOf(keyDigest, i * 4);
    for (let i = 0; i < 2; i++) row[3 + i] = wordOf(fingerprint, i * 4);
    const place = this.#append(usedAtMs, location.record, location.offset);
    enter(this.#table, row, 0, place);
    this.#slotsUsed++;
    this.#dropExpired(usedAtMs);
    if (this.#rebuild !== null) this.#continueRebuild(this.#rebuild, enteredPerInsertion);
    else if (this.#slotsUsed * 2 > this.#table.slots.length) this.#rebuild = this.#beginRebuild();
  }

  /** Fills an empty index with a checkpoint's records, but for those from before `sinceMs`. */
  load(parts: Iterable<PackedIdempotencyRecords>, sinceMs: number): void {
    assert(this.#rowCount === 0, 'the index is empty');
    const row = this.#row;
    for (const { length, words, doubles } of parts) {
      for (let i = 0; i < length; i++) {
        const from = i * packedWords;
        const usedAtMs = defined(doubles[(from + packedAt.usedAtMs) / 2], wholeRow);
        if (usedAtMs < sinceMs) continue;
        const [key, fingerprint] = [from + packedAt.keyDigest, from + packedAt.fingerprint];
        row.set(words.subarray(key, key + 3));
        row.set(words.subarray(fingerprint, fingerprint + 2), 3);
        const batch = defined(doubles[(from + packedAt.record) / 2], wholeRow);
        this.#append(usedAtMs, batch, numberAt(words, from + packedAt.offset));
      }
    }
    this.#continueRebuild(this.#beginRebuild(), Number.POSITIVE_INFINITY);
  }

  /** Appends `#row`, whose digests are set. Returns the number of the row. */
  #append(usedAtMs: number, batch: number, offset: number): number {
    assert(batch < batchMax, 'the number of a commit batch has 48 bits');
    // The time is rounded up, so that no key expires early.
    const seconds = Math.max(Math.ceil(usedAtMs / 1_000), (this.#newest?.hour ?? 0) * hourSeconds);
    const block = this.#blockFor(Math.floor(seconds / hourSeconds));
    const row = this.#row;
    row[5] = batch % 2 ** 32;
    row[6] = ((seconds - block.hour * hourSeconds) << 16) | Math.floor(batch / 2 ** 32);
    row[7] = offset;
    const { words } = block;
    const at = block.length * rowWords;
    // For so few numbers a loop is faster than `set`.
    for (let i = 0; i < rowWords; i++) words[at + i] = numberAt(row, i);
    this.#rowCount++;
    return block.number * blockRows + block.length++ + 1;
  }

  /** The newest block if it is of that hour and has room, otherwise a new one. */
  #blockFor(hour: number): Block {
    const newest = this.#newest;
    if (newest !== null && newest.hour === hour && newest.length < blockRows) return newest;
    let number = 0;
    while (this.#blocks[number] != null) number++;
    const words = new Uint32Array(blockRows * rowWords);
    const block: Block = { number, hour, words, length: 0, next: null };
    this.#blocks[number] = block;
    if (newest === null) this.#oldest = block;
    else newest.next = block;
    this.#newest = block;
    return block;
  }

  /** Drops the generations in which every key has expired. */
  #dropExpired(serviceMs: number): void {
    for (let block = this.#oldest; block !== null && block !== this.#newest; block = block.next) {
      if (!isExpired((block.hour + 1) * hourSeconds, serviceMs)) break;
      this.#blocks[block.number] = null;
      this.#rowCount -= block.length;
      this.#oldest = block.next;
    }
  }

  /** Begins a table for two and a half times the rows, so that the next rebuild is far away. */
  #beginRebuild(): Rebuild {
    return { ...tableFor(this.#rowCount * 2.5), used: 0, block: this.#oldest, row: 0 };
  }

  /** Enters `rows` rows into the new table, which replaces the old one when it has all of them. */
  #continueRebuild(rebuild: Rebuild, rows: number): void {
    for (let left = rows; rebuild.block !== null; ) {
      const { block } = rebuild;
      for (; rebuild.row < block.length && left > 0; rebuild.row++, left--) {
        const place = block.number * blockRows + rebuild.row + 1;
        enter(rebuild, block.words, rebuild.row * rowWords, place);
        rebuild.used++;
      }
      if (rebuild.row < block.length) return;
      rebuild.block = block.next;
      rebuild.row = 0;
    }
    this.#table = rebuild;
    this.#slotsUsed = rebuild.used;
    this.#rebuild = null;
  }
}

/** An empty table with so many slots at least. */
function tableFor(slotCount: number): Table {
  let capacity = firstCapacity;
  while (capacity < slotCount) capacity *= 2;
  const slots = new Uint32Array(capacity);
  return { slots, factors: capacity === firstCapacity ? [1, 1] : [randomFactor(), randomFactor()] };
}

function randomFactor(): number {
  return randomBytes(4).readUInt32LE(0) | 1;
}

/** Puts the number of the row that begins at `at` of `words` into the first slot free for it. */
function enter(table: Table, words: Uint32Array, at: number, place: number): void {
  const { slots } = table;
  const mask = slots.length - 1;
  let slot = firstSlot(table, numberAt(words, at), numberAt(words, at + 1));
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = place;
}

/** For the first words of a digest: the upper bits of their products, which depend on all bits. */
function firstSlot({ slots, factors: [a, b] }: Table, first: number, second: number): number {
  return (Math.imul(first, a) + Math.imul(second, b)) >>> (Math.clz32(slots.length) + 1);
}

function keyAt(words: Uint32Array, at: number): IndexedKey {
  const fingerprint = new Uint8Array(fingerprintBytes);
  for (let i = 0; i < fingerprintBytes; i++)
    fingerprint[i] = numberAt(words, at + 3 + (i >> 2)) >>> ((i & 3) * 8);
  const record = numberAt(words, at + 5) + (numberAt(words, at + 6) & 0xffff) * 2 ** 32;
  return { fingerprint, location: { record, offset: numberAt(words, at + 7) } };
}

/** The four bytes at `at`, whatever their alignment. */
function wordOf(bytes: Uint8Array, at: number): number {
  assert(at + 4 <= bytes.length, 'a digest is whole');
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  return (low | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0;
}

function numberAt(list: Uint32Array, at: number): number {
  const found = list[at];
  if (found === undefined) throw new AssertionFailure(`${at} is beyond the ${list.length} numbers`);
  return found;
}

function isExpired(usedAtSeconds: number, serviceMs: number): boolean {
  return usedAtSeconds + retentionSeconds <= serviceMs / 1_000;
}
