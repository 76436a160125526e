// How a commit batch lies in the log. A batch can be read without any other one, and by later
// versions of the service. All numbers are little-endian:
//
//   0  format (u8)     1  zeros     4  CRC-32 of everything from 8 on (u32)
//   8  first sequence (f64)  16  last sequence (f64)  24  service time (f64)  32  wall time (f64)
//  40  length of the body (u32)   44  length of the responses (u32)
//  48  tag: whose batch it is (22 bytes, see identity.ts)
//  70  epoch of the owner that wrote it, see log-engine.ts (f64)
//  78  body: of each entry the number of its changes (u16), the offset of its stored response (u32,
//      all ones: none) and its cause (u8: the number of its kind from 1, and 128 when a name
//      follows, with its length (u8)), then of each change: the lengths of its key (u8) and of its
//      value (u32), the key, the value (see record-bytes.ts)
//   …  responses: CRC-32 of the rest of the response (u32), key digest (16), fingerprint (16), slot
//      (u16), status (u16), lengths of the request id (u16), of the defaults (u16) and of the body
//      (u32), where the change begins that the body is the end of (u32; 0: it comes last here), the
//      request id, the defaults, the body
//
// A response can be read, and checked, from its offset alone. Mostly an event is about the very
// object that the request was answered with: then the body of the response lies in the event.

import { crc32 } from 'node:zlib';
import { assert } from '../../core/assert.ts';
import { checksumBytes } from '../../disk/checksum.ts';
import { tagBytes } from '../../disk/identity.ts';
import { type Cause, causeKinds, causes } from '../../domain/cause.ts';
import type { Change } from '../../domain/record.ts';
import type { PackedChanges } from '../../store/cold-store.ts';
import {
  digestBytes,
  type Entry,
  type IdempotencyRecord,
  type KeyedResponse,
  type LogBatch,
  type LogEnd,
  type ReplayedEntry,
  type ResponseLocation,
  type StoredResponse,
} from '../journal.ts';
import { ByteWriter } from '../records/byte-writer.ts';
import { compareBytes } from '../records/compare-bytes.ts';
import {
  decodeRecord,
  type EncodedRecord,
  idOfEncoded,
  isSound,
  writeRecord,
} from '../records/record-bytes.ts';

export const batchFormat = 8;
const bodyBytesAt = 40;
const responsesBytesAt = 44;
const tagAt = 48;
const epochAt = tagAt + tagBytes;
const headerBytes = epochAt + 8;
// Where the fields of a response lie, from its start.
const keyDigestAt = 4;
const fingerprintAt = keyDigestAt + digestBytes;
const slotAt = fingerprintAt + digestBytes;
const statusAt = slotAt + 2;
const requestIdLengthAt = statusAt + 2;
const defaultsLengthAt = requestIdLengthAt + 2;
const bodyLengthAt = defaultsLengthAt + 2;
const holderAt = bodyLengthAt + 4;
const responseHeadBytes = holderAt + 4;

/** The fixed part of a commit batch. */
export interface BatchHeader {
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Service time, see core/service-clock.ts. */
  readonly timeMs: number;
  readonly wallMs: number;
  readonly epoch: number;
}

/** An entry as it lies in the log: views of its batch, which is checked. */
export interface StoredEntry extends Omit<ReplayedEntry, 'changes'> {
  readonly records: readonly ChangeInBatch[];
}

const causeAt = 6;
const entryHeadBytes = 7;
const namedMark = 128;
const nameBytesMax = 255;
const changeHeadBytes = 5;
const noResponse = 0xffff_ffff;
const writer = new ByteWriter();

/** A commit batch, the places of its stored responses, and its changes for memory to hold. */
interface EncodedBatch {
  readonly bytes: Buffer;
  readonly locations: (ResponseLocation | null)[];
  readonly changes: PackedChanges;
}

