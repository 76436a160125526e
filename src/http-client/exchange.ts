// One request and its answer over one connection. Nothing is written before the connection is up,
// its certificate is verified and its address is checked. Memory is bounded whatever the receiver
// does. The promise resolves only when the answer was read to its end over a connection that can be
// used again, or when the socket is closed, so a slot that is freed has no socket.
//
// The request is written and the answer read here, and not by `node:http`, which costs 15 µs more
// each time: a tenth of a delivery.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { AttemptResult } from '../domain/record.ts';
import { AnswerFault, AnswerReader } from './answer-reader.ts';
import type { Connection, ConnectionUser } from './connections.ts';

export interface Outcome extends Pick<AttemptResult, 'status' | 'failure'> {
  /** The beginning of the answer, as text. */
  readonly answer: string;
}

export interface Exchanged {
  readonly outcome: Outcome;
  /** The receiver closed the connection without a byte of an answer. */
  readonly unanswered: boolean;
}

interface ExchangeInput {
  readonly connection: Connection;
  /** The connection was used before; otherwise it is still connecting. */
  readonly isUp: boolean;
  readonly host: string;
  readonly mayConnectTo: (address: string | undefined) => boolean;
  /** Asked right before the request is written. */
  readonly mayWrite: () => boolean;
  /** The whole request. */
  readonly request: string;
  readonly timeoutMs: number;
  readonly remainingMs: number;
  /** How much of the answer is kept. */
  readonly answerBytesMax: number;
}

/** How much of an answer is read, whatever is kept of it. */
const readBytesMax = 256 * 1024;
/**
 * A connection is not used any more this long before the receiver would close it, because a request
 * could get lost.
 */
const idleMarginMs = 1_000;
const failureLengthMax = 200;

/**
 * Sends the request once the connection is up, and reads the answer. Rejects only because of a
 * fault in the service.
 */
export function exchange(input: ExchangeInput): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    new Exchange(input, resolve, reject).start();
  });
}

class Exchange implements ConnectionUser {
  readonly #input: ExchangeInput;
  readonly #resolve: (exchanged: Exchanged) => void;
  readonly broken: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #answer: AnswerReader;
  #receivedBytes = 0;
  #failure: string | null = null;
  #isOver = false;
  #isClosedByPeer = false;

  constructor(
    input: ExchangeInput,
    resolve: (exchanged: Exchanged) => void,
    reject: (error: unknown) => void,
  ) {
    this.#input = input;
    this.#resolve = resolve;
    this.#answer = new AnswerReader(input.answerBytesMax);
    this.#timer = setTimeout(() => this.#end(timedOut(input.timeoutMs)), input.remainingMs);
    this.broken = (error) => {
      clearTimeout(this.#timer);
      reject(error);
    };
  }

  start(): void {
    const { connection, isUp } = this.#input;
    connection.use(this);
    if (isUp) this.#write();
  }

  connected(): void {
    const { connection, host, mayConnectTo } = this.#input;
    if (mayConnectTo(connection.socket.remoteAddress)) this.#write();
    else this.#end(`address not public: ${host}`);
  }

  #write(): void {
    const { connection, mayWrite, request } = this.#input;
    if (mayWrite()) connection.socket.write(request);
    else this.#end('not sent: the right to send it was lost');
  }

  received(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#receivedBytes += bytes.length;
    try {
      this.#answer.take(bytes);
    } catch (error) {
      if (!(error instanceof AnswerFault)) throw error;
      this.#end(error.message);
      return;
    }
    if (this.#answer.isWhole) this.#whole();
    else if (this.#receivedBytes >= readBytesMax)
      this.#end(this.#answer.status === null ? 'too many interim answers' : this.#judged());
  }

  ended(): void {
    this.#answer.end();
    if (this.#answer.isWhole) this.#end(this.#judged());
  }

  failed(error: NodeJS.ErrnoException): void {
    if (isClosing(error)) this.#lost();
    else this.#end(describe(error, this.#input.connection.socket));
  }

  closed(): void {
    this.#lost();
    this.#finish();
  }

  #whole(): void {
    const { connection } = this.#input;
    const { isSpoiled, isLast, keepAlive } = this.#answer;
    const { readable, writable, writableLength } = connection.socket;
    const isUsable = !isSpoiled && !isLast && readable && writable && writableLength === 0;
    const idleMs = isUsable ? idleMsOf(keepAlive) : 0;
    const failure = this.#judged();
    if (idleMs === 0) {
      this.#end(failure);
      return;
    }
    this.#isOver = true;
    this.#failure = failure;
    connection.keep(idleMs);
    this.#finish();
  }

  /** The receiver closed the connection. */
  #lost(): void {
    if (!this.#isOver) this.#isClosedByPeer = true;
    const where = this.#answer.status === null ? 'without an answer' : 'within the answer';
    this.#end(`connection closed ${where}`);
  }

  /** Only the first end counts, because a destroyed socket reports more errors afterwards. */
  #end(failure: string | null): void {
    if (!this.#isOver) this.#failure = failure;
    this.#isOver = true;
    this.#input.connection.socket.destroy();
  }

  #finish(): void {
    clearTimeout(this.#timer);
    const { status, body: answer } = this.#answer;
    this.#resolve({
      outcome: { status, failure: this.#failure, answer },
      unanswered: this.#isClosedByPeer && this.#receivedBytes === 0,
    });
  }

  #judged(): string | null {
    const { status } = this.#answer;
    if (status === null) return 'no answer';
    if (status >= 200 && status < 300) return null;
    return status >= 300 && status < 400 ? `redirect refused (${status})` : `answered ${status}`;
  }
}

/**
 * How long a connection may stay idle by the answer's `Keep-Alive: timeout=<seconds>`; Infinity
 * when it says nothing.
 */
export function idleMsOf(keepAlive: string): number {
  if (keepAlive === '') return Infinity;
  const [, seconds] = /(?:^|[,;\s])timeout\s*=\s*"?(\d+)/i.exec(keepAlive) ?? [];
  return seconds === undefined ? Infinity : Math.max(0, Number(seconds) * 1000 - idleMarginMs);
}

const failureOfCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
};

function isClosing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** A socket's error in short English words. */
function describe(error: NodeJS.ErrnoException, socket: Socket): string {
  if (socket instanceof TLSSocket && socket.authorizationError) {
    return `certificate not trusted: ${error.message}`.slice(0, failureLengthMax);
  }
  const code = error.code ?? '';
  if (failureOfCode[code]) return failureOfCode[code];
  if (code.startsWith('ERR_SSL')) return `TLS failed (${code})`;
  return `connection failed (${code || error.name})`;
}

export function timedOut(timeoutMs: number): string {
  return `timed out after ${timeoutMs} ms`;
}
