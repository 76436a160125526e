// Connects the payment pages to the server and to the shards. A page needs no key, because the id
// in its address can't be guessed. The id also tells the shard.

import type { Refusal } from '../../contract/errors/table.ts';
import { formBytesMax } from '../../contract/limits.ts';
import { elementAt } from '../../core/assert.ts';
import { slotOfId } from '../../core/ids.ts';
import { causes } from '../../domain/cause.ts';
import type { PageStart } from '../../networks/network.ts';
import type { ShardClient } from '../../shard/client.ts';
import { shardOfSlot } from '../../shard/shard-map.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import { takeBody } from '../http/request-body.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { PageAnswer, PagePort, PageVisit, ShownLink, ShownPayment } from './page-port.ts';
import type { CheckoutPages } from './pages.ts';

/** The reads and commands of the pages, which go to the shard of each id. */
export function createPagePort(shards: readonly Pick<ShardClient, 'ask' | 'handOver'>[]): PagePort {
  const shardOf = (id: string): Pick<ShardClient, 'ask' | 'handOver'> | null => {
    const slot = slotOfId(id);
    return slot < 0 ? null : elementAt(shards, shardOfSlot(slot, shards.length));
  };
  async function shown<T>(kind: 'view_payment' | 'view_link', id: string): Promise<T | null> {
    const answer = await shardOf(id)?.ask({ kind, id });
    if (answer === undefined) return null;
    if (answer.ok) return JSON.parse(answer.body) as T;
    if (answer.code === 'resource_missing') return null;
    throw new Error(answer.message);
  }
  return {
    view: (id) => shown<ShownPayment>('view_payment', id),
    viewLink: (id) => shown<ShownLink>('view_link', id),
    async startPage(id, start) {
      const answer = await shardOf(id)?.handOver({ kind: 'start_page', id, ...start });
      if (answer?.ok) return JSON.parse(answer.body) as PageStart;
      throw new Error(answer?.message ?? 'a page needs a charge');
    },
    async command(operation, id, params, language) {
      const command = { kind: 'command', operation, id, params, language, cause: causes.customer } as const;
      const answer = await shardOf(id)?.ask(command);
      if (answer === undefined) throw new Error('a command needs an id');
      if (answer.ok) return { ok: true, body: JSON.parse(answer.body) };
      return { ok: false, code: answer.code, message: answer.message };
    },
  };
}

/** A visit as plain data. */
export function pageVisitOf({ remoteAddress, requestId }: Exchange, head: RequestHead): PageVisit {
  const { method, path, query, acceptLanguage, cookie, forwardedFor, secFetchSite } = head;
  const headers = { acceptLanguage, cookie, forwardedFor, secFetchSite };
  return { method, path, query, headers, remoteAddress, requestId };
}

/** Answers a visit. `refuse` answers one whose form is not read to its end. */
export function visitPage(
  pages: CheckoutPages,
  exchange: Exchange,
  head: RequestHead,
  refuse: (refusal: Refusal) => void,
): void {
  const visit = pageVisitOf(exchange, head);
  exchange.entry = 'page';
  const reply = ({ status, headers, body }: PageAnswer) =>
    exchange.answer(status, headerLines(...headers), body);
  exchange.trouble = { onTrouble: () => reply(pages.trouble(visit)) };
  const handle = (body: Buffer) => {
    exchange.handler = { onTimeout: () => reply(pages.goOn(visit)) };
    exchange.guard(async () => reply(await pages.handle({ ...visit, body })));
  };
  const turnedAway = pages.turnAway(visit);
  if (turnedAway !== null) reply(turnedAway);
  else takeBody(exchange, head, { bytesMax: formBytesMax, take: handle, refuse });
}
