// One request and its answer over one connection. Nothing is written before the connection is up,
// its certificate is verified and its address is checked. Memory is bounded whatever the receiver
// does. The promise settles only when the answer was read to its end over a connection that can be
// used again, or when the socket is closed, so a slot that is freed has no socket.
//
// `node:http` is given the socket, for https too. Without an agent it keeps no connection, follows
// no redirect and inflates nothing. With `Connection: keep-alive` it gives the socket back
// (`free`).

import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { TLSSocket } from 'node:tls';
import type { AttemptResult } from '../domain/record.ts';
import type { Target } from './connections.ts';

export interface Outcome extends Pick<AttemptResult, 'status' | 'failure'> {
  /** The beginning of the answer, as text. */
  readonly answer: string;
}

export interface Exchanged {
  readonly outcome: Outcome;
  /** For how long the receiver keeps the idle connection; 0 when it is closed. */
  readonly idleMs: number;
  /** The receiver closed the connection without a byte of an answer. */
  readonly unanswered: boolean;
}

export interface ExchangeInput {
  readonly socket: Socket;
  /** The connection was used before; otherwise it is still connecting. */
  readonly isUp: boolean;
  readonly target: Target;
  readonly mayConnectTo: (address: string | undefined) => boolean;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  readonly timeoutMs: number;
  readonly remainingMs: number;
  /** How much of the answer is kept. */
  readonly answerBytesMax: number;
}

/** How much of an answer is read, whatever is kept of it. */
const readBytesMax = 256 * 1024;
const headerBytesMax = 16 * 1024;
/** A connection is not used any more this long before the receiver would close it, because a request could get lost. */
const idleMarginMs = 1_000;
const failureLengthMax = 200;

/** Sends the request once the connection is up, and reads the answer. */
export function exchange(input: ExchangeInput): Promise<Exchanged> {
  return new Promise((settle) => {
    new Exchange(input, settle).start();
  });
}

class Exchange {
  readonly #input: ExchangeInput;
  readonly #settle: (exchanged: Exchanged) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  /** Bytes of the body, and of everything. */
  #readBytes = 0;
  #receivedBytes = 0;
  #answer: IncomingMessage | null = null;
  /** Bytes arrived after the answer. Nobody knows what they belong to, so the connection is not used again. */
  #isSpoiled = false;
  #failure: string | null = null;
  #isOver = false;
  #isClosedByPeer = false;

  constructor(input: ExchangeInput, settle: (exchanged: Exchanged) => void) {
    this.#input = input;
    this.#settle = settle;
    this.#timer = setTimeout(() => this.#end(timedOut(input.timeoutMs)), input.remainingMs);
  }

