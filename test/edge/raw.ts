// HTTP as bytes on a socket, for requests that no client library can send and answers that none can show.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Tests wait no longer for an answer. uWebSockets.js takes up to 14 seconds to close an idle connection. */
const patienceMs = 40_000;
/** Long enough for the parts of a request to arrive one by one. */
const betweenPartsMs = 20;

export class RawConnection {
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  #closed = false;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk) => this.#chunks.push(chunk));
    // A reset also ends the connection.
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.#closed = true;
    });
  }

  /** Sends a request, or parts of it in segments of their own. Text is Latin-1: a character is a byte. */
  async send(...parts: readonly (string | Buffer)[]): Promise<void> {
    for (const [i, part] of parts.entries()) {
      if (i > 0) await wait(betweenPartsMs);
      this.socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    }
  }

  /** The answers so far, once there are `count` of them or the connection has ended. */
  async answers(count = 1): Promise<RawAnswer[]> {
    let answers: RawAnswer[] = [];
    await this.#until(() => {
      answers = parseAnswers(this.bytes());
      return answers.length >= count || this.#closed;
    });
    return answers;
  }

  /** The answers to requests of which each is sent when the one before is answered. */
  async askInTurn(texts: readonly string[]): Promise<RawAnswer[]> {
    for (const [i, text] of texts.entries()) {
      await this.send(text);
      await this.answers(i + 1);
    }
    return this.answers(texts.length);
  }

  /** Everything that was received. */
  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  closed(): Promise<void> {
    return this.#until(() => this.#closed);
  }

  /**
   * Resolves when it is so, which changes only when something arrives or the connection ends. An end by a reset is one like any
   * other: `once` would fail with the error that comes before it.
   */
  async #until(isSo: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = () => {
      try {
        if (isSo()) resolve();
      } catch (error) {
        reject(error);
      }
    };
    const timer = setTimeout(
      () => reject(new Error(`after ${patienceMs} ms there is only: ${this.bytes().toString('latin1')}`)),
      patienceMs,
    );
    this.socket.on('data', look).on('close', look);
    look();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.socket.off('data', look).off('close', look);
    }
  }

  end(): void {
    this.socket.destroy();
  }
}

/** Whole answers at the start of `bytes`; those to a HEAD are not understood. */
function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let at = 0; ; ) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) return answers;
    const [line, ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n') as [string, ...string[]];
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    assert.ok(status, `an answer starts with a status line, not with ${JSON.stringify(line)}`);
    const headers = new Headers(lines.map((text) => text.split(/: ?/, 2) as [string, string]));
    const start = headEnd + 4;
    const isChunked = headers.get('transfer-encoding') === 'chunked';
    const found = isChunked ? bodyInChunks(bytes, start) : bodyOf(bytes, start, status, headers);
    if (found === null) return answers;
    answers.push({ status, headers, text: found.body.toString() });
    at = found.end;
  }
}

interface Body {
  readonly body: Buffer;
  readonly end: number;
}

/** Null when it is not whole. */
function bodyOf(bytes: Buffer, start: number, status: number, headers: Headers): Body | null {
  const length = headers.get('content-length');
  // What uWebSockets.js answers by itself has no length: it ends with the connection. A 100 is all head.
  const end = status === 100 ? start : length === null ? bytes.length : start + Number(length);
  return end > bytes.length ? null : { body: bytes.subarray(start, end), end };
}

function bodyInChunks(bytes: Buffer, start: number): Body | null {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const length = Number.parseInt(bytes.toString('latin1', at, Math.max(at, lineEnd)), 16);
    const [first, end] = [lineEnd + 2, lineEnd + 2 + length];
    if (lineEnd < 0 || end + 2 > bytes.length) return null;
    if (length === 0) return { body: Buffer.concat(chunks), end: end + 2 };
    chunks.push(bytes.subarray(first, end));
    at = end + 2;
  }
}

/** Sends one request, perhaps in parts, and gives its answer. */
export async function sendRaw(
  url: string,
  ...parts: readonly (string | Buffer)[]
): Promise<RawAnswer | undefined> {
  const connection = new RawConnection(url);
  await connection.send(...parts);
  const [answer] = await connection.answers();
  if (answer?.headers.get('connection') === 'close') await connection.closed();
  connection.end();
  return answer;
}

/** The text of a request. Headers are sent as they are, in their order, and Host before them. */
export function requestText(
  line: string,
  headers: readonly (readonly [name: string, value: string])[],
  body = '',
): string {
  const lines = [`${line} HTTP/1.1`, 'Host: test', ...headers.map(([name, value]) => `${name}: ${value}`)];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** A body as its chunks. */
export function chunked(...chunks: string[]): string {
  return [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
}
