// The keys of index rows in the checkpoint: the number of the list (1, 2 or 4 bytes), the value if
// the index has one (domain/indexes.ts), and the sort key, packed. Of a value stand its length (u8)
// and its text. Where the text can be packed it is, and 128 is added to the length. In place of a
// long text stand 255 and its SHA-256.

import { hash } from 'node:crypto';
import { assert } from '../../core/assert.ts';
import type { ScanRange } from '../../domain/view.ts';
import { ByteWriter } from '../records/byte-writer.ts';
import { packedAlphabet, packedBytes, packText, writePacked } from '../records/packed-text.ts';

const sortKeyLengthMax = 100;
const valueBytesMax = 126;
const packedMark = 128;
const hashedMark = 255;
/** Of a SHA-256. */
const hashBytes = 32;

/** The bytes with which the keys of this index begin, and of no other. */
export function indexPrefix(listNumber: number, value: string | null): Buffer {
  const number = numberBytes(listNumber);
  return value === null ? number : Buffer.concat([number, valueBytes(value)]);
}

/** The number of a list. The first bits of the first byte tell how many bytes it has. */
export function numberBytes(number: number): Buffer {
  if (number < 0x80) return Buffer.of(number);
  const bytes = Buffer.allocUnsafe(number < 0x4000 ? 2 : 4);
  if (bytes.length === 2) bytes.writeUInt16BE(0x8000 | number);
  else bytes.writeUInt32BE(0xc000_0000 + number);
  return bytes;
}

/** The number at the start of a row's key, and how many bytes it takes. */
export function readNumber(key: Buffer): { readonly number: number; readonly bytes: number } {
  const first = key[0]!;
  if (first < 0x80) return { number: first, bytes: 1 };
  if (first < 0xc0) return { number: key.readUInt16BE(0) & 0x3fff, bytes: 2 };
  return { number: key.readUInt32BE(0) - 0xc000_0000, bytes: 4 };
}

/** Of the value that begins at `offset` of a row's key. */
export function valueBytesIn(key: Buffer, offset: number): number {
  const first = key[offset]!;
  if (first === hashedMark) return 1 + hashBytes;
  return 1 + (first < packedMark ? first : first - packedMark);
}

function valueBytes(value: string): Buffer {
  const packed = packText(value, 1);
  const length = packed === null ? Buffer.byteLength(value) : packed.length - 1;
  if (length > valueBytesMax) return Buffer.concat([Buffer.of(hashedMark), hash('sha256', value, 'buffer')]);
  if (packed === null) return Buffer.concat([Buffer.of(length), Buffer.from(value)]);
  packed[0] = packedMark + length;
  return packed;
}

export function rowKey(number: Uint8Array, value: string | null, sortKey: string): Buffer {
  alone.clear();
  writeRowKey(alone, number, value, sortKey);
  return alone.copy();
}

const alone = new ByteWriter();
const noValue = Buffer.alloc(0);

/** Writes the key of a row in the list with this number; returns how long it is. */
export function writeRowKey(
  writer: ByteWriter,
  number: Uint8Array,
  value: string | null,
  sortKey: string,
): number {
  assert(
    sortKey.length > 0 && sortKey.length <= sortKeyLengthMax,
    `a sort key of ${sortKey.length} characters`,
  );
  const packedValue = value === null ? noValue : valueBytes(value);
  const start = number.length + packedValue.length;
  const length = start + packedBytes(sortKey);
  const at = writer.skip(length);
  const { buffer } = writer;
  buffer.set(number, at);
  buffer.set(packedValue, at + number.length);
  const isPacked = writePacked(sortKey, buffer, at + start);
  assert(isPacked, `the sort key ${sortKey} has letters, digits and _ only`);
  return length;
}

/** LMDB's bounds for a scan of the index with this prefix; `end` is always exclusive. */
export function scanBounds(prefix: Buffer, { after, before, descending }: ScanRange) {
  const low = after === undefined ? prefix : boundKey(prefix, after);
  const high = before === undefined ? successor(prefix) : boundKey(prefix, before);
  return descending
    ? { start: high, end: low, reverse: true, exclusiveStart: true }
    : { start: low, end: high, reverse: false, exclusiveStart: true };
}

/** A key between those of the sort keys before `bound` and after it: its own if it can be one. */
function boundKey(prefix: Buffer, bound: string): Buffer {
  const at = bound.search(/[^0-9A-Z_a-z]/);
  if (at < 0) return rowBound(prefix, bound);
  const before = [...packedAlphabet].findLast((character) => character < bound[at]!);
  const start = bound.slice(0, at);
  // It comes after everything that begins with the next smaller character; without one, directly
  // after `start`.
  return before === undefined
    ? Buffer.concat([rowBound(prefix, start), Buffer.of(0)])
    : rowBound(prefix, start + before + packedAlphabet.at(-1)!.repeat(sortKeyLengthMax));
}

function rowBound(prefix: Buffer, text: string): Buffer {
  return Buffer.concat([prefix, packText(text.slice(0, 2 * sortKeyLengthMax))!]);
}

/** The smallest key after all keys that begin with the prefix. */
function successor(prefix: Buffer): Buffer {
  const next = Buffer.from(prefix);
  let at = next.length - 1;
  while (next[at] === 255) at--;
  next[at]!++;
  return next.subarray(0, at + 1);
}
