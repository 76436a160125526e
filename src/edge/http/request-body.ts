// Collects a request's body in one buffer that grows. Its length is bounded, and so is the number
// of its pieces, because each piece costs a call, however small it is. What waits for the rest of a
// body counts in a share (held-bytes.ts). A buffer that became too small is wiped, because it may
// have part of a card number.
//
// uWebSockets.js misreads a chunk's extension as digits of its length. The end of the body then
// arrives as data, and the parser waits for more. This is detected here. No valid body looks like
// that, because a JSON text can't contain a line break.

import { type Refusal, refuse, unavailable } from '../../contract/errors/table.ts';
import { bodyPieceBytesMin, bodyPiecesFree } from '../../contract/limits.ts';
import type { Exchange } from './exchange.ts';

export const bodyTooSlow = refuse('invalid_request', { message: 'invalid_request.too_slow' });
const piecesTooSmall = refuse('invalid_request', { message: 'invalid_request.pieces_too_small' });
const chunkExtension = refuse('invalid_request', { message: 'invalid_request.chunk_extension' });

export function bodyTooLarge(max: number): Refusal {
  return refuse('invalid_request', {
    message: 'invalid_request.body_too_large',
    values: { max },
  });
}

const nothing = Buffer.alloc(0);
const bytesAtFirst = 1024;
const misreadEnd = /\r\n0+(?:;[^\r\n]*)?\r\n\r\n$/;
const misreadEndBytesMax = 256;

/**
 * Reads a body, and calls back with it when it is whole, or with a refusal when it is not read to
 * its end, whose answer ends the connection; not after an abort. Call it before the handler of the
 * request returns.
 */
export function readBody(
  exchange: Exchange,
  bytesMax: number,
  onRead: (body: Buffer | Refusal) => void,
): void {
  const body = new RequestBody(bytesMax, exchange.isChunked);
  let isRead = false;
  exchange.onPiece((piece, isLast) => {
    if (isRead) return;
    const added = body.add(piece, isLast);
    const result = added ?? (exchange.holdBody(body.heldBytes) ? null : unavailable);
    if (result === null) return;
    isRead = true;
    if ('code' in result) exchange.isLast = true;
    exchange.holdBody(0);
    // If the parser finds a fault behind the last chunk, the request ends before it has run.
    if (exchange.isChunked) setImmediate(() => exchange.isOpen && exchange.guard(() => onRead(result)));
    else onRead(result);
  });
}

/** What a page or a callback does with a body: it is small, and without one it is empty. */
interface BodyTaker {
  readonly bytesMax: number;
  readonly take: (body: Buffer) => void;
  readonly refuse: (refusal: Refusal) => void;
}

/**
 * Reads the body that the head of a POST announces; that of anything else is empty. The answer to a
 * body that is not read to its end, which `refuse` gives, ends the connection.
 */
export function takeBody(
  exchange: Exchange,
  head: { readonly method: string; readonly hasBody: boolean; readonly bodyBytes: number },
  { bytesMax, take, refuse }: BodyTaker,
): void {
  const leave = (refusal: Refusal) => {
    exchange.isLast = true;
    refuse(refusal);
  };
  if (head.method !== 'POST' || !head.hasBody) {
    take(nothing);
  } else if (head.bodyBytes > bytesMax) {
    leave(bodyTooLarge(bytesMax));
  } else {
    exchange.handler = { onTimeout: () => leave(bodyTooSlow) };
    readBody(exchange, bytesMax, (body) => ('code' in body ? refuse(body) : take(body)));
  }
}

export class RequestBody {
  readonly #bytesMax: number;
  readonly #isChunked: boolean;
  #buffer = nothing;
  #bytes = 0;
  #pieces = 0;

  constructor(bytesMax: number, isChunked: boolean) {
    this.#bytesMax = bytesMax;
    this.#isChunked = isChunked;
  }

  /** How large its buffer is. */
  get heldBytes(): number {
    return this.#buffer.length;
  }

  /** Copies the next piece. Returns the body after the last one, null before, or a refusal. */
  add(piece: ArrayBuffer, isLast: boolean): Buffer | Refusal | null {
    const start = this.#bytes;
    const end = start + piece.byteLength;
    if (end > this.#bytesMax) return bodyTooLarge(this.#bytesMax);
    this.#pieces++;
    if (this.#pieces > bodyPiecesFree && end < this.#pieces * bodyPieceBytesMin) return piecesTooSmall;
    if (end > this.#buffer.length) this.#grow(end, isLast);
    this.#buffer.set(new Uint8Array(piece), start);
    this.#bytes = end;
    if (isLast) return this.#buffer.subarray(0, end);
    return this.#isChunked && this.#holdsMisreadEnd() ? chunkExtension : null;
  }

  #grow(bytes: number, isLast: boolean): void {
    const size = isLast ? bytes : Math.max(bytes, bytesAtFirst, 2 * this.#buffer.length);
    const before = this.#buffer;
    this.#buffer = Buffer.allocUnsafe(Math.min(size, this.#bytesMax));
    if (this.#bytes === 0) return;
    before.copy(this.#buffer, 0, 0, this.#bytes);
    before.fill(0);
  }

  #holdsMisreadEnd(): boolean {
    const lineFeed = 10;
    if (this.#buffer[this.#bytes - 1] !== lineFeed) return false;
    const start = Math.max(0, this.#bytes - misreadEndBytesMax);
    return misreadEnd.test(this.#buffer.toString('latin1', start, this.#bytes));
  }
}
