// A record as bytes: a key and a value, the same in the log and in the checkpoint. Whatever moves
// records moves these bytes, and decodes only what it needs. The key is the id with its prefix
// last, packed: its order is that in which records were made. The value, little-endian:
//
//   0  number of the kind (u8)   1  version of its layout (u8)   2  flags (u8): 1 live, 2 removed
//   3  length of the organization (u8), then the organization, packed
//   …  the values of the other fields, see record-layout.ts: msgpack, one array
//   …  CRC-32 of the key and of everything before it in the value (u32)

import { crc32 } from 'node:zlib';
import { Packr, RESET_BUFFER_MODE, REUSE_BUFFER_MODE } from 'msgpackr';
import { assert } from '../../core/assert.ts';
import { pieceSize } from '../../core/piece-size.ts';
import { remembering } from '../../core/remembering.ts';
import { checksumBytes } from '../../disk/checksum.ts';
import type { IndexedRecord } from '../../domain/indexes.ts';
import type { RecordKind, StoredRecord } from '../../domain/record.ts';
import { ByteWriter } from './byte-writer.ts';
import { packedBytes, packText, unpackText, writePacked } from './packed-text.ts';
import {
  indexedIn,
  indexedOf,
  kindOf,
  numbersOf,
  type RecordHead,
  recordOf,
  valuesOf,
} from './record-layout.ts';

export interface EncodedRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

const idLengthMax = 100;
const flags = { livemode: 1, removed: 2 } as const;
const flagsAt = 2;
const organizationAt = 4;
// Bytes are copied: a record is mostly decoded from LMDB's own buffer, which is used again.
const packr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true });

/** The library's own buffer, whose next use overwrites it, with where the values lie. */
const packedInPlace = REUSE_BUFFER_MODE | RESET_BUFFER_MODE;
type PackedInPlace = Buffer & { readonly start: number; readonly end: number };

/** The id with its prefix last, as it is in keys; empty when the text can't be an id. */
function prefixLast(id: string): string {
  // A reader may ask for any text.
  const end = id.length > idLengthMax ? -1 : id.indexOf('_');
  return end < 1 || /[^0-9A-Z_a-z]/.test(id) ? '' : `${id.slice(end + 1)}_${id.slice(0, end)}`;
}

function prefixFirst(rotated: string): string {
  const end = rotated.lastIndexOf('_');
  return `${rotated.slice(end + 1)}_${rotated.slice(0, end)}`;
}

/** The key of the record with this id; null when the text can't be an id. */
export function keyOfId(id: string): Buffer | null {
  const rotated = prefixLast(id);
  return rotated === '' ? null : packText(rotated);
}

export function idOfEncoded({ key }: EncodedRecord): string {
  return prefixFirst(unpackText(key));
}

/** Writes a record as its key and, directly after it, its value; returns how long the key is. */
export function writeRecord(writer: ByteWriter, record: StoredRecord): number {
  const { number, version } = numbersOf(record.kind);
  const { id } = record;
  const prefixEnd = id.indexOf('_');
  const keyBytes = packedBytes(id);
  const organization = packedOrganization(record.org);
  const values = packr.pack(valuesOf(record), packedInPlace) as PackedInPlace;
  const valuesBytes = values.end - values.start;
  const valuesAt = keyBytes + organizationAt + organization.length;
  const start = writer.skip(valuesAt + valuesBytes + checksumBytes);
  const { buffer } = writer;
  assert(
    prefixEnd > 0 && id.length <= idLengthMax && writePacked(id, buffer, start, prefixEnd),
    `${id} is an id`,
  );
  const head = start + keyBytes;
  buffer[head] = number;
  buffer[head + 1] = version;
  buffer[head + flagsAt] = (record.livemode ? flags.livemode : 0) | (record.removed ? flags.removed : 0);
  buffer[head + organizationAt - 1] = organization.length;
  buffer.set(organization, head + organizationAt);
  values.copy(buffer, start + valuesAt, values.start, values.end);
  const end = start + valuesAt + valuesBytes;
  buffer.writeUInt32LE(crc32(buffer.subarray(start, end)), end);
  return keyBytes;
}

const alone = new ByteWriter();

/** The bytes of a record that is not in a commit batch. */
export function encodeRecord(record: StoredRecord): EncodedRecord {
  alone.clear();
  const keyBytes = writeRecord(alone, record);
  const bytes = alone.copy();
  return { key: bytes.subarray(0, keyBytes), value: bytes.subarray(keyBytes) };
}

/** Whether the value matches its checksum. Within a commit batch its own checksum is enough. */
export function isSound({ key, value }: EncodedRecord): boolean {
  const end = value.length - checksumBytes;
  return end > organizationAt && value.readUInt32LE(end) === crc32(value.subarray(0, end), crc32(key));
}

/** Whether the bytes say that the record was removed. The checkpoint has none such. */
export function isRemoved({ value }: EncodedRecord): boolean {
  return (value[flagsAt]! & flags.removed) !== 0;
}

export function kindOfEncoded({ value }: EncodedRecord): RecordKind {
  return kindOf(value[0]!);
}

export function organizationOf({ value }: EncodedRecord): string {
  return organizationIn(value);
}

function organizationIn(value: Buffer): string {
  const end = organizationAt + value[organizationAt - 1]!;
  return unpackedOrganization(value.toString('latin1', organizationAt, end));
}

/** The value must match its checksum. */
export function decodeRecord(id: string, value: Buffer): StoredRecord {
  return recordOf(headOf(id, value), value[1]!, packr.unpack(valuesIn(value)));
}

/** Decodes as much as the index rows depend on. The value must match its checksum. */
export function decodeIndexed(id: string, value: Buffer): IndexedRecord {
  const head = headOf(id, value);
  const count = indexedIn(head.kind, value[1]!);
  if (count === null) return decodeRecord(id, value);
  const values: unknown[] = [];
  packr.unpackMultiple(valuesIn(value, 'items'), (each) => {
    values.push(each);
    return values.length < count;
  });
  return indexedOf(head, values);
}

function headOf(id: string, value: Buffer): RecordHead {
  const head: { -readonly [name in keyof RecordHead]: RecordHead[name] } = {
    kind: kindOf(value[0]!),
    id,
    org: organizationIn(value),
    livemode: (value[flagsAt]! & flags.livemode) !== 0,
  };
  if ((value[flagsAt]! & flags.removed) !== 0) head.removed = true;
  return head;
}

/** The array of the values, or what of it comes after its head. */
function valuesIn(value: Buffer, part: 'array' | 'items' = 'array'): Buffer {
  const start = organizationAt + value[organizationAt - 1]!;
  // An array with up to 15 items has a short head.
  const headBytes = part === 'array' ? 0 : value[start]! < 0xa0 ? 1 : 3;
  return value.subarray(start + headBytes, value.length - checksumBytes);
}

/** Null when the bytes are damaged. */
export function readRecord(encoded: EncodedRecord): StoredRecord | null {
  return isSound(encoded) ? decodeRecord(idOfEncoded(encoded), encoded.value) : null;
}

const organizationsMax = pieceSize(1_000);

const packedOrganization = remembering(organizationsMax, (org: string): Buffer => {
  const packed = packText(org);
  assert(packed !== null && packed.length < 256, `${org} is the id of an organization`);
  return packed;
});

/** Of bytes as Latin-1. One text for all records of an organization takes its memory once. */
const unpackedOrganization = remembering(organizationsMax, (packed: string): string =>
  unpackText(Buffer.from(packed, 'latin1')),
);
