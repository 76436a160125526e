// An exchange: one request and its answer. It is the sole owner of the native response object: nobody else touches
// it, and after an abort or an answer nobody can. An exchange is answered exactly once; what comes later is dropped.
// Every answer carries the id of its request.
//
// A connection is never ended from within uWebSockets.js's parser: that would go on in what it has read, so that a second
// request behind the refused one would run, on a connection that stays open. While an exchange has no answer, the next
// request on its connection makes uWebSockets.js close it unseen. So whatever ends a connection waits for the parser to
// return (`setImmediate`), and nothing that comes behind is ever run.
//
// Some requests never get here, because uWebSockets.js answers them itself, with a page of its own, and offers no hook:
// a version other than HTTP/1.1 and a target that is no path (505), no Host, both Content-Length and Transfer-Encoding,
// a length that is no number, a broken chunk (400), more than 64 KiB or 100 lines of headers (431). A malformed
// header line is waited on until the connection has been idle for 10 seconds. And a request that is sent before the answer
// to the one before it has begun ends its connection: pipelining works for what is answered at once.

import type { HttpResponse } from 'uWebSockets.js';
import type { Refusal } from '../contract/errors/table.ts';
import type { HeldAnswers } from './held-answers.ts';
import { RequestBody } from './request-body.ts';

export type Header = readonly [name: string, value: string];

/** Headers as an answer takes them, each with a line break before it. */
export function headerLines(...headers: readonly Header[]): string {
  return headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
}

