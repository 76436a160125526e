// The sending side of the protocol: what an edge (or the main thread) holds for one shard. It packs the requests of a
// tick into one batch, keeps what waits for an answer, and when the shard goes away it refuses all of that at once.

import {
  type AnswerFrame,
  type FromShard,
  type InternalAnswer,
  type InternalRequest,
  type RequestFrame,
  RequestWriter,
  readAnswers,
  type ToShard,
} from './protocol.ts';

/** The port of a MessageChannel, as far as it is used. */
export interface Port {
  postMessage(message: ToShard, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: FromShard) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  close(): void;
}

/** Gets the answer to a public request, or null when the shard went away before it answered. */
export type OnAnswer = (answer: AnswerFrame | null) => void;

const away: InternalAnswer = {
  ok: false,
  status: 503,
  code: 'api_error',
  message: 'The shard is recovering.',
};

export class ShardClient {
  #port: Port | null = null;
  readonly #writer = new RequestWriter();
  readonly #waiting = new Map<number, OnAnswer>();
  readonly #waitingInternal = new Map<number, (answer: InternalAnswer) => void>();
  #correlation = 0;
  #flushScheduled = false;

  /** False while the shard is being restarted: nothing can be sent. */
  get connected(): boolean {
    return this.#port !== null;
  }

  get waitingCount(): number {
    return this.#waiting.size;
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
    for (const onAnswer of this.#waiting.values()) onAnswer(null);
    this.#waiting.clear();
    for (const settle of this.#waitingInternal.values()) settle(away);
    this.#waitingInternal.clear();
  }

  /** Sends a public request with the others of this tick. */
  send(frame: Omit<RequestFrame, 'correlation'>, onAnswer: OnAnswer): void {
    if (this.#port === null) {
      onAnswer(null);
      return;
    }
    const correlation = this.#nextCorrelation();
    this.#waiting.set(correlation, onAnswer);
    this.#writer.put(correlation, frame);
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => this.#flush());
  }

  /** Sends an internal request; the answer is a refusal when the shard goes away. */
  ask(request: InternalRequest): Promise<InternalAnswer> {
    if (this.#port === null) return Promise.resolve(away);
    const correlation = this.#nextCorrelation();
    this.#port.postMessage({ correlation, request });
    return new Promise((resolve) => this.#waitingInternal.set(correlation, resolve));
  }

  #nextCorrelation(): number {
    this.#correlation = (this.#correlation + 1) >>> 0;
    return this.#correlation;
  }

  #flush(): void {
    this.#flushScheduled = false;
    if (this.#port === null || this.#writer.empty) return;
    const batch = this.#writer.take();
    this.#port.postMessage(batch, [batch]);
  }

  #receive(message: FromShard): void {
    if (message instanceof ArrayBuffer) {
      readAnswers(message, (answer) => {
        const onAnswer = this.#waiting.get(answer.correlation);
        this.#waiting.delete(answer.correlation);
        onAnswer?.(answer);
      });
    } else if ('answer' in message) {
      const settle = this.#waitingInternal.get(message.correlation);
      this.#waitingInternal.delete(message.correlation);
      settle?.(message.answer);
    }
  }
}