  start(): void {
    const { socket, isUp } = this.#input;
    socket.on('data', this.#onData);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    if (isUp) this.#send();
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => this.#send());
  }

  #send(): void {
    const { socket, target, mayConnectTo, headers, body } = this.#input;
    if (!mayConnectTo(socket.remoteAddress)) {
      this.#end(`address not public: ${target.host}`);
      return;
    }
    const sent = request({
      createConnection: () => socket,
      method: 'POST',
      path: target.url.pathname + target.url.search,
      headers,
      maxHeaderSize: headerBytesMax,
    });
    sent.on('response', (answer: IncomingMessage) => {
      this.#answer = answer;
      answer.on('data', this.#onBody);
      answer.on('end', () => {
        // Otherwise `free` follows.
        if (!sent.shouldKeepAlive || !sent.writableFinished) this.#end(this.#judged());
      });
      answer.on('error', this.#onError);
    });
    // The number of interim answers has no limit of its own, so they count with the bytes that are
    // read.
    sent.on('information', () => {
      if (this.#receivedBytes >= readBytesMax) this.#end('too many interim answers');
    });
    sent.on('error', this.#onError);
    socket.once('free', this.#onFree);
    sent.end(body);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#receivedBytes += chunk.length;
    if (this.#answer?.complete) this.#isSpoiled = true;
  };

  readonly #onBody = (chunk: Buffer): void => {
    this.#readBytes += chunk.length;
    const { answerBytesMax } = this.#input;
    if (this.#keptBytes < answerBytesMax) {
      const part = chunk.subarray(0, answerBytesMax - this.#keptBytes);
      this.#kept.push(part);
      this.#keptBytes += part.length;
    }
    if (this.#readBytes >= readBytesMax) this.#end(this.#judged());
  };

  readonly #onError = (error: NodeJS.ErrnoException): void => {
    if (isClosing(error)) this.#lost();
    else if (this.#answer?.complete) this.#end(this.#judged());
    else this.#end(describe(error, this.#input.socket));
  };

  readonly #onClose = (): void => {
    this.#lost();
    this.#finish(0);
  };

  readonly #onFree = (): void => {
    const { socket } = this.#input;
    const isUsable = !this.#isSpoiled && socket.readable && socket.writable && socket.writableLength === 0;
    const idleMs = isUsable ? idleMsOf(this.#answer!.headers) : 0;
    if (this.#isOver || idleMs === 0) {
      this.#end(this.#judged());
    } else {
      this.#isOver = true;
      this.#failure = this.#judged();
      this.#finish(idleMs);
    }
  };

  /** The receiver closed the connection. An answer that was complete before still counts. */
  #lost(): void {
    if (!this.#isOver) this.#isClosedByPeer = true;
    this.#end(this.#answer?.complete ? this.#judged() : this.#cutOff());
  }

  /** Only the first end counts, because a destroyed socket reports more errors afterwards. */
  #end(failure: string | null): void {
    if (!this.#isOver) this.#failure = failure;
    this.#isOver = true;
    this.#input.socket.destroy();
  }

  #finish(idleMs: number): void {
    const { socket } = this.#input;
    clearTimeout(this.#timer);
    socket.off('data', this.#onData);
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    socket.off('free', this.#onFree);
    this.#settle({
      outcome: {
        status: this.#answer?.statusCode ?? null,
        failure: this.#failure,
        // `write` without `end` leaves out a character that was cut in the middle.
        answer: new StringDecoder('utf8').write(Buffer.concat(this.#kept)),
      },
      idleMs,
      unanswered: this.#isClosedByPeer && this.#receivedBytes === 0,
    });
  }

  #judged(): string | null {
    const status = this.#answer?.statusCode ?? null;
    if (status === null) return 'no answer';
    if (status >= 200 && status < 300) return null;
    return status >= 300 && status < 400 ? `redirect refused (${status})` : `answered ${status}`;
  }

  #cutOff(): string {
    return this.#answer === null
      ? 'connection closed without an answer'
      : 'connection closed within the answer';
  }
}

/** How long a connection may stay idle by the answer's `Keep-Alive: timeout=<seconds>`; Infinity when it says nothing. */
export function idleMsOf(headers: IncomingHttpHeaders): number {
  const [, seconds] = /(?:^|[,;\s])timeout\s*=\s*"?(\d+)/i.exec(String(headers['keep-alive'])) ?? [];
  return seconds === undefined ? Infinity : Math.max(0, Number(seconds) * 1000 - idleMarginMs);
}

const failureOfCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  HPE_HEADER_OVERFLOW: 'answer headers too large',
};

function isClosing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** A socket's or a parser's error in short English words. */
function describe(error: NodeJS.ErrnoException, socket: Socket): string {
  if (socket instanceof TLSSocket && socket.authorizationError) {
    return `certificate not trusted: ${error.message}`.slice(0, failureLengthMax);
  }
  const code = error.code ?? '';
  if (failureOfCode[code]) return failureOfCode[code];
  if (code.startsWith('HPE_')) return `answer is not HTTP (${code})`;
  if (code.startsWith('ERR_SSL')) return `TLS failed (${code})`;
  return `connection failed (${code || error.name})`;
}

export function timedOut(timeoutMs: number): string {
  return `timed out after ${timeoutMs} ms`;
}
