// The keys of index rows in the checkpoint: index name, a zero byte, sort key, in UTF-8. Rows of one index lie
// together, in the order of their sort keys' bytes (for ASCII, the order of JavaScript's strings).

import { hash } from 'node:crypto';
import { assert } from '../core/assert.ts';
import type { IndexRow, ScanRange } from '../domain/view.ts';

const nameBytesMax = 400;
const sortKeyBytesMax = 1_500;
/** The most bytes that one UTF-16 unit takes in UTF-8. */
const utf8BytesMax = 3;
/** Marks a name that stands for a longer one. */
const hashedMark = '\u0001';

/** The key of one row. */
export function indexKey({ index, sortKey }: IndexRow): Buffer {
  assert(sortKey.length > 0, 'a sort key is not empty');
  const key = Buffer.from(`${shortName(index)}\u0000${sortKey}`);
  assert(key.length <= nameBytesMax + 1 + sortKeyBytesMax, `the sort key ${sortKey} is too long`);
  return key;
}

/** LMDB's keys are short: a long name, or one that would blur where the sort key begins, is replaced by its digest. */
function shortName(index: string): string {
  // Hardly any name is so long that its bytes must be counted.
  const isShort = index.length * utf8BytesMax <= nameBytesMax || Buffer.byteLength(index) <= nameBytesMax;
  const isPlain = isShort && !index.includes('\u0000') && !index.startsWith(hashedMark);
  return isPlain ? index : hashedMark + hash('sha256', index, 'hex');
}

/** The name of the index in a row's key, or what stands for it. */
export function nameOf(key: Uint8Array): string {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  return bytes.toString('utf8', 0, bytes.indexOf(0));
}

/** The sort key in a row's key. */
export function sortKeyOf(key: Uint8Array): string {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  return bytes.toString('utf8', bytes.indexOf(0) + 1);
}

/** LMDB's bounds for a scan of one index; `end` is always exclusive. */
export function scanBounds(index: string, { after, before, descending }: ScanRange) {
  const name = shortName(index);
  const low = Buffer.from(`${name}\u0000${after ?? ''}`);
  const high = Buffer.from(before === undefined ? `${name}\u0001` : `${name}\u0000${before}`);
  return descending
    ? { start: high, end: low, reverse: true, exclusiveStart: true }
    : { start: low, end: high, reverse: false, exclusiveStart: true };
}
