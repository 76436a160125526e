// A shard's mailbox: its messages in the order of their arrival. A batch of requests stays in the bytes in which it arrived. A
// request is read when a turn takes it, and after the last one the buffer is free for a batch of answers. A request that was
// withdrawn is not read any more, and queries can be taken before what is ahead of them.

import { routeTable } from '../contract/routes/table.ts';
import { FixedQueue } from '../core/fixed-queue.ts';
import { type RequestFrame, RequestReader, type SpareBuffers, takenRoute, withdrawnRoute } from './frames.ts';
import type { IssuedCommand } from './issued-command.ts';
import type { InternalRequest, OutboxMessage } from './protocol.ts';
import type { Peer, ReplyTo } from './turn.ts';
import type { Waiter } from './waiter.ts';

export type Mail =
  | { readonly kind: 'request'; readonly to: ReplyTo; readonly frame: RequestFrame }
  | { readonly kind: 'withdrawn'; readonly to: ReplyTo }
  | { readonly kind: 'internal'; readonly to: ReplyTo; readonly request: InternalRequest }
  | { readonly kind: 'outbox'; readonly peer: Peer; readonly message: OutboxMessage }
  | {
      readonly kind: 'address';
      readonly command: IssuedCommand;
      readonly waiter: Waiter | null;
      readonly allowed: boolean | null;
    };

/** Mail that comes in a message of its own. */
type OwnMail = Exclude<Mail, { kind: 'request' | 'withdrawn' }>;

const isQuery = routeTable.map(({ kind }) => kind !== 'command');

interface Batch {
  readonly kind: 'batch';
  readonly peer: Peer;
  readonly requests: RequestReader;
}

export class Mailbox {
  readonly #queue = new FixedQueue<OwnMail | Batch>();
  readonly #spare: SpareBuffers;
  /** The batch whose requests are being taken. */
  #batch: Batch | null = null;
  #length = 0;

  constructor(spare: SpareBuffers) {
    this.#spare = spare;
  }

  /** The number of messages that wait. Each request of a batch counts. */
  get length(): number {
    return this.#length;
  }

  push(mail: OwnMail): void {
    this.#queue.push(mail);
    this.#length++;
  }

  pushBatch(bytes: ArrayBuffer, peer: Peer): void {
    const requests = new RequestReader(bytes);
    this.#queue.push({ kind: 'batch', peer, requests });
    this.#length += requests.left;
  }

  /** The requests with these correlations, which a peer has sent, are not to be run, unless they were taken before. */
  withdraw(peer: Peer, correlations: ReadonlySet<number>): void {
    if (this.#batch?.peer === peer) this.#batch.requests.withdraw(correlations);
    for (const mail of this.#queue) {
      if (mail.kind === 'batch' && mail.peer === peer) mail.requests.withdraw(correlations);
    }
  }

  /** Takes the oldest message; undefined when none waits. The views in a request are valid until the next call. */
  take(): Mail | undefined {
    for (;;) {
      while (this.#batch === null || this.#batch.requests.left === 0) {
        if (this.#batch !== null) this.#spare.give(this.#batch.requests.bytes);
        this.#batch = null;
        const mail = this.#queue.shift();
        if (mail === undefined) return undefined;
        if (mail.kind !== 'batch') {
          this.#length--;
          return mail;
        }
        this.#batch = mail;
      }
      const { peer, requests } = this.#batch;
      const frame = requests.next();
      if (frame.route === takenRoute) continue;
      this.#length--;
      const to = { peer, correlation: frame.correlation };
      return frame.route === withdrawnRoute ? { kind: 'withdrawn', to } : { kind: 'request', to, frame };
    }
  }

  /**
   * Takes the queries that wait, whatever is ahead of them, and gives each to `take`, until that returns false. The views in
   * a request are valid during the call only.
   */
  takeQueries(take: (mail: Mail) => boolean): void {
    let isMore = true;
    const takeOne = (mail: Mail) => {
      this.#length--;
      isMore = take(mail);
      return isMore;
    };
    const takeFrom = ({ peer, requests }: Batch) =>
      requests.takeOut(isQuery, (frame) =>
        takeOne({ kind: 'request', to: { peer, correlation: frame.correlation }, frame }),
      );
    if (this.#batch !== null) takeFrom(this.#batch);
    for (let left = this.#queue.length; left > 0; left--) {
      const mail = this.#queue.shift()!;
      if (!isMore) this.#queue.push(mail);
      else if (mail.kind === 'internal' && mail.request.kind !== 'command') takeOne(mail);
      else if (mail.kind !== 'batch' || takeFrom(mail)) this.#queue.push(mail);
      else this.#spare.give(mail.requests.bytes);
    }
  }
}
