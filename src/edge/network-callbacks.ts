// What payment networks post to the service: `POST /networks/<connector>/<organization>/<mode>`.
// The edge bounds the body and hands it to the organization's shard, which verifies it; an answer
// is given when what the network reported is durable. Anybody can post here, and verifying takes
// time, so from one address only so much may come that tells nothing new: what is not genuine,
// repeats, and what is about a method or a code that is not there yet.

import { type Refusal, unavailable } from '../contract/errors/table.ts';
import { networkCallbackBytesMax } from '../contract/limits.ts';
import { type Mode, modes } from '../contract/vocabulary.ts';
import { elementAt } from '../core/assert.ts';
import { connectors } from '../networks/connectors.ts';
import type { TakenCallback } from '../networks/network.ts';
import type { ShardClient } from '../shard/client.ts';
import type { CallbackRequest } from '../shard/protocol.ts';
import { shardOfOrganization } from '../shard/shard-map.ts';
import { type Exchange, headerLines } from './http/exchange.ts';
import { takeBody } from './http/request-body.ts';
import type { RequestHead } from './http/request-head.ts';
import type { Callers } from './http/visitors.ts';

type Address = Pick<CallbackRequest, 'org' | 'mode' | 'connector'>;

/** Whom a network posts for; null when nothing has this address. */
export function callbackAddressOf(path: string): Address | null {
  const [, connector, org, mode] = /^\/networks\/(\w+)\/(org_\w{1,64})\/(\w+)$/.exec(path) ?? [];
  if (connector === undefined || !Object.hasOwn(connectors, connector)) return null;
  if (!modes.includes(mode as Mode)) return null;
  return { org: org!, mode: mode as Mode, connector };
}

interface CallbackOptions {
  readonly shards: readonly Pick<ShardClient, 'handOver'>[];
  /** Limits what tells nothing new. */
  readonly callers: Callers;
}

const heldBack = 'too much that is not genuine, or not new, came from this address; nothing is stored';
const plainText = headerLines(['Content-Type', 'text/plain; charset=utf-8']);

/**
 * Has the shard take a callback, and answers it. `refuse`: nothing was stored, so the network must
 * send it again.
 */
export function answerCallback(
  { shards, callers }: CallbackOptions,
  address: Address,
  exchange: Exchange,
  head: RequestHead,
  refuse: (refusal: Refusal) => void,
): void {
  exchange.entry = 'network_callback';
  const { remoteAddress } = exchange;
  const { forwardedFor } = head;
  const waitSeconds = callers.admit(remoteAddress, forwardedFor, address.org);
  if (waitSeconds !== null) {
    const headers = plainText + headerLines(['Retry-After', String(waitSeconds)]);
    exchange.answer(429, headers, `${heldBack}: send it again in ${waitSeconds} s\n`);
    return;
  }
  const shard = elementAt(shards, shardOfOrganization(address.org, shards.length));
  const give = (body: Buffer) => {
    exchange.handler = { onTimeout: () => refuse(unavailable) };
    exchange.guard(async () => {
      const { signature } = head;
      const text = body.toString('utf8');
      const answer = await shard.handOver({ kind: 'network_callback', ...address, signature, body: text });
      if (!answer.ok) return refuse(unavailable);
      const { reply, isNew } = JSON.parse(answer.body) as TakenCallback;
      if (isNew) callers.giveBack(remoteAddress, forwardedFor, address.org);
      exchange.answer(reply.status, headerLines(['Content-Type', reply.contentType]), reply.body);
    });
  };
  takeBody(exchange, head, { bytesMax: networkCallbackBytesMax, take: give, refuse });
}
