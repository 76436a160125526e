// The sending side of the protocol: what an edge (or the main thread) holds for one shard. It packs the requests of a
// tick into one batch, keeps what waits for an answer, and when the shard goes away it refuses all of that at once. While
// the shard has nothing to do, some work is enough for a batch: otherwise edge and shard would take turns, each idle
// while the other one works.
//
// It also keeps the shard's mailbox within bounds: what was sent and has no answer yet takes memory there, so more than
// `bytesMax` of it is refused here, before any work was done for it.

import { routeTable } from '../contract/routes/table.ts';
import { type Scheduler, systemScheduler } from '../core/scheduler.ts';
import { type AnswerFrame, type RequestFrame, RequestWriter, readAnswers, SpareBuffers } from './frames.ts';
import type { FromShard, InternalAnswer, InternalRequest, ToShard } from './protocol.ts';

/** The port of a MessageChannel, as far as it is used. */
export interface Port {
  postMessage(message: ToShard, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: FromShard) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  close(): void;
}

/**
 * Gets the answer to a public request; null when the shard went away before it answered, or has too much to do. The
 * answer's body is good during the call only.
 */
export type OnAnswer = (answer: AnswerFrame | null) => void;

const away: InternalAnswer = {
  ok: false,
  code: 'api_error',
  message: 'The shard is recovering, or has too much to do: try again.',
};

/** What a request without a large body takes until it is answered. */
const requestBytes = 1024;

/** So much work is worth a message of its own when the shard is free: waking the other thread has its cost, too. */
export const workForFreeShard = 64;
/** What requests are for a shard, by their route: a query is about a quarter of a command. */
const workOf = routeTable.map(({ kind }) => (kind === 'command' ? 4 : 1));

export class ShardClient {
  #port: Port | null = null;
  readonly #spare = new SpareBuffers();
  readonly #writer = new RequestWriter(this.#spare);
  readonly #waiting = new Map<number, OnAnswer>();
  readonly #waitingInternal = new Map<number, (answer: InternalAnswer) => void>();
  /** Bytes of the large bodies among what waits, and each one's. */
  #largeBytes = 0;
  readonly #large = new Map<number, number>();
  readonly #bytesMax: number;
  #correlation = 0;
  #flushScheduled = false;
  /** How many requests are in the batch that was not sent yet, and their work. */
  #unsent = 0;
  #unsentWork = 0;
  /** The shard has answered since the last batch was sent: it has a turn free, as far as is known here. */
  #hasAnswered = false;
  readonly #soon: Scheduler['soon'];

  constructor(bytesMax = Infinity, { soon }: Pick<Scheduler, 'soon'> = systemScheduler) {
    this.#bytesMax = bytesMax;
    this.#soon = soon;
  }

  /** False while the shard is being restarted: nothing can be sent. */
  get connected(): boolean {
    return this.#port !== null;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Whether `bytes` more are too much. A shard that has nothing to do takes any request. */
  #isFullWith(bytes: number): boolean {
    const waiting = this.#waiting.size + this.#waitingInternal.size;
    return waiting > 0 && (waiting + 1) * requestBytes + this.#largeBytes + bytes > this.#bytesMax;
  }

  /** Talks to a (new) shard thread through this port from now on. */
  connect(port: Port): void {
    this.disconnect();
    this.#port = port;
    port.on('message', (message) => this.#receive(message));
    port.on('close', () => {
      if (this.#port === port) this.disconnect();
    });
  }

  /** The shard is gone: everything that waits for it is refused. */
  disconnect(): void {
    this.#port?.close();
    this.#port = null;
    if (!this.#writer.empty) this.#writer.take();
    this.#unsent = 0;
    this.#unsentWork = 0;
    this.#large.clear();
    this.#largeBytes = 0;
    for (const onAnswer of this.#waiting.values()) onAnswer(null);
    this.#waiting.clear();
    for (const settle of this.#waitingInternal.values()) settle(away);
    this.#waitingInternal.clear();
  }

  /** Sends a public request with others of this tick. */
  send(frame: Omit<RequestFrame, 'correlation'>, onAnswer: OnAnswer): void {
    const bytes = frame.body.length;
    if (this.#port === null || this.#isFullWith(bytes)) {
      onAnswer(null);
      return;
    }
    const correlation = this.#nextCorrelation();
    if (bytes > requestBytes) {
      this.#large.set(correlation, bytes);
      this.#largeBytes += bytes;
    }
    this.#waiting.set(correlation, onAnswer);
    this.#writer.put(correlation, frame);
    this.#unsent++;
    this.#unsentWork += workOf[frame.route]!;
    if (this.#unsentWork >= workForFreeShard && this.#isShardFree) {
      this.#flush();
      return;
    }
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#soon(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  get #isShardFree(): boolean {
    return this.#hasAnswered || this.#waiting.size === this.#unsent;
  }

  /** Sends an internal request; the answer is a refusal when the shard goes away, or has too much to do. */
  ask(request: InternalRequest): Promise<InternalAnswer> {
    // An export that has begun goes on: few do at a time, and half a file is of no use.
    const mayWait = request.kind.startsWith('export_') || !this.#isFullWith(0);
    if (this.#port === null || !mayWait) return Promise.resolve(away);
    const correlation = this.#nextCorrelation();
    this.#port.postMessage({ correlation, request });
    return new Promise((resolve) => this.#waitingInternal.set(correlation, resolve));
  }

  #takenOff(correlation: number): void {
    this.#largeBytes -= this.#large.get(correlation) ?? 0;
    this.#large.delete(correlation);
  }

  #nextCorrelation(): number {
    this.#correlation = (this.#correlation + 1) >>> 0;
    return this.#correlation;
  }

  #flush(): void {
    if (this.#port === null || this.#writer.empty) return;
    const batch = this.#writer.take();
    this.#unsent = 0;
    this.#unsentWork = 0;
    this.#hasAnswered = false;
    this.#port.postMessage(batch, [batch]);
  }

  #receive(message: FromShard): void {
    if (message instanceof ArrayBuffer) {
      this.#hasAnswered = true;
      readAnswers(message, (answer) => {
        const onAnswer = this.#waiting.get(answer.correlation);
        this.#waiting.delete(answer.correlation);
        if (this.#largeBytes > 0) this.#takenOff(answer.correlation);
        onAnswer?.(answer);
      });
      this.#spare.give(message);
    } else if ('answer' in message) {
      const settle = this.#waitingInternal.get(message.correlation);
      this.#waitingInternal.delete(message.correlation);
      settle?.(message.answer);
    }
  }
}
