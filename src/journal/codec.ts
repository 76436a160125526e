// How a turn lies in the log, and how one record lies in the checkpoint. Called by the log, by recovery and by the
// checkpoint. Every value describes itself: none needs another one, or the code of another day, to be read.
//
// A checkpointed record is msgpack, sealed (see seal.ts). A log record, little-endian:
//
//   0  format (u8)     1  zeros     4  CRC-32 of everything from 8 on (u32)
//   8  first sequence (f64)   16  last sequence (f64)   24  time, Unix ms (f64)
//  32  length of the body (u32)   36  length of the answers (u32)
//  40  tag: whose batch it is (22 bytes, see identity.ts)
//  62  body: msgpack, one `[changes, offset of the kept answer or null]` for each entry
//   …  answers: CRC-32 of the rest of the answer (u32), key digest (16), fingerprint (16), status (u16), lengths of
//      the request id (u16), the defaults (u16) and the answer's body (u32), then these three; one after the other, so
//      that one is read, and checked, from its offset alone
//
// Metadata has names that merchants choose. It is packed as a flat list: as an object every set of names would define
// a new msgpack record, and msgpackr renames a `__proto__` field.

import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr';
import { assert } from '../core/assert.ts';
import type { Change, Metadata, StoredRecord } from '../domain/record.ts';
import { tagBytes } from './identity.ts';
import {
  type AnswerLocation,
  digestBytes,
  type KeptAnswer,
  type KeptKey,
  type ReplayedEntry,
  type Turn,
} from './journal.ts';
import { seal, unseal } from './seal.ts';

const format = 2;
const tagAt = 40;
const headerBytes = tagAt + tagBytes;
// Where the fields of an answer lie, from its start.
const keyDigestAt = 4;
const fingerprintAt = keyDigestAt + digestBytes;
const statusAt = fingerprintAt + digestBytes;
const requestIdLengthAt = statusAt + 2;
const defaultsLengthAt = requestIdLengthAt + 2;
const bodyLengthAt = defaultsLengthAt + 2;
const answerHeaderBytes = bodyLengthAt + 4;

/** The fixed part of a log record. */
export interface TurnHeader {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly timeMs: number;
}

type Kept = NonNullable<Turn['entries'][number]['kept']>;

// A log record holds many alike records, so their field names are written once (msgpackr's record extension). A
// checkpointed record stands alone: there a plain map is smaller and 1.5 times as fast.
//
// Bytes within a record are copied out: what is decoded is mostly LMDB's own buffer, lent until its next read.
const turnPackr = new Packr({ useRecords: true, copyBuffers: true });
const recordPackr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true });

/** Encodes a turn as one log record of the shard with this tag, and says where each entry's answer will lie. */
export function encodeTurn(turn: Turn, tag: Buffer): { bytes: Buffer; locations: (AnswerLocation | null)[] } {
  const rows: [unknown[], number | null][] = [];
  const locations: (AnswerLocation | null)[] = [];
  let answersLength = 0;
  for (const { changes, kept } of turn.entries) {
    rows.push([changes.map(toPacked), kept === null ? null : answersLength]);
    locations.push(kept === null ? null : { record: turn.firstSequence, offset: answersLength });
    if (kept !== null) answersLength += answerBytes(kept);
  }
  const body = turnPackr.pack(rows);
  const bytes = Buffer.allocUnsafe(headerBytes + body.length + answersLength);
  bytes.writeUInt32LE(format, 0);
  bytes.writeDoubleLE(turn.firstSequence, 8);
  bytes.writeDoubleLE(turn.firstSequence + turn.entries.length - 1, 16);
  bytes.writeDoubleLE(turn.timeMs, 24);
  bytes.writeUInt32LE(body.length, 32);
  bytes.writeUInt32LE(answersLength, 36);
  bytes.set(tag, tagAt);
  bytes.set(body, headerBytes);
  let position = headerBytes + body.length;
  for (const { kept } of turn.entries) if (kept !== null) position = writeAnswer(bytes, position, kept);
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
  return { bytes, locations };
}

function answerBytes({ requestId, defaults, body }: Kept): number {
  return answerHeaderBytes + Buffer.byteLength(requestId) + Buffer.byteLength(defaults) + body.length;
}

