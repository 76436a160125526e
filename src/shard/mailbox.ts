// A shard's mailbox: messages in the order in which they came. A batch of requests lies in it as the bytes that it came in:
// a request is read only when its turn takes it, and when the last one was taken the buffer is free for a batch of
// answers.

import { FixedQueue } from '../core/fixed-queue.ts';
import { type RequestFrame, RequestReader, type SpareBuffers } from './frames.ts';
import type { IssuedCommand } from './issued-command.ts';
import type { InternalRequest, OutboxMessage } from './protocol.ts';
import type { Peer, ReplyTo } from './turn.ts';
import type { Waiter } from './waiter.ts';

export type Mail =
  | { readonly kind: 'request'; readonly to: ReplyTo; readonly frame: RequestFrame }
  | { readonly kind: 'internal'; readonly to: ReplyTo; readonly request: InternalRequest }
  | { readonly kind: 'outbox'; readonly peer: Peer; readonly message: OutboxMessage }
  | {
      readonly kind: 'address';
      readonly command: IssuedCommand;
      readonly waiter: Waiter | null;
      readonly allowed: boolean | null;
    };

interface Batch {
  readonly kind: 'batch';
  readonly peer: Peer;
  readonly requests: RequestReader;
}

export class Mailbox {
  readonly #queue = new FixedQueue<Exclude<Mail, { kind: 'request' }> | Batch>();
  readonly #spare: SpareBuffers;
  /** The batch whose requests are being taken. */
  #batch: Batch | null = null;
  #length = 0;

  constructor(spare: SpareBuffers) {
    this.#spare = spare;
  }

  /** How many messages wait, each request of a batch counted. */
  get length(): number {
    return this.#length;
  }

  push(mail: Exclude<Mail, { kind: 'request' }>): void {
    this.#queue.push(mail);
    this.#length++;
  }

  pushBatch(bytes: ArrayBuffer, peer: Peer): void {
    const requests = new RequestReader(bytes);
    this.#queue.push({ kind: 'batch', peer, requests });
    this.#length += requests.left;
  }

  /** Takes the oldest message; undefined when none waits. What a request views is good until the next call. */
  take(): Mail | undefined {
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
    this.#length--;
    const { peer, requests } = this.#batch;
    const frame = requests.next();
    return { kind: 'request', to: { peer, correlation: frame.correlation }, frame };
  }
}
