// An exchange is one request and its answer, which it gives exactly once. It alone owns the native
// response. Nothing is answered while uWebSockets.js's parser is running, because what stands
// behind the request would run then; a request that comes before an answer ends the connection.
//
// uWebSockets.js answers some requests itself: another version or no path (505), a broken head,
// length or chunk (400), more than 64 KiB or 100 lines of headers (431).

import type { HttpResponse } from 'uWebSockets.js';
import type { OnVisitFailed, VisitEntry } from '../../core/visit-failure.ts';
import { remoteAddressOf } from './client-address.ts';
import type { HeldBytes } from './held-bytes.ts';
import * as wire from './write-answer.ts';

type Header = readonly [name: string, value: string];

/** Headers as text for an answer, each with a line break before it. */
export function headerLines(...headers: readonly Header[]): string {
  return headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
}

/** What a client must take in the time for slow ones: some 4 KiB a second over a minute. */
const takenBytesMin = 256 * 1024;

export interface Exchanges {
  /** Exchanges under way, oldest first. */
  readonly open: Set<Exchange>;
  /** Headers of every answer, each with a line break before it. */
  readonly commonHeaders: string;
  /** The server is to stop, so each answer is the last one on its connection. */
  lastAnswers: boolean;
  /** The server stops: an endless stream has to end. */
  closing: boolean;
  /** Counts what clients have not taken yet. */
  readonly held: HeldBytes;
  /** Counts what is there of bodies that are not whole yet. */
  readonly bodies: HeldBytes;
  readonly whole: wire.WholeWriter;
  /** The parser has called a handler, and goes on with what it has read when that returns. */
  parsing: boolean;
  /** Called with the exceptions of handlers, which would otherwise end the process. */
  readonly onFailed: OnVisitFailed;
}

/** Handles an exchange after its head was read. */
export interface ExchangeHandler {
  /** Called when the exchange takes too long. It must be answered now, or it is cut. */
  onTimeout(): void;
  /** Called when the client is gone before the exchange was answered. */
  onGone?(): void;
}

/** Answers that the service failed. */
export interface TroubleTeller {
  onTrouble(): void;
}

export class Exchange {
  /** In milliseconds of the monotonic clock. */
  readonly startedAt = performance.now();
  readonly requestId: string;
  /** A HEAD is answered without a body. */
  isHead = false;
  /** Its body comes in chunks. */
  isChunked = false;
  /** Its end is not certain, or is not read, so its answer is the last one on its connection. */
  isLast = false;
  /** Without a handler, an exchange that takes too long is cut. */
  handler: ExchangeHandler | null = null;
  entry: VisitEntry = 'connection';
  /** Without it, an exchange that fails because of a bug is cut. */
  trouble: TroubleTeller | null = null;
  readonly #exchanges: Exchanges;
  #response: HttpResponse | null;
  #streaming = false;
  /** Resumes the writer of a streamed answer. */
  #resume: (() => void) | null = null;
  /** The organization whose share what is held for it counts in; all strangers have one. */
  holder = '';
  /** Since when the client has not taken enough (monotonic); null when nothing waits for it. */
  #stuckAt: number | null = null;

  /** Registers a handler of aborts before anything else can happen. */
  constructor(response: HttpResponse, exchanges: Exchanges, requestId: string) {
    this.#response = response;
    this.#exchanges = exchanges;
    this.requestId = requestId;
    exchanges.open.add(this);
    response.onAborted(() => this.#aborted());
  }

  /** It is neither answered nor aborted. */
  get isOpen(): boolean {
    return this.#response !== null;
  }

  /** Its answer has begun. */
  get isStreaming(): boolean {
    return this.#streaming;
  }

  /** An endless stream has to end. */
  get isClosing(): boolean {
    return this.#exchanges.closing;
  }

  /** The client has not taken enough of its answer. */
  get isStuck(): boolean {
    return this.#stuckAt !== null;
  }

  /** The client has not taken enough of its answer since `time`. */
  isStuckSince(time: number): boolean {
    return this.#stuckAt !== null && this.#stuckAt < time;
  }

  /** Whether an answer of that many bytes may be held if the client is slow. */
  hasRoomFor(bytes: number): boolean {
    return bytes <= wire.partBytes || this.#exchanges.held.hasRoom(this, bytes);
  }

  /** So much of its body waits for the rest. False: there is no room for it. */
  holdBody(bytes: number): boolean {
    return this.#exchanges.bodies.take(this, bytes);
  }

  #hold(bytes: number): void {
    this.#exchanges.held.set(this, bytes);
    this.#stuckAt = bytes === 0 ? null : (this.#stuckAt ?? performance.now());
  }

