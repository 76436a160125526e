// An exchange: one request and its answer. It is the sole owner of the native response object: nobody else touches
// it, and after an abort or an answer nobody can. An exchange is answered exactly once; what comes later is dropped.

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
}

export class Exchange {
  readonly startedAtMs: number;
  /** What to answer when the exchange takes too long. */
  onTimeout: () => void = () => this.cut();
  readonly #exchanges: Exchanges;
  #response: HttpResponse | null;
  #streaming = false;
  #onEnd: (() => void) | null = null;

  /** Registers for an abort, before anything else can happen. */
  constructor(response: HttpResponse, exchanges: Exchanges, startedAtMs: number) {
    this.#response = response;
    this.#exchanges = exchanges;
    this.startedAtMs = startedAtMs;
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

  /** Called once, when the exchange ends in whatever way. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  #end(): void {
    if (this.#response === null) return;
    this.#response = null;
    this.#exchanges.open.delete(this);
    this.#onEnd?.();
  }

  /** Reads the body and hands it over whole; null when it is larger than the limit. Not called after an abort. */
  readBody(onBody: (body: Buffer | null) => void): void {
    let chunks: Buffer[] | null = [];
    let bytes = 0;
    this.#response?.onData((chunk, isLast) => {
      if (chunks === null || this.#response === null) return;
      bytes += chunk.byteLength;
      if (bytes > bodyBytesMax) {
        chunks = null;
        onBody(null);
      } else if (isLast && chunks.length === 0) {
        chunks = null;
        onBody(Buffer.from(chunk));
      } else {
        // The chunk is taken back when this handler returns.
        chunks.push(Buffer.from(chunk.slice(0)));
        if (!isLast) return;
        const body = Buffer.concat(chunks);
        chunks = null;
        onBody(body);
      }
    });
  }

  /** Answers, all at once. `close` ends the connection afterwards. */
  answer(
    status: number,
    headers: readonly Header[],
    body: string | Uint8Array,
    options: { readonly close?: boolean; readonly withoutBody?: boolean } = {},
  ): void {
    const response = this.#response;
    if (response === null) return;
    const close = options.close === true || this.#exchanges.closing;
    response.cork(() => {
      this.#writeHead(response, status, headers);
      if (options.withoutBody) response.endWithoutBody(Buffer.byteLength(body), close);
      else response.end(body, close);
    });
    this.#end();
  }

  #writeHead(response: HttpResponse, status: number, headers: readonly Header[]): void {
    response.writeStatus(`${status} ${statusTexts[status] ?? ''}`);
    for (const [name, value] of headers) response.writeHeader(name, value);
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
      this.#onEnd = chain(this.#onEnd, resolve);
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

function chain(first: (() => void) | null, second: () => void): () => void {
  return () => {
    first?.();
    second();
  };
}
