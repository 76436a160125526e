// The idempotency records in the checkpoint: rows of fixed size, in one value for each hour and
// checkpoint, so that recovery reads a million in a fraction of a second. A key: hour since 1970
// (u32), sequence of the checkpoint (f64), big-endian. A value has a checksum. A row: key digest
// (16), fingerprint (16), used at, Unix ms (f64), first sequence of the commit batch (f64), offset
// (u32), slot (u32), as the machine has numbers: little-endian.

import { assert } from '../../core/assert.ts';
import { pieceSize } from '../../core/piece-size.ts';
import { verifyChecksum, withChecksum } from '../../disk/checksum.ts';
import {
  digestBytes,
  type IdempotencyRecord,
  type PackedIdempotencyRecords,
  packedAt,
  packedWords,
} from '../journal.ts';

const hourMs = 3_600_000;
const rowBytes = packedWords * Uint32Array.BYTES_PER_ELEMENT;

const firstRows = pieceSize(64);

/** Records in the order of use, packed as rows: many cost the garbage collector nothing. */
export class IdempotencyRecordList implements Iterable<IdempotencyRecord> {
  #bytes = Buffer.allocUnsafeSlow(firstRows * rowBytes);
  length = 0;

  push({ keyDigest, fingerprint, slot, usedAtMs, location }: IdempotencyRecord): void {
    assert(keyDigest.length === digestBytes && fingerprint.length === digestBytes, 'digests have 16 bytes');
    const start = this.length * rowBytes;
    if (start === this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(start * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    const bytes = this.#bytes;
    bytes.set(keyDigest, start);
    bytes.set(fingerprint, start + digestBytes);
    bytes.writeDoubleLE(usedAtMs, start + 32);
    bytes.writeDoubleLE(location.record, start + 40);
    bytes.writeUInt32LE(location.offset, start + 48);
    bytes.writeUInt32LE(slot, start + 52);
    this.length++;
  }

  /** The rows of these records. The view is valid until the next `push`. */
  rows(start = 0, end = this.length): Buffer {
    return this.#bytes.subarray(start * rowBytes, end * rowBytes);
  }

  /** The hour in which a record's key was used, since 1970. */
  hourAt(number: number): number {
    return Math.floor(this.#bytes.readDoubleLE(number * rowBytes + 32) / hourMs);
  }

  [Symbol.iterator](): Generator<IdempotencyRecord> {
    return new PackedRecords(this.rows())[Symbol.iterator]();
  }
}

/** Packs the records by the hour in which their keys were used. */
export function packIdempotencyRecords(
  keys: Iterable<IdempotencyRecord>,
  sequence: number,
): [key: Buffer, value: Buffer][] {
  const list = keys instanceof IdempotencyRecordList ? keys : listOf(keys);
  const byHour = new Map<number, Buffer[]>();
  for (let start = 0, end = 0; start < list.length; start = end) {
    const hour = list.hourAt(start);
    while (end < list.length && list.hourAt(end) === hour) end++;
    const rows = list.rows(start, end);
    const others = byHour.get(hour);
    if (others === undefined) byHour.set(hour, [rows]);
    else others.push(rows);
  }
  return [...byHour].map(([hour, rows]) => [valueKey(hour, sequence), withChecksum(Buffer.concat(rows))]);
}

function listOf(keys: Iterable<IdempotencyRecord>): IdempotencyRecordList {
  const list = new IdempotencyRecordList();
  for (const idempotency of keys) list.push(idempotency);
  return list;
}

/** The smallest key of a value with rows that were used in the hour of `timeMs` or later. */
export function hourKey(timeMs: number): Buffer {
  return valueKey(Math.max(0, Math.floor(timeMs / hourMs)), 0);
}

function valueKey(hour: number, sequence: number): Buffer {
  const key = Buffer.alloc(12);
  key.writeUInt32BE(hour, 0);
  key.writeDoubleBE(sequence, 4);
  return key;
}

/** The records of one value; null when it is damaged. */
export function unpackIdempotencyRecords(value: Buffer): PackedRecords | null {
  const rows = verifyChecksum(value);
  return rows && new PackedRecords(rows);
}

/** The rows of a value, aligned. Iterating makes an object for each. */
export class PackedRecords implements PackedIdempotencyRecords, Iterable<IdempotencyRecord> {
  readonly length: number;
  readonly words: Uint32Array;
  readonly doubles: Float64Array;

  /** Copies the rows, because those of a value may not be aligned. */
  constructor(rows: Uint8Array) {
    const { buffer } = new Uint8Array(rows);
    this.length = rows.length / rowBytes;
    this.words = new Uint32Array(buffer);
    this.doubles = new Float64Array(buffer);
  }

  /** The digests are views of the rows' memory, so they must be copied to be kept. */
  *[Symbol.iterator](): Generator<IdempotencyRecord> {
    const { words, doubles } = this;
    const digest = (word: number) =>
      new Uint8Array(words.buffer, word * words.BYTES_PER_ELEMENT, digestBytes);
    for (let at = 0; at < words.length; at += packedWords) {
      const double = (field: number) => doubles[(at + field) / 2]!;
      yield {
        keyDigest: digest(at + packedAt.keyDigest),
        fingerprint: digest(at + packedAt.fingerprint),
        slot: words[at + packedAt.slot]!,
        usedAtMs: double(packedAt.usedAtMs),
        location: { record: double(packedAt.record), offset: words[at + packedAt.offset]! },
      };
    }
  }
}