/** Encodes a commit batch of the shard with this tag, whose owner has this epoch. */
export function encodeBatch(batch: LogBatch, tag: Buffer, epoch: number): EncodedBatch {
  const { firstSequence, timeMs, wallMs, entries } = batch;
  const places: number[] = [];
  const bodies: number[] = [];
  const heads: number[] = [];
  writer.clear();
  writer.skip(headerBytes);
  for (const entry of entries) {
    heads.push(writer.length);
    bodies.push(writeChanges(entry, places));
  }
  const bodyEnd = writer.length;
  const locations = entries.map(({ idempotency }, i): ResponseLocation | null => {
    const offset = idempotency === null ? noResponse : writer.length - bodyEnd;
    writer.buffer.writeUInt32LE(offset, heads[i]! + 2);
    if (idempotency === null) return null;
    writeResponse(idempotency, bodies[i]!);
    return { record: firstSequence, offset };
  });
  const { length } = writer;
  const bytes = writer.copy();
  bytes.fill(0, 0, 8);
  bytes[0] = batchFormat;
  bytes.writeDoubleLE(firstSequence, 8);
  bytes.writeDoubleLE(firstSequence + entries.length - 1, 16);
  bytes.writeDoubleLE(timeMs, 24);
  bytes.writeDoubleLE(wallMs, 32);
  bytes.writeUInt32LE(bodyEnd - headerBytes, bodyBytesAt);
  bytes.writeUInt32LE(length - bodyEnd, responsesBytesAt);
  bytes.set(tag, tagAt);
  bytes.writeDoubleLE(epoch, epochAt);
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
  return { bytes, locations, changes: new ChangesOfBatch(bytes, new Uint32Array(places)) };
}

class ChangesOfBatch implements PackedChanges {
  readonly #bytes: Buffer;
  /** Where each change begins. */
  readonly #places: Uint32Array;

  constructor(bytes: Buffer, places: Uint32Array) {
    this.#bytes = bytes;
    this.#places = places;
  }

  get bytes(): number {
    return this.#bytes.length + this.#places.byteLength;
  }

