// How a turn lies in the log. Called by the log and by its recovery. Every value describes itself: none needs another
// one, or the code of another day, to be read. A log record, little-endian:
//
//   0  format (u8)     1  zeros     4  CRC-32 of everything from 8 on (u32)
//   8  first sequence (f64)   16  last sequence (f64)   24  service time (f64)   32  wall time, Unix ms (f64)
//  40  length of the body (u32)   44  length of the answers (u32)
//  48  tag: whose batch it is (22 bytes, see identity.ts)
//  70  body: for each entry the number of its changes (u16), the offset of its stored response (u32, all ones: none) and
//      its cause (u8: the number of its kind from 1, and 128 when a name follows, with its length (u8)), then each
//      change: its length (u32) and its bytes (see record-layout.ts)
//   …  answers: CRC-32 of the rest of the answer (u32), key digest (16), fingerprint (16), slot (u16), status (u16),
//      lengths of the request id (u16), the defaults (u16) and the answer's body (u32), then these three; one after the other, so
//      that one is read, and checked, from its offset alone
//
// An event about the very object that the request was answered with does not hold that object again: it is the body of
// the entry's stored response.

import { crc32 } from 'node:zlib';
import { assert } from '../core/assert.ts';
import { type Cause, causeKinds, causes } from '../domain/cause.ts';
import type { Change } from '../domain/record.ts';
import type { PackedChanges } from '../store/packed-changes.ts';
import { checksumBytes, writeWithChecksum } from './checksum.ts';
import { tagBytes } from './identity.ts';
import {
  digestBytes,
  type IdempotencyRecord,
  type KeyedResponse,
  type LogBatch,
  type ReplayedEntry,
  type ResponseLocation,
  type StoredResponse,
} from './journal.ts';
import { decodeRecord, packRecord } from './record-layout.ts';

const format = 6;
const bodyLengthInHeaderAt = 40;
const answersLengthAt = 44;
const tagAt = 48;
const headerBytes = tagAt + tagBytes;
// Where the fields of an answer lie, from its start.
const keyDigestAt = 4;
const fingerprintAt = keyDigestAt + digestBytes;
const slotAt = fingerprintAt + digestBytes;
const statusAt = slotAt + 2;
const requestIdLengthAt = statusAt + 2;
const defaultsLengthAt = requestIdLengthAt + 2;
const bodyLengthAt = defaultsLengthAt + 2;
const answerHeaderBytes = bodyLengthAt + 4;

/** The fixed part of a log record. */
export interface TurnHeader {
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Service time, see core/service-clock.ts. */
  readonly timeMs: number;
  /** Wall time. */
  readonly wallMs: number;
}

type Idempotency = NonNullable<LogBatch['entries'][number]['idempotency']>;

const causeAt = 6;
const entryHeadBytes = 7;
const namedMark = 128;
const nameBytesMax = 255;
const lengthBytes = 4;
const noAnswer = 0xffff_ffff;

/** A turn as one log record, with where each entry's answer will lie, and its changes as they can be read from there. */
export interface EncodedTurn {
  readonly bytes: Buffer;
  readonly locations: (ResponseLocation | null)[];
  readonly changes: PackedChanges;
}

