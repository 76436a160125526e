// The binary frames between edges and shards. In one tick an edge packs its requests for a shard
// into one buffer and transfers it without a copy; the answers of a commit batch come back the same
// way. The reader of a buffer writes its next frames into it: new buffers are memory outside of
// V8's heap, which makes it collect the whole heap again and again.

// Numbers are little-endian, text is UTF-8 with its length (u16) before it, and a body is the rest.
//
//   buffer:   u32 bytes used (both fields included) · u32 number of frames, then frames
//   request:  u32 length of the whole frame · u32 correlation
//             · u8 route · u8 flags · u8 language · u8 version
//             · organization · request id · id in the path · query · idempotency key
//             · the member if the flag says so · body
//   answer:   u32 length of the whole frame · u32 correlation
//             · u16 status · u8 flags · u8 error number
//             · u32 limit · u32 remaining · u32 reset · u32 retry-after (0: none)
//             · the original request's id · body

import { assert } from '../core/assert.ts';
import { pieceSize } from '../core/piece-size.ts';

/** Flags of a request. `byMember`: a member gives it in the dashboard, so it spends no limits. */
export const requestFlags = { livemode: 1, hasIdempotencyKey: 2, wrongContentType: 4, byMember: 8 } as const;
/** The request names no version, so the organization's own applies. */
export const noVersion = 255;
/** Flags of an answer. `withdrawn`: the request was withdrawn and did not run. */
export const answerFlags = { replayed: 1, more: 2, withdrawn: 4 } as const;
/** In place of the route of a request that was withdrawn, or was taken ahead of others. */
export const withdrawnRoute = 255;
export const takenRoute = 254;

export interface RequestFrame {
  readonly correlation: number;
  readonly route: number;
  readonly flags: number;
  readonly language: number;
  /** Its position in the list of versions, or `noVersion`. */
  readonly version: number;
  readonly org: string;
  readonly requestId: string;
  readonly id: string;
  readonly query: string;
  /** Meaningless unless the flag says that the header was sent. */
  readonly idempotencyKey: string;
  /** The id of the member; '' unless the flag says that there is one. */
  readonly member: string;
  /** A view into the buffer, which is used again once it was read. */
  readonly body: Buffer;
}

export interface AnswerFrame {
  readonly correlation: number;
  readonly status: number;
  readonly flags: number;
  readonly errorNumber: number;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  readonly retryAfterSeconds: number;
  /** Id of the first request, on a replay. */
  readonly originalRequest: string;
  /** A view into the buffer, which is used again once it was read. */
  readonly body: Buffer;
}

type AnswerLimits = Pick<AnswerFrame, 'limit' | 'remaining' | 'resetSeconds'>;
/** What an answer says besides the rate limits. */
type AnswerFields = Omit<AnswerFrame, keyof AnswerLimits | 'correlation' | 'body'>;

const headerBytes = 8;
const requestFixedBytes = 12;
const answerFixedBytes = 28;
const bufferBytesMin = pieceSize(16 * 1024);
const spareBytesMax = pieceSize(1024 * 1024);
const spareMax = 8;
/** The most UTF-8 bytes that a UTF-16 unit can take. */
const bytesPerUnitMax = 3;

/** The buffers that this end has read, for the frames that it writes. */
export class SpareBuffers {
  readonly #buffers: ArrayBuffer[] = [];

