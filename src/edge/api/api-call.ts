// A request to the API at its stages: its head was read (received), it has passed the gates at the
// edge (admitted), and it was given to its shard's client (sent). Each stage has what is known by
// then, and says what happens when it takes too long.

import { type Refusal, refuse } from '../../contract/errors/table.ts';
import type { Exchange, ExchangeHandler, TroubleTeller } from '../http/exchange.ts';
import { bodyTooSlow } from '../http/request-body.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { Match } from '../http/router.ts';
import type { KnownKey, RingKey } from './authenticate.ts';

export const noBody = Buffer.alloc(0);
const failed = refuse('api_error');

/** Answers calls. */
interface CallOwner {
  refuse(call: ReceivedCall, refusal: Refusal): void;
  timeOut(call: SentCall): void;
  withdraw(call: SentCall): void;
}

/** A request whose head was read, with what is known of it until it is admitted. */
export class ReceivedCall implements ExchangeHandler, TroubleTeller {
  readonly owner: CallOwner;
  readonly exchange: Exchange;
  readonly head: RequestHead;
  readonly language: number;
  readonly body: Buffer = noBody;
  key: RingKey | null = null;
  /** The key, if it exists and was refused. */
  refusedKey: KnownKey | null = null;
  match: Match | null = null;

  constructor(owner: CallOwner, exchange: Exchange, head: RequestHead, language: number) {
    this.owner = owner;
    this.exchange = exchange;
    this.head = head;
    this.language = language;
  }

  onTimeout(): void {
    this.exchange.isLast = true;
    this.owner.refuse(this, bodyTooSlow);
  }

  onTrouble(): void {
    this.owner.refuse(this, failed);
  }
}

/** A request that has passed the gates. Its body may still be on its way. */
export class AdmittedCall extends ReceivedCall {
  override readonly key: RingKey;
  override readonly match: Match;

  constructor({ owner, exchange, head, language }: ReceivedCall, key: RingKey, match: Match) {
    super(owner, exchange, head, language);
    this.key = key;
    this.match = match;
  }
}

/** A request that was given to its shard's client with all of its body. */
export class SentCall extends AdmittedCall {
  override readonly body: Buffer;
  /** The number with which it can be withdrawn from the shard. */
  sentAs = 0;

  constructor(admitted: AdmittedCall, body: Buffer) {
    super(admitted, admitted.key, admitted.match);
    this.body = body;
  }

  override onTimeout(): void {
    this.owner.timeOut(this);
  }

  onGone(): void {
    this.owner.withdraw(this);
  }
}

/** From now on the exchange is handled as what the request has become. */
export function reach(call: ReceivedCall): void {
  call.exchange.handler = call;
  call.exchange.trouble = call;
}