/** How an answer begins, up to the id of its request. */
const answerStarts = new Map(
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

/** A larger answer is handed to the connection part by part: uWebSockets.js would copy what the client is slow to take. */
const wholeBytesMax = 64 * 1024;
/** Small enough for a connection that takes anything again to take one whole, mostly: so little is held twice. */
const partBytes = 16 * 1024;
/** What a client must take in the time that a slow one is given: over a minute, some 4 KiB a second. */
const takenBytesMin = 256 * 1024;

export interface Exchanges {
  /** Exchanges under way, oldest first. */
  readonly open: Set<Exchange>;
  /** Headers of every answer, each with a line break before it. */
  readonly commonHeaders: string;
  /** Those whose clients have yet to take a part of the answer. */
  readonly slow: Set<Exchange>;
  /** The server stops: an answer is the last one on its connection. */
  closing: boolean;
  /** What clients have yet to take. */
  readonly held: HeldAnswers;
  /** Hears of what handlers threw, where throwing would end the process. */
  readonly onBug: (error: unknown) => void;
}

/** What goes on with an exchange after its head was read. */
export interface ExchangeHandler {
  /** It takes too long: the last moment to answer. */
  onTimeout(): void;
  /** The body is read, or why it is not read any further. */
  onBody(body: Buffer | Refusal): void;
}

export class Exchange {
  /** By the monotonic clock, milliseconds: what a clock that is set can't shorten or prolong. */
  readonly startedAt = performance.now();
  readonly requestId: string;
  /** A HEAD is answered without a body. */
  isHead = false;
  /** Its body comes in chunks. Where it ends is not certain: its answer is the last one on its connection. */
  isChunked = false;
  /** Null: an exchange that takes too long is cut. */
  handler: ExchangeHandler | null = null;
  readonly #exchanges: Exchanges;
  #response: HttpResponse | null;
  #streaming = false;
  /** Lets the writer of a streamed answer go on. */
  #resume: (() => void) | null = null;
  /** Whose answer it is, when its bytes are held. */
  holder = '';
  #heldBytes = 0;
  /** Since when, by the monotonic clock, the client has not taken enough; null: nothing waits for it. */
  #stuckAt: number | null = null;

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

  /** The server stops: a stream without an end is to end. */
  get isClosing(): boolean {
    return this.#exchanges.closing;
  }

  /** The client was given something before `time` and has not taken enough of it since. */
  isStuckSince(time: number): boolean {
    return this.#stuckAt !== null && this.#stuckAt < time;
  }

  /** Whether an answer of that many bytes may be held, should the client be slow to take it. */
  hasRoomFor(bytes: number): boolean {
    return bytes <= wholeBytesMax || this.#exchanges.held.hasRoom(this.holder, bytes);
  }

  #hold(bytes: number): void {
    this.#exchanges.held.add(this.holder, bytes - this.#heldBytes);
    this.#heldBytes = bytes;
    if (bytes === 0) {
      this.#stuckAt = null;
      this.#exchanges.slow.delete(this);
    } else {
      this.#stuckAt ??= performance.now();
      this.#exchanges.slow.add(this);
    }
  }

  /**
   * To be called now and then while the client is slow: uWebSockets.js gives a connection 10 seconds for what its buffers
   * hold, which may be megabytes, and only this starts them again.
   */
  wait(): void {
    this.#response?.pause();
    this.#response?.resume();
  }

  get remoteAddress(): string {
    return this.#response === null
      ? ''
      : Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1');
  }

  /** After an abort, or an answer: the native response must not be touched any more. */
  #end(): void {
    this.#response = null;
    this.#exchanges.open.delete(this);
    if (this.#heldBytes > 0) this.#hold(0);
    this.#resume?.();
  }

  /** Does the last thing that is done with the response once the parser has returned, unless the client is gone. */
  #afterParsing(finish: (response: HttpResponse) => void): void {
    const response = this.#response;
    if (response === null) return;
    this.#response = null;
    setImmediate(() => {
      if (!this.#exchanges.open.has(this)) return;
      finish(response);
      this.#end();
    });
  }

  /** Runs `step`; what it throws, now or later, is a bug, and cuts the connection. */
  guard(step: () => void | Promise<void>): void {
    try {
      step()?.catch((error) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#exchanges.onBug(error);
    this.cut();
  }

  /** It takes too long. */
  timeOut(): void {
    try {
      if (this.handler === null) this.cut();
      else this.handler.onTimeout();
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * Reads the body and hands it to the handler whole, or says why it is not read any further. Not called after an abort.
   * To be called before the handler of the request returns.
   */
  readBody(bytesMax: number): void {
    const body = new RequestBody(bytesMax, this.isChunked);
    let isRead = false;
    this.#response?.onData((piece, isLastPiece) => {
      if (isRead || this.#response === null) return;
      const result = body.add(piece, isLastPiece);
      if (result === null) return;
      isRead = true;
      // What the parser finds wrong behind the last chunk ends the request before it has run.
      if (this.isChunked) setImmediate(() => this.isOpen && this.#bodyRead(result));
      else this.#bodyRead(result);
    });
  }

  #bodyRead(body: Buffer | Refusal): void {
    try {
      this.handler!.onBody(body);
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * Answers. `headers` are those that not every answer has, as `headerLines` gives them. The body's bytes are not needed
   * after the call.
   */
  answer(status: number, headers: string, body: string | Uint8Array): void {
    const response = this.#response;
    if (response === null || this.#streaming) return;
    const head = this.#head(status, headers);
    if (this.isHead) {
      this.#hangUp(`${head}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`);
    } else if (this.isChunked || this.#exchanges.closing) {
      // The body may be a view of what is used again after this call.
      const kept = typeof body === 'string' ? body : Buffer.from(body);
      this.#afterParsing((last) => last.cork(() => last.writeStatus(head).end(kept, true)));
    } else if (body.length > wholeBytesMax) {
      this.#answerInParts(response, head, typeof body === 'string' ? Buffer.from(body) : body);
    } else {
      writeWhole(response, head, body);
      this.#end();
    }
  }

  /** Hands a large answer over as the client takes it. */
  #answerInParts(response: HttpResponse, head: string, body: Uint8Array): void {
    this.#streaming = true;
    let isDone = false;
    response.cork(() => {
      isDone = putParts(response.writeStatus(head), body, 0, body.length);
    });
    if (isDone) {
      this.#end();
      return;
    }
    const start = response.getWriteOffset();
    // Not the whole buffer that the answer came in, with others.
    const rest = Buffer.from(body.subarray(start));
    let enough = start + takenBytesMin;
    this.#waitFor(response, rest.length, () => {
      if (putParts(response, rest, start, body.length)) {
        this.#end();
        return;
      }
      const taken = response.getWriteOffset();
      if (taken >= enough) {
        enough = taken + takenBytesMin;
        this.#stuckAt = null;
      }
      this.#hold(body.length - taken);
    });
  }

  /** Refuses what can't be read any further, and ends the connection, whether or not the client takes the answer. */
  refuse(status: number, headers: string, body: string): void {
    if (this.isHead) {
      this.answer(status, headers, body);
      return;
    }
    // `writeStatus` adds a line break, which is the body's last one.
    const length = Buffer.byteLength(body) + 2;
    const head = this.#head(status, headers);
    this.#hangUp(`${head}\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n${body}`);
  }

  /**
   * Writes an answer that never ends, to uWebSockets.js's mind, and closes: after `end`, the connection of a client that
   * does not take its answers would take requests until it did.
   */
  #hangUp(answer: string): void {
    this.#afterParsing((response) => {
      response.cork(() => response.writeStatus(answer));
      response.close();
    });
  }

  /** Written in one native call: uWebSockets.js writes it as it is, and a call costs more than the text. */
  #head(status: number, headers: string): string {
    const start = answerStarts.get(status) ?? `${status} \r\nRequest-Id: `;
    return `${start}${this.requestId}${this.#exchanges.commonHeaders}${headers}`;
  }

  /** Begins an answer whose body is written piece by piece. */
  begin(status: number, headers: string): void {
    const response = this.#response;
    if (response === null) return;
    this.#streaming = true;
    const head = this.#head(status, headers);
    response.cork(() => response.writeStatus(head));
  }

  /** Writes a piece of a streamed answer and settles when the connection takes more. */
  async write(piece: string): Promise<void> {
    const bytes = Buffer.from(piece);
    for (let at = 0; at < bytes.length; at += partBytes) {
      const response = this.#response;
      if (response === null) return;
      let taken = false;
      response.cork(() => {
        taken = response.write(bytes.subarray(at, at + partBytes));
      });
      if (!taken) await this.#writable(response, bytes.length - at);
    }
    if (this.isOpen) this.#hold(0);
  }

  /** Settles when the connection has taken something of the bytes that are held now, or is gone. */
  #writable(response: HttpResponse, heldBytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
      this.#waitFor(response, heldBytes, () => {
        // uWebSockets.js writes what waits after this handler. What was written in it would be written with that, and
        // nobody would hear of it.
        setImmediate(resolve);
      });
    });
  }

  /** Holds what the client has not taken, and calls `onWritable` whenever its connection takes more. */
  #waitFor(response: HttpResponse, heldBytes: number, onWritable: () => void): void {
    this.#hold(heldBytes);
    response.onWritable(() => {
      onWritable();
      return true;
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
    this.#afterParsing((response) => response.close());
  }
}

/** The answer that is written now. */
let wholeAnswer: { response: HttpResponse; head: string; body: string | Uint8Array };

/** Writes an answer that its connection takes whole, in one system call. */
function writeWhole(response: HttpResponse, head: string, body: string | Uint8Array): void {
  wholeAnswer = { response, head, body };
  response.cork(writeCorked);
}

/** One function for all answers: uWebSockets.js calls it at once. */
function writeCorked(): void {
  const { response, head, body } = wholeAnswer;
  response.writeStatus(head).end(body);
}

/**
 * Hands over, part by part, what the connection takes of an answer of `bytes`, of which `rest` begins at `start`; true
 * when that was all. Over TLS a part counts as taken only when all of it is.
 */
function putParts(response: HttpResponse, rest: Uint8Array, start: number, bytes: number): boolean {
  for (;;) {
    const at = response.getWriteOffset() - start;
    const [isTaken, isDone] = response.tryEnd(rest.subarray(at, at + partBytes), bytes);
    if (isDone || !isTaken) return isDone;
  }
}