  /**
   * Call it now and then. uWebSockets.js closes a connection whose buffers, which may have
   * megabytes, are not taken within 10 seconds; this starts the 10 seconds again.
   */
  wait(): void {
    if (this.#stuckAt === null) return;
    this.#response?.pause();
    this.#response?.resume();
  }

  get remoteAddress(): string {
    return this.#response === null ? '' : remoteAddressOf(this.#response);
  }

  #aborted(): void {
    this.#end();
    this.guard(() => this.handler?.onGone?.());
  }

  /** Called after an abort or an answer. The native response must not be touched any more. */
  #end(): void {
    this.#response = null;
    this.#exchanges.open.delete(this);
    this.#exchanges.held.set(this, 0);
    this.#exchanges.bodies.set(this, 0);
    this.#resume?.();
  }

  /** Finishes the response when the parser has returned, unless the client is gone. */
  #afterParsing(finish: (response: HttpResponse) => void): void {
    const response = this.#response;
    if (response === null) return;
    this.#response = null;
    setImmediate(() => {
      if (!this.#exchanges.open.has(this)) return;
      try {
        finish(response);
      } catch (error) {
        this.#exchanges.onFailed(error, this.entry, this.requestId);
        this.#end();
        // A half answer must not look complete. The response may be finished, and throws then.
        this.guard(() => void response.close());
      }
    });
  }

  /** Runs a step that the parser waits for. */
  whileParsing(step: () => void): void {
    this.#exchanges.parsing = true;
    this.guard(step);
    this.#exchanges.parsing = false;
  }

  /** Runs `step`. An exception is a bug: the exchange is answered with that, or cut. */
  guard(step: () => void | Promise<void>): void {
    try {
      step()?.catch((error) => this.failed(error));
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error: unknown): void {
    const { onFailed } = this.#exchanges;
    onFailed(error, this.entry, this.requestId);
    try {
      if (!this.#streaming) this.trouble?.onTrouble();
    } catch (again) {
      onFailed(again, this.entry, this.requestId);
    }
    // This has no effect where the answer is given.
    this.cut();
  }

  /** Called when the exchange takes too long. */
  timeOut(): void {
    this.guard(() => (this.handler === null ? this.cut() : this.handler.onTimeout()));
  }

  /** Gives the body's pieces to `take`. Call it before the handler of the request returns. */
  onPiece(take: (piece: ArrayBuffer, isLast: boolean) => void): void {
    this.#response?.onData((piece, isLast) => {
      if (this.isOpen) this.whileParsing(() => take(piece, isLast));
    });
  }

  /** Answers. `headers`: besides the common ones. The body's bytes may change after the call. */
  answer(status: number, headers: string, body: string | Uint8Array): void {
    const response = this.#response;
    if (response === null || this.#streaming) return;
    const head = this.#head(status, headers);
    if (this.isHead) {
      this.#hangUp(`${head}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`);
    } else if (this.isLast || this.#exchanges.lastAnswers) {
      this.#hangUp(wire.lastAnswer(head, body));
    } else if (this.#exchanges.parsing) {
      const kept = wire.keep(body);
      this.#afterParsing((later) => this.#write(later, head, kept));
    } else {
      this.#write(response, head, body);
    }
  }

  #write(response: HttpResponse, head: string, body: string | Uint8Array): void {
    if (body.length === 0) {
      this.#write(response, head, wire.lineForNoBody);
    } else if (wire.isLarge(body)) {
      this.#answerInParts(response, head, wire.bytesOf(body));
    } else if (this.#exchanges.whole.write(response, head, body)) {
      this.#end();
    } else {
      this.#writeRest(response, wire.bytesOf(body));
    }
  }

  #answerInParts(response: HttpResponse, head: string, body: Uint8Array): void {
    let isDone = false;
    response.cork(() => {
      isDone = wire.putParts(response.writeStatus(head), body, 0, body.length);
    });
    if (isDone) this.#end();
    else this.#writeRest(response, body);
  }

  /**
   * Writes what is left of an answer as the client takes it. Until then the connection takes no
   * other request. Where there is no room to hold the rest the connection is cut.
   */
  #writeRest(response: HttpResponse, body: Uint8Array): void {
    this.#response = response;
    this.#streaming = true;
    const start = response.getWriteOffset();
    if (!this.#exchanges.held.hasRoom(this, body.length - start)) {
      this.cut();
      return;
    }
    // The rest is copied, because the buffer also has other answers.
    const rest = Buffer.from(body.subarray(start));
    let enough = start + takenBytesMin;
    this.#waitFor(response, rest.length, () => {
      if (wire.putParts(response, rest, start, body.length)) {
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

  /**
   * Writes an answer without ending it for uWebSockets.js, and closes the connection. After `end`,
   * a connection whose client does not take its answers would go on taking requests. A large answer
   * may not be taken at once: then the client closes, or it is cut like one that takes nothing.
   */
  #hangUp(answer: string | Uint8Array): void {
    this.#afterParsing((response) => {
      response.cork(() => response.writeStatus(answer));
      if (answer.length > wire.partBytes && this.#exchanges.held.hasRoom(this, answer.length)) {
        this.#response = response;
        this.#streaming = true;
        this.#hold(answer.length);
      } else {
        response.close();
        this.#end();
      }
    });
  }

  /** The head as one text: a native call for each line would cost more than the text. */
  #head(status: number, headers: string): string {
    return `${wire.answerStart(status)}${this.requestId}${this.#exchanges.commonHeaders}${headers}`;
  }

  /** Begins an answer whose body is written piece by piece. A HEAD gets no more than this. */
  begin(status: number, headers: string): void {
    const response = this.#response;
    if (response === null) return;
    if (this.isHead) {
      this.answer(status, headers, '');
      return;
    }
    this.#streaming = true;
    const last = this.#exchanges.lastAnswers ? '\r\nConnection: close' : '';
    response.cork(() => response.writeStatus(this.#head(status, headers + last)));
  }

  /** Writes a piece of a streamed answer and resolves when the connection takes more. */
  async write(piece: string): Promise<void> {
    const bytes = Buffer.from(piece);
    for (let at = 0; at < bytes.length; at += wire.partBytes) {
      const response = this.#response;
      if (response === null) return;
      let taken = false;
      response.cork(() => {
        taken = response.write(bytes.subarray(at, at + wire.partBytes));
      });
      if (!taken) await this.#writable(response, bytes.length - at);
    }
    if (this.isOpen) this.#hold(0);
  }

  /** Resolves when the connection has taken something of the bytes that are held now, or is gone. */
  #writable(response: HttpResponse, heldBytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
      this.#waitFor(response, heldBytes, () => {
        // uWebSockets.js flushes its buffers after this handler. A piece that is written in it
        // would be flushed, too, and would cause no call of `onWritable`.
        setImmediate(resolve);
      });
    });
  }

  /** Holds what was not taken. Calls `onWritable` whenever the connection takes more. */
  #waitFor(response: HttpResponse, heldBytes: number, onWritable: () => void): void {
    this.#hold(heldBytes);
    response.onWritable(() => {
      this.guard(onWritable);
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
    this.#afterParsing((response) => {
      response.close();
      this.#end();
    });
  }
}
