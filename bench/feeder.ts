// Creates for a shard in this thread, as an edge packs them: a batch at a time, without any network.

import { matchRoute } from '../src/edge/http/router.ts';
import type { Peer } from '../src/shard/commit-batch.ts';
import { noVersion, RequestWriter, readAnswers, requestFlags } from '../src/shard/frames.ts';
import type { FromShard } from '../src/shard/protocol.ts';
import type { Shard } from '../src/shard/shard.ts';

const body = Buffer.from(
  JSON.stringify({
    amount: 12_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    metadata: { order_id: 'order-1042' },
  }),
);

export class Feeder {
  readonly #shard: Shard;
  readonly #org: string;
  readonly #writer = new RequestWriter();
  readonly #route = matchRoute('POST', '/v1/payment_intents')!;
  #count = 0;
  #answered: ((answers: number) => void) | null = null;

  readonly #peer: Peer = {
    post: (message: FromShard) => {
      if (!(message instanceof ArrayBuffer)) return;
      let answers = 0;
      readAnswers(message, (answer) => {
        if (answer.status !== 200)
          throw new Error(`a create was answered with ${answer.status}: ${answer.body}`);
        answers++;
      });
      this.#answered?.(answers);
    },
  };

  constructor(shard: Shard, org: string) {
    this.#shard = shard;
    this.#org = org;
  }

  /** Sends a batch, which is one turn; settles when it is answered, with the number of answers. */
  batch(size: number): Promise<number> {
    for (let i = 0; i < size; i++) {
      const number = String(this.#count++).padStart(21, '0');
      this.#writer.put(i + 1, {
        route: this.#route.route,
        flags: requestFlags.hasIdempotencyKey,
        language: 0,
        version: noVersion,
        org: this.#org,
        requestId: `req_${number}`,
        id: '',
        query: '',
        idempotencyKey: `load-${number}`,
        member: '',
        body,
      });
    }
    const answered = new Promise<number>((resolve) => {
      this.#answered = resolve;
    });
    this.#shard.receive(this.#writer.take(), this.#peer);
    return answered;
  }
}