  /** Takes a buffer of which no view is used any more. */
  give(buffer: ArrayBuffer): void {
    if (this.#buffers.length < spareMax && buffer.byteLength <= spareBytesMax) this.#buffers.push(buffer);
  }

  /** A buffer of at least this size. Spare ones that are too small are dropped. */
  take(bytes: number): Buffer<ArrayBuffer> {
    for (let spare = this.#buffers.pop(); spare !== undefined; spare = this.#buffers.pop())
      if (spare.byteLength >= bytes) return Buffer.from(spare);
    return Buffer.allocUnsafeSlow(Math.max(bufferBytesMin, bytes));
  }
}

/** Packs frames into one buffer, which `take` returns. */
class FrameWriter {
  readonly #spare: SpareBuffers;
  #buffer: Buffer<ArrayBuffer> | null = null;
  #used = headerBytes;
  #count = 0;

  constructor(spare = new SpareBuffers()) {
    this.#spare = spare;
  }

  get empty(): boolean {
    return this.#buffer === null;
  }

  get bytes(): number {
    return this.#used;
  }

  /** Makes room for a frame of at most `bytes` behind the last one, and returns the buffer. */
  protected reserve(bytes: number): Buffer {
    const used = this.#used;
    if (this.#buffer === null) this.#buffer = this.#spare.take(used + bytes);
    else if (used + bytes > this.#buffer.length) {
      const larger = this.#spare.take(Math.max(this.#buffer.length * 2, used + bytes));
      this.#buffer.copy(larger, 0, 0, used);
      this.#buffer = larger;
    }
    return this.#buffer;
  }

  protected finish(end: number): void {
    const buffer = this.#buffer;
    assert(buffer !== null && end <= buffer.length, 'a frame ends within the room that was made for it');
    buffer.writeUInt32LE(end - this.#used, this.#used);
    this.#used = end;
    this.#count++;
  }

  /** Returns the frames, to be transferred. The next frame begins a new buffer. */
  take(): ArrayBuffer {
    const buffer = this.#buffer;
    assert(buffer !== null, 'frames are sent when there are some');
    buffer.writeUInt32LE(this.#used, 0);
    buffer.writeUInt32LE(this.#count, 4);
    this.#buffer = null;
    this.#used = headerBytes;
    this.#count = 0;
    return buffer.buffer;
  }
}

function putText(buffer: Buffer, text: string, at: number): number {
  // Most texts are empty, and a call that writes nothing costs as much as one that writes.
  const length = text === '' ? 0 : buffer.write(text, at + 2);
  buffer.writeUInt16LE(length, at);
  return at + 2 + length;
}

export class RequestWriter extends FrameWriter {
  put(correlation: number, frame: Omit<RequestFrame, 'correlation'>): void {
    const { org, requestId, id, query, idempotencyKey, member, body } = frame;
    const units =
      org.length + requestId.length + id.length + query.length + idempotencyKey.length + member.length;
    const start = this.bytes;
    const buffer = this.reserve(requestFixedBytes + 12 + units * bytesPerUnitMax + body.length);
    buffer.writeUInt32LE(correlation, start + 4);
    buffer[start + 8] = frame.route;
    buffer[start + 9] = frame.flags;
    buffer[start + 10] = frame.language;
    buffer[start + 11] = frame.version;
    let at = putText(buffer, org, start + requestFixedBytes);
    at = putText(buffer, requestId, at);
    at = putText(buffer, id, at);
    at = putText(buffer, query, at);
    at = putText(buffer, idempotencyKey, at);
    if ((frame.flags & requestFlags.byMember) !== 0) at = putText(buffer, member, at);
    buffer.set(body, at);
    this.finish(at + body.length);
  }
}

export class AnswerWriter extends FrameWriter {
  /** `body` is text, or the bytes of a stored response. */
  put(
    correlation: number,
    { limit, remaining, resetSeconds }: AnswerLimits,
    { status, flags, errorNumber, retryAfterSeconds, originalRequest }: AnswerFields,
    body: string | Uint8Array,
  ): void {
    const bodyBytesMax = typeof body === 'string' ? body.length * bytesPerUnitMax : body.length;
    const originalMax = originalRequest.length * bytesPerUnitMax;
    const start = this.bytes;
    const buffer = this.reserve(answerFixedBytes + 2 + originalMax + bodyBytesMax);
    buffer.writeUInt32LE(correlation, start + 4);
    buffer.writeUInt16LE(status, start + 8);
    buffer[start + 10] = flags;
    buffer[start + 11] = errorNumber;
    buffer.writeUInt32LE(limit, start + 12);
    buffer.writeUInt32LE(remaining, start + 16);
    buffer.writeUInt32LE(resetSeconds, start + 20);
    buffer.writeUInt32LE(retryAfterSeconds, start + 24);
    let at = putText(buffer, originalRequest, start + answerFixedBytes);
    if (typeof body === 'string') {
      at += buffer.write(body, at);
    } else {
      buffer.set(body, at);
      at += body.length;
    }
    this.finish(at);
  }
}

class FrameReader {
  readonly bytes: ArrayBuffer;
  protected readonly buffer: Buffer;
  #left: number;
  #at = headerBytes;

  constructor(bytes: ArrayBuffer) {
    this.bytes = bytes;
    this.buffer = Buffer.from(bytes);
    this.#left = this.buffer.readUInt32LE(4);
  }

  get left(): number {
    return this.#left;
  }

  /** Where the next frame begins, which counts as read. */
  protected step(): number {
    assert(this.#left > 0, 'no more frames are read than were written');
    const start = this.#at;
    this.#at += this.buffer.readUInt32LE(start);
    this.#left--;
    return start;
  }

  /** Where each frame begins that was not read yet. */
  protected *unread(): Iterable<number> {
    let at = this.#at;
    for (let left = this.#left; left > 0; left--) {
      yield at;
      at += this.buffer.readUInt32LE(at);
    }
  }

  /** Where the frame ends that was read last. */
  protected get end(): number {
    return this.#at;
  }
}

export class RequestReader extends FrameReader {
  /** Where the text that is read now begins. */
  #textAt = 0;
  /** `takeOut` has found all that it can find. */
  #isSearched = false;

  next(): RequestFrame {
    const start = this.step();
    return this.#frame(start, this.end);
  }

  #frame(start: number, end: number): RequestFrame {
    const { buffer } = this;
    const flags = buffer.readUInt8(start + 9);
    this.#textAt = start + requestFixedBytes;
    return {
      correlation: buffer.readUInt32LE(start + 4),
      route: buffer.readUInt8(start + 8),
      flags,
      language: buffer.readUInt8(start + 10),
      version: buffer.readUInt8(start + 11),
      org: this.#text(),
      requestId: this.#text(),
      id: this.#text(),
      query: this.#text(),
      idempotencyKey: this.#text(),
      member: (flags & requestFlags.byMember) === 0 ? '' : this.#text(),
      body: buffer.subarray(this.#textAt, end),
    };
  }

  #text(): string {
    const start = this.#textAt + 2;
    const length = this.buffer.readUInt16LE(this.#textAt);
    this.#textAt = start + length;
    return length === 0 ? '' : this.buffer.toString('utf8', start, start + length);
  }

  /** Makes `next` return these unread requests with `withdrawnRoute`. */
  withdraw(correlations: ReadonlySet<number>): void {
    for (const start of this.unread()) {
      if (this.buffer[start + 8] !== takenRoute && correlations.has(this.buffer.readUInt32LE(start + 4)))
        this.buffer[start + 8] = withdrawnRoute;
    }
  }

  /**
   * Gives the unread requests of the wanted routes to `each`, until that returns false. `next`
   * returns them with `takenRoute`. Returns whether any other is left.
   */
  takeOut(isWanted: readonly boolean[], each: (frame: RequestFrame) => boolean): boolean {
    if (this.#isSearched) return true;
    let isOtherLeft = false;
    for (const start of this.unread()) {
      const route = this.buffer.readUInt8(start + 8);
      if (route === takenRoute) continue;
      if (isWanted[route] !== true) {
        isOtherLeft = true;
        continue;
      }
      const frame = this.#frame(start, start + this.buffer.readUInt32LE(start));
      this.buffer[start + 8] = takenRoute;
      if (!each(frame)) return true;
    }
    this.#isSearched = true;
    return isOtherLeft;
  }
}

class AnswerReader extends FrameReader {
  next(): AnswerFrame {
    const { buffer } = this;
    const start = this.step();
    const originalLength = buffer.readUInt16LE(start + answerFixedBytes);
    const bodyStart = start + answerFixedBytes + 2 + originalLength;
    return {
      correlation: buffer.readUInt32LE(start + 4),
      status: buffer.readUInt16LE(start + 8),
      flags: buffer.readUInt8(start + 10),
      errorNumber: buffer.readUInt8(start + 11),
      limit: buffer.readUInt32LE(start + 12),
      remaining: buffer.readUInt32LE(start + 16),
      resetSeconds: buffer.readUInt32LE(start + 20),
      retryAfterSeconds: buffer.readUInt32LE(start + 24),
      originalRequest:
        originalLength === 0 ? '' : buffer.toString('latin1', start + answerFixedBytes + 2, bodyStart),
      body: buffer.subarray(bodyStart, this.end),
    };
  }
}

export function readAnswers(bytes: ArrayBuffer, each: (frame: AnswerFrame) => void): void {
  for (const reader = new AnswerReader(bytes); reader.left > 0; ) each(reader.next());
}
