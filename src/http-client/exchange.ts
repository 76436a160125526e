// One request and its answer over one connection. Nothing is written before the connection is up,
// its certificate is verified and its address is checked. Memory is bounded whatever the receiver
// does. It is done only when the answer was read to its end over a connection that can be used
// again, or when the socket is closed, so a slot that is freed has no socket.
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
  readonly request: Buffer;
  readonly timeoutMs: number;
  /** How much of the answer is kept. */
  readonly answerBytesMax: number;
  readonly done: (exchanged: Exchanged) => void;
  /** There is a fault in the service. */
  readonly broken: (error: unknown) => void;
}

/** How much of an answer is read, whatever is kept of it. */
const readBytesMax = 256 * 1024;
/**
 * A connection is not used any more this long before the receiver would close it, because a request
 * could get lost.
 */
const idleMarginMs = 1_000;
const failureLengthMax = 200;

export class Exchange implements ConnectionUser {
  readonly #input: ExchangeInput;
  readonly #answer: AnswerReader;
  #failure: string | null = null;
  #isOver = false;
  #isClosedByPeer = false;

  constructor(input: ExchangeInput) {
    this.#input = input;
    this.#answer = new AnswerReader(input.answerBytesMax);
  }

  /** Sends the request as soon as the connection is up, and reads the answer. */
  start(remainingMs: number): void {
    const { connection, isUp } = this.#input;
    connection.use(this, remainingMs);
    if (isUp) this.#write();
  }

  late(): void {
    this.#end(timedOut(this.#input.timeoutMs));
  }

  broken(error: unknown): void {
    this.#input.broken(error);
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
    try {
      this.#answer.take(bytes);
    } catch (error) {
      if (!(error instanceof AnswerFault)) throw error;
      this.#end(error.message);
      return;
    }
    if (this.#answer.isWhole) this.#whole();
    else if (this.#answer.readBytes >= readBytesMax)
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
    this.#failure = failure;
    // It tells this exchange nothing more.
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
    const { status, body: answer, readBytes } = this.#answer;
    this.#input.done({
      outcome: { status, failure: this.#failure, answer },
      unanswered: this.#isClosedByPeer && readBytes === 0,
    });
  }

  #judged(): string | null {
    const { status } = this.#answer;
    if (status === null) return 'no answer';
    if (status < 300) return null;
    return status < 400 ? `redirect refused (${status})` : `answered ${status}`;
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
