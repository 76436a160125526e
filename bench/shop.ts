// A shop whose requests a shard in this process takes in large batches, without any network: payment intents, most of which
// stay as they were created, and with each batch some customers, checkout sessions, and payments by card that succeed and
// are refunded. So every list grows. The answers are those of the service, and any refusal ends the bench.

import type { NetworkCallRecord } from '../src/domain/record.ts';
import { matchRoute } from '../src/edge/http/router.ts';
import type { Peer } from '../src/shard/commit-batch.ts';
import { noVersion, RequestWriter, readAnswers, requestFlags } from '../src/shard/frames.ts';
import type { FromShard } from '../src/shard/protocol.ts';
import { outcomeCommand } from '../src/shard/protocol.ts';
import type { Shard } from '../src/shard/shard.ts';

/** As many as a shard takes into one commit batch. */
const batchSize = 512;
/** Of each batch so many of the rarer kinds: customers, sessions, and payments at each of their steps. */
const rarerEach = 16;
/** Every eighth payment intent names one of the newest customers. */
const customerOfEvery = 8;
const customersKept = 1_000;

const payment = {
  amount: 12_000,
  currency: 'mad',
  payment_method_types: ['card', 'cash'],
  metadata: { order_id: 'order-1042' },
};
const plain = Buffer.from(JSON.stringify(payment));
const session = Buffer.from(JSON.stringify({ ...payment, success_url: 'https://shop.example/thanks' }));
const nothing = Buffer.from('{}');

interface Answered {
  readonly id: string;
  readonly latest_charge?: string;
}
type OnAnswer = ((answer: Answered) => void) | null;

export class Shop {
  readonly #shard: Shard;
  readonly #org: string;
  readonly #writer = new RequestWriter();
  /** The newest ones. */
  readonly #customers: string[] = [];
  #customersMade = 0;
  /** What the next batch goes on with. */
  #toConfirm: string[] = [];
  #toComplete: string[] = [];
  #toRefund: string[] = [];
  #count = 0;
  #onAnswers: OnAnswer[] = [];

  constructor(shard: Shard, org: string) {
    this.#shard = shard;
    this.#org = org;
  }

  /** Requests that were sent so far. */
  get requests(): number {
    return this.#count;
  }

  /** The payment network does at once what it is asked for. */
  settle(call: NetworkCallRecord): void {
    void this.#shard.ask(outcomeCommand(call.id, { result: 'done' }));
  }

  /** Sends a batch; settles with the number of payment intents in it when all of it is answered. */
  batch(): Promise<number> {
    this.#onAnswers = [];
    let intents = rarerEach;
    for (let i = 0; i < rarerEach; i++) {
      const email = `customer-${this.#count}@example.com`;
      const customer = Buffer.from(JSON.stringify({ email, name: 'Amina', phone: '+212600000000' }));
      this.#put('/v1/customers', customer, ({ id }) => {
        this.#customers[this.#customersMade++ % customersKept] = id;
      });
      this.#put('/v1/checkout/sessions', session, null);
    }
    this.#goOnWithPayments();
    for (; this.#onAnswers.length < batchSize; intents++) this.#createIntent(intents);
    return this.#send().then(() => intents);
  }

  #goOnWithPayments(): void {
    const [toConfirm, toComplete, toRefund] = [this.#toConfirm, this.#toComplete, this.#toRefund];
    [this.#toConfirm, this.#toComplete, this.#toRefund] = [[], [], []];
    const card = Buffer.from(JSON.stringify({ payment_method_type: 'card' }));
    for (const id of toConfirm)
      this.#put(`/v1/payment_intents/${id}/confirm`, card, ({ latest_charge }) =>
        this.#toComplete.push(latest_charge!),
      );
    for (const [i, id] of toComplete.entries()) {
      const path = `/v1/test_helpers/charges/${id}/complete`;
      // Money of another amount comes first, and opens a review.
      if (i === 0) this.#put(path, Buffer.from(JSON.stringify({ amount: payment.amount - 1 })), null);
      this.#put(path, nothing, () => this.#toRefund.push(id));
    }
    for (const charge of toRefund)
      this.#put('/v1/refunds', Buffer.from(JSON.stringify({ charge, amount: 1_000 })), null);
  }

  #createIntent(number: number): void {
    const isPaid = number < 2 * rarerEach;
    const customer =
      number % customerOfEvery === 0 ? this.#customers[number % this.#customers.length] : undefined;
    const body = customer === undefined ? plain : Buffer.from(JSON.stringify({ ...payment, customer }));
    this.#put('/v1/payment_intents', body, isPaid ? ({ id }) => this.#toConfirm.push(id) : null);
  }

  #put(path: string, body: Buffer, onAnswer: OnAnswer): void {
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

  #send(): Promise<void> {
    const onAnswers = this.#onAnswers;
    let missing = onAnswers.length;
    const answered = Promise.withResolvers<void>();
    const peer: Peer = {
      post(message: FromShard) {
        if (!(message instanceof ArrayBuffer)) return;
        readAnswers(message, ({ correlation, status, body }) => {
          if (status !== 200) throw new Error(`a request was answered with ${status}: ${body}`);
          onAnswers[correlation - 1]?.(JSON.parse(String(body)));
          missing--;
        });
        if (missing === 0) answered.resolve();
      },
    };
    this.#shard.receive(this.#writer.take(), peer);
    return answered.promise;
  }
}
