// The client of a shard in an edge or in the main thread. It packs the requests of a tick into one batch, and remembers who
// waits for an answer. When the shard ends, it refuses all of these at once. While the shard has nothing to do, a small batch
// is sent at once, because otherwise edge and shard would take turns, each idle while the other one works.
//
// It also bounds the shard's mailbox: requests without an answer take memory there, so more than `bytesMax` of them are refused
// here, before any work was done for them.

import { routeTable } from '../contract/routes/table.ts';
import { type Scheduler, systemScheduler } from '../core/scheduler.ts';
import { type AnswerFrame, type RequestFrame, RequestWriter, readAnswers, SpareBuffers } from './frames.ts';
import type { FromShard, InternalAnswer, InternalRequest, ToShard } from './protocol.ts';

/** The part of a MessageChannel's port that is used. */
export interface Port {
  postMessage(message: ToShard, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: FromShard) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  close(): void;
}

/**
 * Gets the answer to a public request; null when the shard ended before it answered, or has too much to do. The answer's body
 * is valid during the call only.
 */
export type OnAnswer = (answer: AnswerFrame | null) => void;

const away: InternalAnswer = {
  ok: false,
  code: 'api_error',
  message: 'The shard is recovering, or has too much to do: try again.',
};

/** The bytes that a request without a large body takes until it is answered. */
const requestBytes = 1024;

/** With this much work a batch is sent at once to a free shard. Less is not worth the cost of waking the other thread. */
export const workForFreeShard = 64;
/** The work of a request by its route. A query is about a quarter of a command. */
const workOf = routeTable.map(({ kind }) => (kind === 'command' ? 4 : 1));

export class ShardClient {
  #port: Port | null = null;
  readonly #spare = new SpareBuffers();
  readonly #writer = new RequestWriter(this.#spare);
  readonly #waiting = new Map<number, OnAnswer>();
  readonly #waitingInternal = new Map<number, (answer: InternalAnswer) => void>();
  /** The bytes of all large bodies that wait, and of each. */
  #largeBytes = 0;
  readonly #large = new Map<number, number>();
  readonly #bytesMax: number;
  #correlation = 0;
  #flushScheduled = false;
  /** How many requests are in the batch that was not sent yet, and their work. */
  #unsent = 0;
  #unsentWork = 0;
  /** The shard has answered since the last batch was sent, so it is probably free. */
  #hasAnswered = false;
  readonly #soon: Scheduler['soon'];

  constructor(bytesMax = Infinity, { soon }: Pick<Scheduler, 'soon'> = systemScheduler) {
    this.#bytesMax = bytesMax;
    this.#soon = soon;
  }

  /** False while the shard is being restarted. Then nothing can be sent. */
  get connected(): boolean {
    return this.#port !== null;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Whether `bytes` more are too much. A shard that has nothing to do accepts any request. */
  #isFullWith(bytes: number): boolean {
    const waiting = this.#waiting.size + this.#waitingInternal.size;
    return waiting > 0 && (waiting + 1) * requestBytes + this.#largeBytes + bytes > this.#bytesMax;
  }

  /** From now on, uses this port to a (new) shard thread. */
  connect(port: Port): void {
    this.disconnect();
    this.#port = port;
    port.on('message', (message) => this.#receive(message));
    port.on('close', () => {
      if (this.#port === port) this.disconnect();
    });
  }

  /** The shard has ended, so everything that waits for it is refused. */
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

  /** Sends a public request, mostly together with others of this tick. */
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

  /** Sends an internal request. The answer is a refusal when the shard ends, or has too much to do. */
  ask(request: InternalRequest): Promise<InternalAnswer> {
    // An export that has begun goes on, because few run at a time, and half a file is useless.
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
