// Writes the bytes of answers to uWebSockets.js's response objects: the line with the status, small
// answers whole, and large ones in parts, as far as a connection takes them. Only the exchange that
// owns a response calls this.

import type { HttpResponse } from 'uWebSockets.js';

/** The start of an answer with each status, up to the id of its request. */
const statusLines = new Map(
  Object.entries({
    200: 'OK',
    303: 'See Other',
    400: 'Bad Request',
    401: 'Unauthorized',
    402: 'Payment Required',
    403: 'Forbidden',
    404: 'Not Found',
    405: 'Method Not Allowed',
    409: 'Conflict',
    410: 'Gone',
    413: 'Content Too Large',
    429: 'Too Many Requests',
    431: 'Request Header Fields Too Large',
    500: 'Internal Server Error',
    503: 'Service Unavailable',
  }).map(([status, text]) => [Number(status), `${status} ${text}\r\nRequest-Id: `]),
);

/** The start of an answer, up to the id of its request. */
export function answerStart(status: number): string {
  return statusLines.get(status) ?? `${status} \r\nRequest-Id: `;
}

/**
 * A connection that takes data again mostly takes a part of this size, so little is copied. Smaller
 * answers are written at once.
 */
export const partBytes = 16 * 1024;
/** More units of UTF-16 may take more than a part as UTF-8. */
const partUnits = Math.floor(partBytes / 3);
/** For `tryEnd`: it is given the whole body, whatever its size. */
const whole = 0;
/** Is sent for no body, of which uWebSockets.js would not tell that its head still waits. */
export const lineForNoBody = '\n';

/** Whether a body may be larger than a part. */
export function isLarge(body: string | Uint8Array): boolean {
  return body.length > (typeof body === 'string' ? partUnits : partBytes);
}

export function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** The body for later: its bytes may be a view of a buffer that is used again after the call. */
export function keep(body: string | Uint8Array): string | Uint8Array {
  return typeof body === 'string' ? body : Buffer.from(body);
}

/** Writes answers that are no larger than a part, each in one system call. */
export class WholeWriter {
  #head = '';
  #body: string | Uint8Array = '';
  #response: HttpResponse | null = null;
  #isTaken = false;
  /** One function for all answers, because uWebSockets.js calls it at once. */
  readonly #writeCorked = (): void => {
    const [, isDone] = this.#response?.writeStatus(this.#head).tryEnd(this.#body, whole) ?? [];
    this.#isTaken = isDone === true;
  };

  /**
   * Returns true when uWebSockets.js has taken all. It does not where something waits already that
   * the client has not taken.
   */
  write(response: HttpResponse, head: string, body: string | Uint8Array): boolean {
    this.#response = response;
    this.#head = head;
    this.#body = body;
    response.cork(this.#writeCorked);
    return this.#isTaken;
  }
}

/** An answer as bytes that are the last ones on their connection, but for a line break. */
export function lastAnswer(head: string, body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body);
  const start = Buffer.from(`${head}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = bytes.length === 0 ? [] : [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, lineBreak];
  // `writeStatus` adds the line break that ends the last chunk.
  return Buffer.concat([start, ...chunk, Buffer.from('0\r\n')]);
}

const lineBreak = Buffer.from('\r\n');

/**
 * Writes parts of an answer of `bytes` bytes, of which `rest` begins at `start`, while the
 * connection takes them. Returns true when it has taken all. Over TLS a part counts as taken only
 * when all of it is.
 */
export function putParts(response: HttpResponse, rest: Uint8Array, start: number, bytes: number): boolean {
  for (;;) {
    const at = response.getWriteOffset() - start;
    const [isTaken, isDone] = response.tryEnd(rest.subarray(at, at + partBytes), bytes);
    if (isDone || !isTaken) return isDone;
  }
}
