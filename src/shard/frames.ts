// The binary frames between edges and shards. In one tick an edge packs its requests for a shard into one buffer and
// transfers it without a copy; the answers of a turn come back the same way.
//
//   batch:    u32 bytes used (this field included), then frames
//   request:  u32 length · u32 correlation · u8 route · u8 flags · u8 language · u8 version
//             · u16 length and bytes of: organization, request id, id in the path, query, idempotency key
//             · body (the rest)
//   answer:   u32 length · u32 correlation · u16 status · u8 flags · u8 error number
//             · u32 limit · u32 remaining · u32 reset · u32 retry-after (0: none)
//             · u16 length and bytes of the original request's id · body (the rest)
//
// Numbers are little-endian, text is UTF-8. A frame's length counts the whole frame.

/** Bits of a request's flags. */
export const requestFlags = { livemode: 1, hasIdempotencyKey: 2, wrongContentType: 4 } as const;
/** The request names no version: the organization's own counts. */
export const noVersion = 255;
/** Bits of an answer's flags. */
export const answerFlags = { replayed: 1, more: 2 } as const;

export interface RequestFrame {
  readonly correlation: number;
  readonly route: number;
  readonly flags: number;
  readonly language: number;
  /** Its place in the list of versions, or `noVersion`. */
  readonly version: number;
  readonly org: string;
  readonly requestId: string;
  readonly id: string;
  readonly query: string;
  /** Meaningless unless the flag says that the header was sent. */
  readonly idempotencyKey: string;
  /** A view into the batch. */
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
  /** A view into the batch. */
  readonly body: Buffer;
}

const headerBytes = 4;
const requestFixedBytes = 12;
const answerFixedBytes = 28;
const firstBatchBytes = 16 * 1024;
const reusedBatchBytesMax = 1024 * 1024;
/** The most UTF-8 bytes that a UTF-16 unit can take. */
const bytesPerUnitMax = 3;

/** Packs frames into one buffer, which `take` hands out. */
class BatchWriter {
  #buffer: Buffer | null = null;
  #used = headerBytes;
  #firstBytes = firstBatchBytes;

  get empty(): boolean {
    return this.#buffer === null;
  }

  get bytes(): number {
    return this.#used;
  }

  /** Makes room for a frame of at most `bytes` and gives where it starts. */
  protected reserve(bytes: number): { buffer: Buffer; start: number } {
    if (this.#buffer === null) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(this.#firstBytes, headerBytes + bytes));
      this.#used = headerBytes;
    } else if (this.#used + bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#used + bytes));
      this.#buffer.copy(larger, 0, 0, this.#used);
      this.#buffer = larger;
    }
    return { buffer: this.#buffer, start: this.#used };
  }

  protected finish(start: number, end: number): void {
    this.#buffer!.writeUInt32LE(end - start, start);
    this.#used = end;
  }

  /** The batch, to be transferred; the writer starts afresh, as large as this batch needed. */
  take(): ArrayBuffer {
    const buffer = this.#buffer!;
    buffer.writeUInt32LE(this.#used, 0);
    this.#firstBytes = Math.max(firstBatchBytes, Math.min(this.#used, reusedBatchBytesMax));
    this.#buffer = null;
    this.#used = headerBytes;
    return buffer.buffer as ArrayBuffer;
  }
}

function putText(buffer: Buffer, text: string, at: number): number {
  // Most requests leave some of their texts out, and a call to write nothing costs as much as one that writes.
  const length = text === '' ? 0 : buffer.write(text, at + 2);
  buffer.writeUInt16LE(length, at);
  return at + 2 + length;
}

export class RequestWriter extends BatchWriter {
  put(correlation: number, frame: Omit<RequestFrame, 'correlation'>): void {
    const { org, requestId, id, query, idempotencyKey, body } = frame;
    const units = org.length + requestId.length + id.length + query.length + idempotencyKey.length;
    const { buffer, start } = this.reserve(requestFixedBytes + 10 + units * bytesPerUnitMax + body.length);
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
    buffer.set(body, at);
    this.finish(start, at + body.length);
  }
}

export class AnswerWriter extends BatchWriter {
  /** `body` is text, or the bytes of a stored response. */
  put(frame: Omit<AnswerFrame, 'body'>, body: string | Uint8Array): void {
    const bodyBytesMax = typeof body === 'string' ? body.length * bytesPerUnitMax : body.length;
    const originalMax = frame.originalRequest.length * bytesPerUnitMax;
    const { buffer, start } = this.reserve(answerFixedBytes + 2 + originalMax + bodyBytesMax);
    buffer.writeUInt32LE(frame.correlation, start + 4);
    buffer.writeUInt16LE(frame.status, start + 8);
    buffer[start + 10] = frame.flags;
    buffer[start + 11] = frame.errorNumber;
    buffer.writeUInt32LE(frame.limit, start + 12);
    buffer.writeUInt32LE(frame.remaining, start + 16);
    buffer.writeUInt32LE(frame.resetSeconds, start + 20);
    buffer.writeUInt32LE(frame.retryAfterSeconds, start + 24);
    let at = putText(buffer, frame.originalRequest, start + answerFixedBytes);
    if (typeof body === 'string') {
      at += buffer.write(body, at);
    } else {
      buffer.set(body, at);
      at += body.length;
    }
    this.finish(start, at);
  }
}

/** Calls `each` with every frame of a batch, in order. */
function readFrames(batch: ArrayBuffer, each: (buffer: Buffer, start: number, end: number) => void): void {
  const buffer = Buffer.from(batch);
  const used = buffer.readUInt32LE(0);
  for (let start = headerBytes; start < used; ) {
    const end = start + buffer.readUInt32LE(start);
    each(buffer, start, end);
    start = end;
  }
}

export function readRequests(batch: ArrayBuffer, each: (frame: RequestFrame) => void): void {
  readFrames(batch, (buffer, start, end) => {
    let at = start + requestFixedBytes;
    const text = () => {
      const length = buffer.readUInt16LE(at);
      at += 2 + length;
      return length === 0 ? '' : buffer.toString('utf8', at - length, at);
    };
    each({
      correlation: buffer.readUInt32LE(start + 4),
      route: buffer[start + 8]!,
      flags: buffer[start + 9]!,
      language: buffer[start + 10]!,
      version: buffer[start + 11]!,
      org: text(),
      requestId: text(),
      id: text(),
      query: text(),
      idempotencyKey: text(),
      body: buffer.subarray(at, end),
    });
  });
}

export function readAnswers(batch: ArrayBuffer, each: (frame: AnswerFrame) => void): void {
  readFrames(batch, (buffer, start, end) => {
    const originalLength = buffer.readUInt16LE(start + answerFixedBytes);
    const bodyStart = start + answerFixedBytes + 2 + originalLength;
    each({
      correlation: buffer.readUInt32LE(start + 4),
      status: buffer.readUInt16LE(start + 8),
      flags: buffer[start + 10]!,
      errorNumber: buffer[start + 11]!,
      limit: buffer.readUInt32LE(start + 12),
      remaining: buffer.readUInt32LE(start + 16),
      resetSeconds: buffer.readUInt32LE(start + 20),
      retryAfterSeconds: buffer.readUInt32LE(start + 24),
      originalRequest:
        originalLength === 0 ? '' : buffer.toString('latin1', start + answerFixedBytes + 2, bodyStart),
      body: buffer.subarray(bodyStart, end),
    });
  });
}