function writeAnswer(bytes: Buffer, start: number, kept: Kept): number {
  assert(
    kept.keyDigest.length === digestBytes && kept.fingerprint.length === digestBytes,
    'digests have 16 bytes',
  );
  bytes.set(kept.keyDigest, start + keyDigestAt);
  bytes.set(kept.fingerprint, start + fingerprintAt);
  bytes.writeUInt16LE(kept.status, start + statusAt);
  const requestIdLength = bytes.write(kept.requestId, start + answerHeaderBytes);
  bytes.writeUInt16LE(requestIdLength, start + requestIdLengthAt);
  const defaultsStart = start + answerHeaderBytes + requestIdLength;
  const defaultsLength = kept.defaults === '' ? 0 : bytes.write(kept.defaults, defaultsStart);
  bytes.writeUInt16LE(defaultsLength, start + defaultsLengthAt);
  bytes.writeUInt32LE(kept.body.length, start + bodyLengthAt);
  bytes.set(kept.body, defaultsStart + defaultsLength);
  const end = defaultsStart + defaultsLength + kept.body.length;
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
  };
}

/** Decodes a log record that has no defect. */
export function decodeTurn(bytes: Buffer): ReplayedEntry[] {
  const { firstSequence, timeMs } = readTurnHeader(bytes);
  const rows = turnPackr.unpack(bodyOf(bytes)) as [StoredRecord[], number | null][];
  return rows.map(([changes, offset], index) => ({
    sequence: firstSequence + index,
    timeMs,
    changes: changes.map(fromPacked),
    kept: offset === null ? null : readKeptKey(bytes, { record: firstSequence, offset }, timeMs),
  }));
}

function bodyOf(bytes: Buffer): Buffer {
  return bytes.subarray(headerBytes, headerBytes + bytes.readUInt32LE(32));
}

function answerStart(bytes: Buffer, offset: number): number {
  return headerBytes + bytes.readUInt32LE(32) + offset;
}

function readKeptKey(bytes: Buffer, location: AnswerLocation, usedAtMs: number): KeptKey {
  const start = answerStart(bytes, location.offset);
  // Copies: a view would keep the whole log record in memory for as long as the key lives.
  const digestAt = (at: number) => new Uint8Array(bytes.subarray(start + at, start + at + digestBytes));
  const keyDigest = digestAt(keyDigestAt);
  const fingerprint = digestAt(fingerprintAt);
  return { keyDigest, fingerprint, usedAtMs, location };
}

/**
 * Reads the kept answer at `offset` of a log record and checks it, and it alone; null when it is damaged, when it is
 * that of another key, or when there is none. A copy: `bytes` may be used again.
 */
export function readAnswer(bytes: Buffer, offset: number, keyDigest: Uint8Array): KeptAnswer | null {
  const start = answerStart(bytes, offset);
  const idStart = start + answerHeaderBytes;
  if (idStart > bytes.length) return null;
  const defaultsStart = idStart + bytes.readUInt16LE(start + requestIdLengthAt);
  const bodyStart = defaultsStart + bytes.readUInt16LE(start + defaultsLengthAt);
  const end = bodyStart + bytes.readUInt32LE(start + bodyLengthAt);
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

/** Encodes one record for the checkpoint. */
export function encodeRecord(record: Change): Buffer {
  return seal(recordPackr.pack(toPacked(record)));
}

/** Decodes a record of the checkpoint; null when the bytes are damaged. */
export function decodeRecord(bytes: Buffer): Change | null {
  const packed = unseal(bytes);
  return packed && fromPacked(recordPackr.unpack(packed));
}

function toPacked(record: StoredRecord): unknown {
  if (!('metadata' in record)) return record;
  const flat: string[] = [];
  for (const name of Object.keys(record.metadata)) flat.push(name, record.metadata[name]!);
  return { ...record, metadata: flat };
}

/** Undoes `toPacked`, in place: the record was just decoded and nobody else has it. */
function fromPacked(record: StoredRecord): StoredRecord {
  if (!('metadata' in record)) return record;
  const flat = record.metadata as unknown as string[];
  const metadata: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) {
    if (flat[i] === '__proto__')
      Object.defineProperty(metadata, '__proto__', {
        value: flat[i + 1],
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else metadata[flat[i]!] = flat[i + 1]!;
  }
  (record as { metadata: Metadata }).metadata = metadata;
  return record;
}
