// Requests for a shard in this thread, as an edge packs them: a batch at a time, without any network. Any answer but success
// ends the bench.

import { matchRoute } from '../src/edge/http/router.ts';
import type { Peer } from '../src/shard/commit-batch.ts';
import { noVersion, RequestWriter, readAnswers, requestFlags } from '../src/shard/frames.ts';
import type { Shard } from '../src/shard/shard.ts';

/** Hears the body of an answer. */
type OnAnswer = ((body: string) => void) | null;

export const payment = {
  amount: 12_000,
  currency: 'mad',
  payment_method_types: ['card', 'cash'],
  metadata: { order_id: 'order-1042' },
};
export const paymentBody = Buffer.from(JSON.stringify(payment));

export class Feeder {
  readonly #shard: Shard;
  readonly #org: string;
  readonly #writer = new RequestWriter();
  #count = 0;
  #onAnswers: OnAnswer[] = [];

  constructor(shard: Shard, org: string) {
    this.#shard = shard;
    this.#org = org;
  }

  /** Requests that were put so far. */
  get requests(): number {
    return this.#count;
  }

  /** Requests of the batch that is put together. */
  get size(): number {
    return this.#onAnswers.length;
  }

  put(path: string, body: Buffer, onAnswer: OnAnswer = null): void {
    const { route, id } = matchRoute('POST', path)!;
    const number = String(this.#count++).padStart(21, '0');
    this.#onAnswers.push(onAnswer);
    this.#writer.put(this.#onAnswers.length, {
      route,
      flags: requestFlags.hasIdempotencyKey,
      language: 0,
      version: noVersion,
      org: this.#org,
      requestId: `req_${number}`,
      id,
      query: '',
      idempotencyKey: `load-${number}`,
      member: '',
      body,
    });
  }

  /** Sends the batch, which is one commit batch; resolves when all of it is answered. */
  send(): Promise<void> {
    const onAnswers = this.#onAnswers;
    this.#onAnswers = [];
    let missing = onAnswers.length;
    const answered = Promise.withResolvers<void>();
    const peer: Peer = {
      post(message) {
        if (!(message instanceof ArrayBuffer)) return;
        readAnswers(message, ({ correlation, status, body }) => {
          if (status !== 200) throw new Error(`a request was answered with ${status}: ${body}`);
          onAnswers[correlation - 1]?.(String(body));
          missing--;
        });
        if (missing === 0) answered.resolve();
      },
    };
    this.#shard.receive(this.#writer.take(), peer);
    return answered.promise;
  }
}