/** Encodes a turn as one log record of the shard with this tag. */
export function encodeTurn(turn: LogBatch, tag: Buffer): EncodedTurn {
  const { firstSequence, timeMs, wallMs, entries } = turn;
  const locations: (ResponseLocation | null)[] = [];
  const changes: Buffer[] = [];
  let bodyLength = 0;
  let answersLength = 0;
  for (const { changes: records, idempotency, cause } of entries) {
    const shared = typeof idempotency?.body === 'string' ? idempotency.body : null;
    for (const record of records) {
      const change = packRecord(record, shared);
      changes.push(change);
      bodyLength += lengthBytes + checksumBytes + change.length;
    }
    bodyLength += entryHeadBytes + nameBytes(cause);
    locations.push(idempotency === null ? null : { record: firstSequence, offset: answersLength });
    if (idempotency !== null) answersLength += answerBytes(idempotency);
  }
  const bytes = Buffer.allocUnsafe(headerBytes + bodyLength + answersLength);
  bytes.writeUInt32LE(format, 0);
  bytes.writeDoubleLE(firstSequence, 8);
  bytes.writeDoubleLE(firstSequence + entries.length - 1, 16);
  bytes.writeDoubleLE(timeMs, 24);
  bytes.writeDoubleLE(wallMs, 32);
  bytes.writeUInt32LE(bodyLength, bodyLengthInHeaderAt);
  bytes.writeUInt32LE(answersLength, answersLengthAt);
  bytes.set(tag, tagAt);
  const places = writeEntries(bytes, turn, locations, changes);
  let position = headerBytes + bodyLength;
  for (const { idempotency } of entries)
    if (idempotency !== null) position = writeAnswer(bytes, position, idempotency);
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
  return { bytes, locations, changes: new ChangesOfTurn(bytes, places) };
}

/** Reads changes from the log record that they were written to. */
class ChangesOfTurn implements PackedChanges {
  readonly #bytes: Buffer;
  /** For each change where it begins, its length first, and the offset of its entry's stored response. */
  readonly #places: Uint32Array;

  constructor(bytes: Buffer, places: Uint32Array) {
    this.#bytes = bytes;
    this.#places = places;
  }

  get bytes(): number {
    return this.#bytes.length + this.#places.byteLength;
  }