  read(number: number, id: string): Change {
    return decodeRecord(id, new ChangeInBatch(this.#bytes, this.#places[number]!).value);
  }
}

/**
 * Writes the head of an entry, without the offset of its response, and its changes, whose places it
 * adds to `places`. Returns the place of the event that holds the response's body; 0: none.
 */
function writeChanges({ changes, idempotency, cause }: Entry, places: number[]): number {
  const at = writer.skip(entryHeadBytes);
  writer.buffer.writeUInt16LE(changes.length, at);
  writeCause(cause, at + causeAt);
  let holder = 0;
  for (const record of changes) {
    const start = writer.skip(changeHeadBytes);
    const keyBytes = writeRecord(writer, record);
    writer.buffer[start] = keyBytes;
    writer.buffer.writeUInt32LE(writer.length - start - changeHeadBytes - keyBytes, start + 1);
    places.push(start);
    if (record.kind === 'event' && record.object_json === idempotency?.body) holder = start;
  }
  return holder;
}

/** Writes the kind of a cause at `at`, and its name, cut where it is too long, behind that. */
function writeCause(cause: Cause | null, at: number): void {
  const kind = cause === null ? 0 : causeKinds.indexOf(cause.by) + 1;
  const name = cause?.name ?? null;
  writer.buffer[at] = name === null ? kind : kind | namedMark;
  if (name === null) return;
  const bytes = Buffer.from(name).subarray(0, nameBytesMax);
  const start = writer.skip(1 + bytes.length);
  writer.buffer[start] = bytes.length;
  writer.buffer.set(bytes, start + 1);
}

function readCause(bytes: Buffer, at: number): Cause | null {
  const kind = bytes[at]!;
  if (kind === 0) return null;
  const by = causeKinds[(kind & ~namedMark) - 1];
  assert(by !== undefined, `the kind ${kind} of a cause is known`);
  if ((kind & namedMark) === 0) return causes[by];
  return { by, name: bytes.toString('utf8', at + 2, causeEnd(bytes, at)) };
}

function causeEnd(bytes: Buffer, at: number): number {
  return (bytes[at]! & namedMark) === 0 ? at + 1 : at + 2 + bytes[at + 1]!;
}

/** Writes a response; `holder` is the place of the event that holds its body, or 0. */
function writeResponse({ keyDigest, fingerprint, ...response }: KeyedResponse, holder: number): void {
  assert(keyDigest.length === digestBytes && fingerprint.length === digestBytes, 'digests have 16 bytes');
  const { slot, status, requestId, defaults, body } = response;
  const start = writer.skip(responseHeadBytes);
  const requestIdLength = writer.text(requestId);
  const defaultsLength = writer.text(defaults);
  const bodyLength = holder > 0 ? Buffer.byteLength(body as string) : writeBody(body);
  const { buffer, length } = writer;
  buffer.set(keyDigest, start + keyDigestAt);
  buffer.set(fingerprint, start + fingerprintAt);
  buffer.writeUInt16LE(slot, start + slotAt);
  buffer.writeUInt16LE(status, start + statusAt);
  buffer.writeUInt16LE(requestIdLength, start + requestIdLengthAt);
  buffer.writeUInt16LE(defaultsLength, start + defaultsLengthAt);
  buffer.writeUInt32LE(bodyLength, start + bodyLengthAt);
  buffer.writeUInt32LE(holder, start + holderAt);
  buffer.writeUInt32LE(crc32(buffer.subarray(start + keyDigestAt, length)), start);
}

function writeBody(body: KeyedResponse['body']): number {
  if (typeof body === 'string') return writer.text(body);
  const at = writer.skip(body.length);
  writer.buffer.set(body, at);
  return body.length;
}

/**
 * The header of a commit batch that lies under `sequence` (null: anywhere) in the log with this
 * tag; or what is wrong with the batch.
 */
export function checkedHeader(bytes: Buffer, sequence: number | null, tag: Buffer): BatchHeader | string {
  if (bytes.length < headerBytes) return `it has ${bytes.length} bytes, fewer than its header`;
  if (bytes[0] !== batchFormat) return `its format ${bytes[0]} is unknown`;
  if (bytes.readUInt32LE(4) !== crc32(bytes.subarray(8))) return 'its checksum does not match';
  if (tag.compare(bytes, tagAt, tagAt + tagBytes) !== 0) return 'it is of another shard, or data folder';
  const header = readBatchHeader(bytes);
  if (sequence === null || sequence === header.firstSequence) return header;
  return `it says that its first sequence is ${header.firstSequence}`;
}

export function readBatchHeader(bytes: Buffer): BatchHeader {
  return {
    firstSequence: bytes.readDoubleLE(8),
    lastSequence: bytes.readDoubleLE(16),
    timeMs: bytes.readDoubleLE(24),
    wallMs: bytes.readDoubleLE(32),
    epoch: bytes.readDoubleLE(epochAt),
  };
}

/** The end of a log whose last batch this is. */
export function endOfBatch(bytes: Buffer): LogEnd {
  return { sequence: bytes.readDoubleLE(16), checksum: bytes.readUInt32LE(4) };
}

/** The commit batch as one of the shard with this tag, for a folder made from another's log. */
export function retagged(bytes: Buffer, tag: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.set(tag, tagAt);
  copy.writeUInt32LE(crc32(copy.subarray(8)), 4);
  return copy;
}

/** The stored response of an idempotency record of this commit batch. */
export function responseOf(bytes: Buffer, idempotency: IdempotencyRecord | null): KeyedResponse | null {
  if (idempotency === null) return null;
  const response = readResponse(bytes, idempotency.location.offset, idempotency.keyDigest);
  assert(response !== null, 'a commit batch without a defect holds the responses of its entries');
  // As text, so that an event about the same object is written without it again.
  return { ...idempotency, ...response, body: Buffer.from(response.body).toString() };
}

/** Views of a commit batch. Of a damaged one, some entries may come before this throws. */
export function* readEntries(bytes: Buffer): Generator<StoredEntry> {
  const { firstSequence, timeMs } = readBatchHeader(bytes);
  const end = headerBytes + bytes.readUInt32LE(bodyBytesAt);
  for (let at = headerBytes, sequence = firstSequence; at < end; sequence++) {
    const records = new Array<ChangeInBatch>(bytes.readUInt16LE(at));
    const offset = bytes.readUInt32LE(at + 2);
    const cause = readCause(bytes, at + causeAt);
    at = causeEnd(bytes, at + causeAt);
    for (let i = 0; i < records.length; i++) {
      const encoded = new ChangeInBatch(bytes, at);
      records[i] = encoded;
      at = encoded.end;
    }
    const location = { record: firstSequence, offset };
    const idempotency = offset === noResponse ? null : readIdempotencyRecord(bytes, location, timeMs);
    yield { sequence, timeMs, records, idempotency, cause };
  }
}

/** The same decoded, without a hold on the bytes. The batch has no defect. */
export function decodeBatch(bytes: Buffer): ReplayedEntry[] {
  return Array.from(readEntries(bytes), ({ sequence, timeMs, records, idempotency, cause }) => ({
    sequence,
    timeMs,
    cause,
    changes: records.map((encoded) => decodeRecord(idOfEncoded(encoded), encoded.value)),
    idempotency: idempotency && {
      ...idempotency,
      keyDigest: new Uint8Array(idempotency.keyDigest),
      fingerprint: new Uint8Array(idempotency.fingerprint),
    },
  }));
}

/** The change at `at` of a commit batch. Each `key` and `value` is a new view. */
export class ChangeInBatch implements EncodedRecord {
  readonly #bytes: Buffer;
  readonly at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  get #valueAt(): number {
    return this.at + changeHeadBytes + this.#bytes[this.at]!;
  }

  get end(): number {
    return this.#valueAt + this.#bytes.readUInt32LE(this.at + 1);
  }

  get key(): Buffer {
    return this.#bytes.subarray(this.at + changeHeadBytes, this.#valueAt);
  }

  get value(): Buffer {
    return this.#bytes.subarray(this.#valueAt, this.end);
  }
}

/** Compares the keys of two changes, each at its place in a commit batch. */
export function compareKeys(a: Buffer, aAt: number, b: Buffer, bAt: number): number {
  return compareBytes(a, aAt + changeHeadBytes, a[aAt]!, b, bAt + changeHeadBytes, b[bAt]!);
}

function responseStart(bytes: Buffer, offset: number): number {
  return headerBytes + bytes.readUInt32LE(bodyBytesAt) + offset;
}

function readIdempotencyRecord(
  bytes: Buffer,
  location: ResponseLocation,
  usedAtMs: number,
): IdempotencyRecord {
  const start = responseStart(bytes, location.offset);
  return {
    keyDigest: bytes.subarray(start + keyDigestAt, start + fingerprintAt),
    fingerprint: bytes.subarray(start + fingerprintAt, start + slotAt),
    slot: bytes.readUInt16LE(start + slotAt),
    usedAtMs,
    location,
  };
}

/**
 * Reads the stored response at `offset` of a commit batch and checks it alone; null when it is
 * damaged, or of another key, or none. A copy: `bytes` may be used again.
 */
export function readResponse(bytes: Buffer, offset: number, keyDigest: Uint8Array): StoredResponse | null {
  const start = responseStart(bytes, offset);
  if (start + responseHeadBytes > bytes.length) return null;
  const requestIdStart = start + responseHeadBytes;
  const defaultsStart = requestIdStart + bytes.readUInt16LE(start + requestIdLengthAt);
  const ownEnd = defaultsStart + bytes.readUInt16LE(start + defaultsLengthAt);
  const bodyLength = bytes.readUInt32LE(start + bodyLengthAt);
  const holder = bytes.readUInt32LE(start + holderAt);
  const end = holder === 0 ? ownEnd + bodyLength : ownEnd;
  if (end > bytes.length) return null;
  if (bytes.readUInt32LE(start) !== crc32(bytes.subarray(start + keyDigestAt, end))) return null;
  if (bytes.compare(keyDigest, 0, digestBytes, start + keyDigestAt, start + fingerprintAt) !== 0) return null;
  const body = holder === 0 ? bytes.subarray(ownEnd, end) : endOfEvent(bytes, holder, bodyLength);
  if (body === null) return null;
  return {
    status: bytes.readUInt16LE(start + statusAt),
    requestId: bytes.toString('utf8', requestIdStart, defaultsStart),
    defaults: bytes.toString('utf8', defaultsStart, ownEnd),
    body: new Uint8Array(body),
  };
}

/** The text that an event ends with; null when the event is damaged. */
function endOfEvent(bytes: Buffer, place: number, length: number): Buffer | null {
  const { key, value } = new ChangeInBatch(bytes, place);
  const end = value.length - checksumBytes;
  return isSound({ key, value }) ? value.subarray(end - length, end) : null;
}
