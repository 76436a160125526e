// Stored responses whose segment was dropped before they expired, because the bytes of the log are
// limited. A key is the place in the log (batch and offset, big-endian), so the oldest come first.
// A value has a checksum, and then the batch's time (f64), the digest of the idempotency key (16),
// the status, the lengths of the request id and of the defaults (u16 each), these two, and the
// body.

import { elementAt } from '../../core/assert.ts';
import { pieceSize } from '../../core/piece-size.ts';
import { verifyChecksum, withChecksum } from '../../disk/checksum.ts';
import type { Table } from '../../disk/environment.ts';
import { digestBytes, type ResponseLocation, type StoredResponse } from '../journal.ts';
import type { Read } from './index-table.ts';

export interface MovedResponse {
  readonly location: ResponseLocation;
  readonly keyDigest: Uint8Array;
  readonly timeMs: number;
  readonly response: StoredResponse;
}

interface ExpiredResponse {
  readonly key: Uint8Array;
  readonly isDamaged: boolean;
}

const statusAt = 8 + digestBytes;
const headBytes = statusAt + 6;
const removedMax = pieceSize(1_000);

export class ResponseTable {
  readonly #table: Table;
  readonly #read: Read;

  constructor(table: Table, read: Read) {
    this.#table = table;
    this.#read = read;
  }

  /** Null when it is damaged or of another key; undefined when it is not here. */
  get(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | null | undefined {
    const value = this.#read(() => this.#table.get(keyOf(location)));
    if (value === undefined) return undefined;
    const bytes = verifyChecksum(value);
    if (bytes === null || bytes.compare(keyDigest, 0, digestBytes, 8, statusAt) !== 0) return null;
    const defaultsAt = headBytes + bytes.readUInt16LE(statusAt + 2);
    const bodyAt = defaultsAt + bytes.readUInt16LE(statusAt + 4);
    return {
      status: bytes.readUInt16LE(statusAt),
      requestId: bytes.toString('utf8', headBytes, defaultsAt),
      defaults: bytes.toString('utf8', defaultsAt, bodyAt),
      body: new Uint8Array(bytes.subarray(bodyAt)),
    };
  }

  put(responses: readonly MovedResponse[]): void {
    for (const moved of responses) this.#table.putSync(keyOf(moved.location), encode(moved));
  }

  /**
   * The keys of some older responses, the oldest first. The time of a damaged one is not known: it
   * has expired when one behind it has.
   */
  expired(olderThanMs: number): ExpiredResponse[] {
    const rows = this.#read(() => [...this.#table.getRange({ limit: removedMax })]);
    const times = rows.map(({ value }) => verifyChecksum(value)?.readDoubleLE(0) ?? null);
    const end = times.findIndex((timeMs) => timeMs !== null && timeMs >= olderThanMs);
    const last = times.slice(0, end < 0 ? times.length : end).findLastIndex((timeMs) => timeMs !== null);
    return rows.slice(0, last + 1).map(({ key }, i) => ({ key, isDamaged: times[i] === null }));
  }

  remove(expired: readonly ExpiredResponse[]): void {
    for (const { key } of expired) this.#table.removeSync(key);
  }
}

function keyOf({ record, offset }: ResponseLocation): Buffer {
  const key = Buffer.alloc(12);
  key.writeDoubleBE(record, 0);
  key.writeUInt32BE(offset, 8);
  return key;
}

/** The place in the log that a key of the table names. */
export function locationOf(key: Uint8Array): ResponseLocation {
  const view = new DataView(key.buffer, key.byteOffset);
  return { record: view.getFloat64(0), offset: view.getUint32(8) };
}

function encode({ keyDigest, timeMs, response }: MovedResponse): Buffer {
  const { status, requestId, defaults, body } = response;
  const texts = [Buffer.from(requestId), Buffer.from(defaults), Buffer.from(body)];
  const head = Buffer.alloc(headBytes);
  head.writeDoubleLE(timeMs, 0);
  head.set(keyDigest, 8);
  head.writeUInt16LE(status, statusAt);
  head.writeUInt16LE(elementAt(texts, 0).length, statusAt + 2);
  head.writeUInt16LE(elementAt(texts, 1).length, statusAt + 4);
  return withChecksum(Buffer.concat([head, ...texts]));
}
