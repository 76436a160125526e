// An exchange: one request and its answer. It is the sole owner of the native response object: nobody else touches
// it, and after an abort or an answer nobody can. An exchange is answered exactly once; what comes later is dropped.
// Every answer carries the id of its request.
//
// Some requests never get here, because uWebSockets.js answers them itself, with a page of its own, and offers no hook:
// a version other than HTTP/1.1 and a target that is no path (505), no Host, both Content-Length and Transfer-Encoding,
// a length that is no number, a broken chunk (400), more than 64 KiB or 100 lines of headers (431). A header line that
// is none is waited on until the connection has been idle for 10 seconds. And a request that is sent before the answer
// to the one before it has begun ends its connection: pipelining works for what is answered at once.

import type { HttpResponse } from 'uWebSockets.js';
import { bodyBytesMax } from '../contract/limits.ts';

export type Header = readonly [name: string, value: string];

const statusTexts: Readonly<Record<number, string>> = {
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
};

export interface Exchanges {
  /** Exchanges under way, oldest first. */
  readonly open: Set<Exchange>;
  /** The server stops: an answer is the last one on its connection. */
  closing: boolean;
  /** Hears of what handlers threw, where throwing would end the process. */
  readonly onBug: (error: unknown) => void;
}

export class Exchange {
  /** By the monotonic clock, milliseconds: what a clock that is set can't shorten or prolong. */
  readonly startedAt = performance.now();
  readonly requestId: string;
  /** A HEAD is answered without a body. */
  isHead = false;
  /** What to answer when the exchange takes too long. */
  onTimeout: () => void = () => this.cut();
  readonly #exchanges: Exchanges;
  #response: HttpResponse | null;
  #streaming = false;
  /** Lets the writer of a streamed answer go on. */
  #resume: (() => void) | null = null;

  /** Registers for an abort, before anything else can happen. */
  constructor(response: HttpResponse, exchanges: Exchanges, requestId: string) {
    this.#response = response;
    this.#exchanges = exchanges;
    this.requestId = requestId;
    exchanges.open.add(this);
    response.onAborted(() => this.#end());
  }

  /** Neither answered nor aborted. */
  get isOpen(): boolean {
    return this.#response !== null;
  }

  /** Its answer has begun. */
  get isStreaming(): boolean {
    return this.#streaming;
  }

  get remoteAddress(): string {
    return this.#response === null
      ? ''
      : Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1');
  }

  #end(): void {
    if (this.#response === null) return;
    this.#response = null;
    this.#exchanges.open.delete(this);
    this.#resume?.();
  }

  /** Runs `step`; what it throws, now or later, is a bug, and cuts the connection. */
  guard(step: () => void | Promise<void>): void {
    const failed = (error: unknown) => {
      this.#exchanges.onBug(error);
      this.cut();
    };
    try {
      step()?.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Reads the body and hands it over whole; null when it is larger than the limit. Not called after an abort. */
  readBody(onBody: (body: Buffer | null) => void): void {
    let chunks: Buffer[] | null = [];
    let bytes = 0;
    this.#response?.onData((chunk, isLast) => {
      if (chunks === null || this.#response === null) return;
      bytes += chunk.byteLength;
      const isTooLarge = bytes > bodyBytesMax;
      // The chunk is taken back when this handler returns.
      if (!isTooLarge) chunks.push(Buffer.from(chunk.slice(0)));
      if (!isTooLarge && !isLast) return;
      const body = isTooLarge ? null : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      chunks = null;
      this.guard(() => onBody(body));
    });
  }

  /** Answers, all at once. `close` ends the connection afterwards. */
  answer(
    status: number,
    headers: readonly Header[],
    body: string | Uint8Array,
    options: { readonly close?: boolean } = {},
  ): void {
    const response = this.#response;
    if (response === null) return;
    const close = options.close === true || this.#exchanges.closing;
    response.cork(() => {
      this.#writeHead(response, status, headers);
      // To uWebSockets.js an answer without its body is never over: it must be the last one on its connection.
      if (this.isHead) response.endWithoutBody(Buffer.byteLength(body), true);
      else response.end(body, close);
    });
    this.#end();
  }

  /** In one native call, because uWebSockets.js writes what it gets as it is, and a call costs more than the text. */
  #writeHead(response: HttpResponse, status: number, headers: readonly Header[]): void {
    let head = `${status} ${statusTexts[status] ?? ''}\r\nRequest-Id: ${this.requestId}`;
    for (const [name, value] of headers) head += `\r\n${name}: ${value}`;
    response.writeStatus(head);
  }

  /** Begins an answer whose body is written piece by piece. */
  begin(status: number, headers: readonly Header[]): void {
    const response = this.#response;
    if (response === null) return;
    this.#streaming = true;
    response.cork(() => this.#writeHead(response, status, headers));
  }

  /** Writes a piece and settles when the connection takes more. */
  write(piece: string): Promise<void> {
    return new Promise((resolve) => {
      const response = this.#response;
      if (response === null || piece === '') {
        resolve();
        return;
      }
      this.#resume = resolve;
      response.onWritable(() => {
        resolve();
        return true;
      });
      let taken = true;
      response.cork(() => {
        taken = response.write(piece);
      });
      if (taken) resolve();
    });
  }

  /** Ends a streamed answer. */
  finish(): void {
    const response = this.#response;
    if (response === null) return;
    response.cork(() => response.end());
    this.#end();
  }

  /** Cuts the connection: a streamed answer that can't go on must not look complete. */
  cut(): void {
    this.#response?.close();
  }
}
