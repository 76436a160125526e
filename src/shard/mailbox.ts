// A shard's mailbox: its messages in the order of their arrival. A batch of requests stays in the bytes in which it arrived. A
// request is read when a turn takes it, and after the last one the buffer is free for a batch of answers.

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

  /** The number of messages that wait. Each request of a batch counts. */
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

  /** Takes the oldest message; undefined when none waits. The views in a request are valid until the next call. */
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