  read(number: number): Change {
    return readChange(this.#bytes, this.#places[2 * number]!, this.#places[2 * number + 1]!);
  }
}

/** The change at `at` of a log record, whose entry has its stored response at `offset`. */
function readChange(bytes: Buffer, at: number, offset: number): Change {
  const start = at + lengthBytes;
  const shared = () => (offset === noAnswer ? null : answerText(bytes, offset));
  const change = decodeRecord(bytes.subarray(start, start + bytes.readUInt32LE(at)), shared);
  assert(change !== null, 'a log record without a defect holds changes without any');
  return change;
}

/** Writes the body; `changes` are those of all entries, one after the other. Returns their places. */
function writeEntries(
  bytes: Buffer,
  { entries }: LogBatch,
  locations: readonly (ResponseLocation | null)[],
  changes: readonly Buffer[],
): Uint32Array {
  const places = new Uint32Array(2 * changes.length);
  let at = headerBytes;
  let next = 0;
  for (const [i, entry] of entries.entries()) {
    const offset = locations[i]?.offset ?? noAnswer;
    at = bytes.writeUInt16LE(entry.changes.length, at);
    at = bytes.writeUInt32LE(offset, at);
    at = writeCause(bytes, at, entry.cause);
    for (const end = next + entry.changes.length; next < end; next++) {
      const change = changes[next]!;
      places[2 * next] = at;
      places[2 * next + 1] = offset;
      at = bytes.writeUInt32LE(checksumBytes + change.length, at);
      at = writeWithChecksum(change, bytes, at);
    }
  }
  return places;
}

/** What the name of a cause takes, cut off where it is too long. */
function nameBytes(cause: Cause | null): number {
  return cause === null || cause.name === null ? 0 : 1 + nameOf(cause.name).length;
}

function nameOf(name: string): Buffer {
  return Buffer.from(name).subarray(0, nameBytesMax);
}

function writeCause(bytes: Buffer, at: number, cause: Cause | null): number {
  if (cause === null) return bytes.writeUInt8(0, at);
  const kind = causeKinds.indexOf(cause.by) + 1;
  if (cause.name === null) return bytes.writeUInt8(kind, at);
  const name = nameOf(cause.name);
  bytes.writeUInt8(kind | namedMark, at);
  bytes.writeUInt8(name.length, at + 1);
  bytes.set(name, at + 2);
  return at + 2 + name.length;
}

/** The cause at `at`, and where it ends. */
function readCause(bytes: Buffer, at: number): { readonly cause: Cause | null; readonly end: number } {
  const kind = bytes[at]!;
  if (kind === 0) return { cause: null, end: at + 1 };
  const by = causeKinds[(kind & ~namedMark) - 1];
  assert(by !== undefined, `the kind ${kind} of a cause is known`);
  if ((kind & namedMark) === 0) return { cause: causes[by], end: at + 1 };
  const end = at + 2 + bytes[at + 1]!;
  return { cause: { by, name: bytes.toString('utf8', at + 2, end) }, end };
}

function answerBytes({ requestId, defaults, body }: Idempotency): number {
  return answerHeaderBytes + Buffer.byteLength(requestId) + Buffer.byteLength(defaults) + byteLengthOf(body);
}

function byteLengthOf(body: Idempotency['body']): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

function writeAnswer(bytes: Buffer, start: number, idempotency: Idempotency): number {
  assert(
    idempotency.keyDigest.length === digestBytes && idempotency.fingerprint.length === digestBytes,
    'digests have 16 bytes',
  );
  bytes.set(idempotency.keyDigest, start + keyDigestAt);
  bytes.set(idempotency.fingerprint, start + fingerprintAt);
  bytes.writeUInt16LE(idempotency.slot, start + slotAt);
  bytes.writeUInt16LE(idempotency.status, start + statusAt);
  const requestIdLength = bytes.write(idempotency.requestId, start + answerHeaderBytes);
  bytes.writeUInt16LE(requestIdLength, start + requestIdLengthAt);
  const defaultsStart = start + answerHeaderBytes + requestIdLength;
  const defaultsLength = idempotency.defaults === '' ? 0 : bytes.write(idempotency.defaults, defaultsStart);
  bytes.writeUInt16LE(defaultsLength, start + defaultsLengthAt);
  const bodyStart = defaultsStart + defaultsLength;
  const { body } = idempotency;
  const bodyLength = typeof body === 'string' ? bytes.write(body, bodyStart) : body.length;
  if (typeof body !== 'string') bytes.set(body, bodyStart);
  bytes.writeUInt32LE(bodyLength, start + bodyLengthAt);
  const end = bodyStart + bodyLength;
  bytes.writeUInt32LE(crc32(bytes.subarray(start + keyDigestAt, end)), start);
  return end;
}

/** Says what is wrong with the log record that lies under `sequence` in the log with this tag; null: nothing. */
export function turnDefect(bytes: Buffer, sequence: number, tag: Buffer): string | null {
  if (bytes.length < headerBytes) return `it has ${bytes.length} bytes, fewer than its header`;
  if (bytes[0] !== format) return `its format ${bytes[0]} is unknown`;
  if (bytes.readUInt32LE(4) !== crc32(bytes.subarray(8))) return 'its checksum does not match';
  if (tag.compare(bytes, tagAt, tagAt + tagBytes) !== 0) return 'it is of another shard, or data folder';
  const { firstSequence } = readTurnHeader(bytes);
  return firstSequence === sequence ? null : `it says that its first sequence is ${firstSequence}`;
}

/** Reads the header of a log record. */
export function readTurnHeader(bytes: Buffer): TurnHeader {
  return {
    firstSequence: bytes.readDoubleLE(8),
    lastSequence: bytes.readDoubleLE(16),
    timeMs: bytes.readDoubleLE(24),
    wallMs: bytes.readDoubleLE(32),
  };
}

/** The log record as one of the shard with this tag, for a folder that was made from another one's log. */
export function retagged(bytes: Buffer, tag: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.set(tag, tagAt);
  copy.writeUInt32LE(crc32(copy.subarray(8)), 4);
  return copy;
}

/** The log record with its entries up to `lastSequence` only. */
export function cutAfter(bytes: Buffer, lastSequence: number, tag: Buffer): Buffer {
  const { firstSequence, timeMs, wallMs } = readTurnHeader(bytes);
  const entries = decodeTurn(bytes)
    .filter(({ sequence }) => sequence <= lastSequence)
    .map(({ cause, changes, idempotency }) => ({
      cause,
      changes,
      idempotency: responseOf(bytes, idempotency),
    }));
  return encodeTurn({ firstSequence, timeMs, wallMs, entries }, tag).bytes;
}

/** The stored response that belongs to an idempotency record of this log record. */
export function responseOf(bytes: Buffer, idempotency: IdempotencyRecord | null): KeyedResponse | null {
  if (idempotency === null) return null;
  const response = readResponse(bytes, idempotency.location.offset, idempotency.keyDigest);
  assert(response !== null, 'a log record without a defect holds the responses of its entries');
  // As text, so that an event about the same object is written without it again.
  return { ...idempotency, ...response, body: Buffer.from(response.body).toString() };
}

/** Decodes a log record that has no defect. */
export function decodeTurn(bytes: Buffer): ReplayedEntry[] {
  const { firstSequence, timeMs } = readTurnHeader(bytes);
  const entries: ReplayedEntry[] = [];
  const end = headerBytes + bytes.readUInt32LE(bodyLengthInHeaderAt);
  for (let at = headerBytes; at < end; ) {
    const count = bytes.readUInt16LE(at);
    const offset = bytes.readUInt32LE(at + 2);
    const { cause, end: start } = readCause(bytes, at + causeAt);
    at = start;
    const changes: Change[] = [];
    for (let i = 0; i < count; i++) {
      changes.push(readChange(bytes, at, offset));
      at += lengthBytes + bytes.readUInt32LE(at);
    }
    const location = { record: firstSequence, offset };
    const idempotency = offset === noAnswer ? null : readIdempotencyRecord(bytes, location, timeMs);
    entries.push({ sequence: firstSequence + entries.length, timeMs, changes, idempotency, cause });
  }
  return entries;
}

function answerStart(bytes: Buffer, offset: number): number {
  return headerBytes + bytes.readUInt32LE(bodyLengthInHeaderAt) + offset;
}

function readIdempotencyRecord(
  bytes: Buffer,
  location: ResponseLocation,
  usedAtMs: number,
): IdempotencyRecord {
  const start = answerStart(bytes, location.offset);
  // Copies: a view would keep the whole log record in memory for as long as the key lives.
  const digestAt = (at: number) => new Uint8Array(bytes.subarray(start + at, start + at + digestBytes));
  const keyDigest = digestAt(keyDigestAt);
  const fingerprint = digestAt(fingerprintAt);
  const slot = bytes.readUInt16LE(start + slotAt);
  return { keyDigest, fingerprint, slot, usedAtMs, location };
}

/** Where the parts of an answer begin that have no fixed length, and where it ends. */
function answerParts(bytes: Buffer, start: number) {
  const idStart = start + answerHeaderBytes;
  const defaultsStart = idStart + bytes.readUInt16LE(start + requestIdLengthAt);
  const bodyStart = defaultsStart + bytes.readUInt16LE(start + defaultsLengthAt);
  return { idStart, defaultsStart, bodyStart, end: bodyStart + bytes.readUInt32LE(start + bodyLengthAt) };
}

function answerText(bytes: Buffer, offset: number): string {
  const { bodyStart, end } = answerParts(bytes, answerStart(bytes, offset));
  return bytes.toString('utf8', bodyStart, end);
}

/**
 * Reads the stored response at `offset` of a log record and checks it, and it alone; null when it is damaged, when it is
 * that of another key, or when there is none. A copy: `bytes` may be used again.
 */
export function readResponse(bytes: Buffer, offset: number, keyDigest: Uint8Array): StoredResponse | null {
  const start = answerStart(bytes, offset);
  if (start + answerHeaderBytes > bytes.length) return null;
  const { idStart, defaultsStart, bodyStart, end } = answerParts(bytes, start);
  if (end > bytes.length) return null;
  if (bytes.readUInt32LE(start) !== crc32(bytes.subarray(start + keyDigestAt, end))) return null;
  if (bytes.compare(keyDigest, 0, digestBytes, start + keyDigestAt, start + fingerprintAt) !== 0) return null;
  return {
    status: bytes.readUInt16LE(start + statusAt),
    requestId: bytes.toString('utf8', idStart, defaultsStart),
    defaults: bytes.toString('utf8', defaultsStart, bodyStart),
    body: new Uint8Array(bytes.subarray(bodyStart, end)),
  };
}
