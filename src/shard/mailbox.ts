// A shard's mailbox: its messages in the order of their arrival. Requests stay in the buffer in
// which they arrived until a commit batch takes them; then it is free for answers. Withdrawn
// requests are not read, and queries can be taken ahead of commands.

import { routeTable } from '../contract/routes/table.ts';
import { assert, defined } from '../core/assert.ts';
import { FixedQueue } from '../core/fixed-queue.ts';
import type { AddressChecked, Peer, ReplyTo } from './commit-batch.ts';
import { type RequestFrame, RequestReader, type SpareBuffers, takenRoute, withdrawnRoute } from './frames.ts';
import type { InternalRequest, OutboxMessage } from './protocol.ts';

export type Mail =
  | { readonly kind: 'request'; readonly to: ReplyTo; readonly frame: RequestFrame }
  | { readonly kind: 'withdrawn'; readonly to: ReplyTo }
  | { readonly kind: 'internal'; readonly to: ReplyTo; readonly request: InternalRequest }
  | { readonly kind: 'disconnected'; readonly peer: Peer }
  | { readonly kind: 'outbox'; readonly peer: Peer; readonly message: OutboxMessage }
  | { readonly kind: 'address'; readonly checked: AddressChecked; readonly allowed: boolean | null };

/** Mail that comes in a message of its own. */
export type OwnMail = Exclude<Mail, { kind: 'request' | 'withdrawn' }>;

const isQuery = routeTable.map(({ kind }) => kind !== 'command');

interface Frames {
  readonly kind: 'frames';
  readonly peer: Peer;
  readonly requests: RequestReader;
}

export class Mailbox {
  readonly #queue = new FixedQueue<OwnMail | Frames>();
  readonly #spare: SpareBuffers;
  /** Those whose requests are being taken. */
  #current: Frames | null = null;
  #length = 0;

  constructor(spare: SpareBuffers) {
    this.#spare = spare;
  }

  /** The number of messages that wait. Each request counts. */
  get length(): number {
    return this.#length;
  }

  push(mail: OwnMail): void {
    this.#queue.push(mail);
    this.#length++;
  }

  pushFrames(bytes: ArrayBuffer, peer: Peer): void {
    const requests = new RequestReader(bytes);
    this.#queue.push({ kind: 'frames', peer, requests });
    this.#length += requests.left;
  }

  /** These requests of a peer are not to be run, unless they were taken before. */
  withdraw(peer: Peer, correlations: ReadonlySet<number>): void {
    if (this.#current?.peer === peer) this.#current.requests.withdraw(correlations);
    for (const mail of this.#queue) {
      if (mail.kind === 'frames' && mail.peer === peer) mail.requests.withdraw(correlations);
    }
  }

  /** Takes the oldest message. The views in a request are valid until the next call. */
  take(): Mail | undefined {
    for (;;) {
      while (this.#current === null || this.#current.requests.left === 0) {
        if (this.#current !== null) this.#spare.give(this.#current.requests.bytes);
        this.#current = null;
        const mail = this.#queue.shift();
        if (mail === undefined) {
          assert(this.#length === 0, 'every message in the mailbox was counted');
          return undefined;
        }
        if (mail.kind !== 'frames') {
          this.#length--;
          return mail;
        }
        this.#current = mail;
      }
      const { peer, requests } = this.#current;
      const frame = requests.next();
      if (frame.route === takenRoute) continue;
      this.#length--;
      const to = { peer, correlation: frame.correlation };
      return frame.route === withdrawnRoute ? { kind: 'withdrawn', to } : { kind: 'request', to, frame };
    }
  }

  /** Takes the queries, until `take` returns false. Views are valid during its call only. */
  takeQueries(take: (mail: Mail) => boolean): void {
    let isMore = true;
    const takeOne = (mail: Mail) => {
      this.#length--;
      isMore = take(mail);
      return isMore;
    };
    const takeFrom = ({ peer, requests }: Frames) =>
      requests.takeOut(isQuery, (frame) =>
        takeOne({ kind: 'request', to: { peer, correlation: frame.correlation }, frame }),
      );
    if (this.#current !== null) takeFrom(this.#current);
    for (let left = this.#queue.length; left > 0; left--) {
      const mail = defined(this.#queue.shift(), 'a queue has what it counts');
      if (!isMore) this.#queue.push(mail);
      else if (mail.kind === 'internal' && mail.request.kind !== 'command') takeOne(mail);
      else if (mail.kind !== 'frames' || takeFrom(mail)) this.#queue.push(mail);
      else this.#spare.give(mail.requests.bytes);
    }
  }
}
