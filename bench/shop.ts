// A shop whose requests a shard in this process takes in large batches, without any network: payment intents, most of which
// stay as they were created, and with each batch some customers, checkout sessions, and payments by card that succeed and
// are refunded. So every list grows. The answers are those of the service, and any refusal ends the bench.

import type { NetworkCallRecord } from '../src/domain/record.ts';
import { outcomeCommand } from '../src/shard/protocol.ts';
import type { Shard } from '../src/shard/shard.ts';
import { Feeder, payment, paymentBody } from './feeder.ts';

/** As many as a shard takes in one commit batch. */
const batchSize = 512;
/** Of each batch so many of the rarer kinds: customers, sessions, and payments at each of their steps. */
const rarerEach = 16;
/** Every eighth payment intent names one of the newest customers. */
const customerOfEvery = 8;
const customersKept = 1_000;

const session = Buffer.from(JSON.stringify({ ...payment, success_url: 'https://shop.example/thanks' }));
const nothing = Buffer.from('{}');

interface Answered {
  readonly id: string;
  readonly latest_charge: string;
}

export class Shop {
  readonly #shard: Shard;
  readonly #feeder: Feeder;
  /** The newest ones. */
  readonly #customers: string[] = [];
  #customersMade = 0;
  /** What the next batch goes on with. */
  #toConfirm: string[] = [];
  #toComplete: string[] = [];
  #toRefund: string[] = [];

  constructor(shard: Shard, org: string) {
    this.#shard = shard;
    this.#feeder = new Feeder(shard, org);
  }

  /** Requests that were sent so far. */
  get requests(): number {
    return this.#feeder.requests;
  }

  /** The payment network does at once what it is asked for. */
  settle(call: NetworkCallRecord): void {
    void this.#shard.ask(outcomeCommand(call.id, { result: 'done' }));
  }

  /** Sends a batch; settles with the number of payment intents in it when all of it is answered. */
  batch(): Promise<number> {
    let intents = rarerEach;
    for (let i = 0; i < rarerEach; i++) {
      const email = `customer-${this.requests}@example.com`;
      const customer = Buffer.from(JSON.stringify({ email, name: 'Amina', phone: '+212600000000' }));
      this.#put('/v1/customers', customer, ({ id }) => {
        this.#customers[this.#customersMade++ % customersKept] = id;
      });
      this.#feeder.put('/v1/checkout/sessions', session);
    }
    this.#goOnWithPayments();
    for (; this.#feeder.size < batchSize; intents++) this.#createIntent(intents);
    return this.#feeder.send().then(() => intents);
  }

  #goOnWithPayments(): void {
    const [toConfirm, toComplete, toRefund] = [this.#toConfirm, this.#toComplete, this.#toRefund];
    [this.#toConfirm, this.#toComplete, this.#toRefund] = [[], [], []];
    const card = Buffer.from(JSON.stringify({ payment_method_type: 'card' }));
    for (const id of toConfirm)
      this.#put(`/v1/payment_intents/${id}/confirm`, card, ({ latest_charge }) =>
        this.#toComplete.push(latest_charge),
      );
    for (const [i, id] of toComplete.entries()) {
      const path = `/v1/test_helpers/charges/${id}/complete`;
      // Money of another amount comes first, and opens a review.
      if (i === 0) this.#feeder.put(path, Buffer.from(JSON.stringify({ amount: payment.amount - 1 })));
      this.#feeder.put(path, nothing, () => this.#toRefund.push(id));
    }
    for (const charge of toRefund)
      this.#feeder.put('/v1/refunds', Buffer.from(JSON.stringify({ charge, amount: 1_000 })));
  }

  #createIntent(number: number): void {
    const isPaid = number < 2 * rarerEach;
    const customer =
      number % customerOfEvery === 0 ? this.#customers[number % this.#customers.length] : undefined;
    const body = customer === undefined ? paymentBody : Buffer.from(JSON.stringify({ ...payment, customer }));
    if (isPaid) this.#put('/v1/payment_intents', body, ({ id }) => this.#toConfirm.push(id));
    else this.#feeder.put('/v1/payment_intents', body);
  }

  #put(path: string, body: Buffer, onAnswer: (answer: Answered) => void): void {
    this.#feeder.put(path, body, (answer) => onAnswer(JSON.parse(answer)));
  }
}
