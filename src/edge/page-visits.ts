// The payment pages, connected to the server and to the shards: a page needs no key, because the id in its address
// can't be guessed and names the shard.

import { slotOfId } from '../core/ids.ts';
import type { ShardClient } from '../shard/client.ts';
import { shardOfSlot } from '../shard/shard-map.ts';
import type { Exchange } from './exchange.ts';
import type { PageAnswer, PagePort, PageRequest, ShownPayment } from './pages/page-port.ts';
import type { Pages } from './pages/pages.ts';
import type { RequestHead } from './request-head.ts';

/** Reads and commands of the pages, at the shard that each id names. */
export function createPagePort(shards: readonly ShardClient[]): PagePort {
  const shardOf = (id: string): ShardClient | null => {
    const slot = slotOfId(id);
    return slot < 0 ? null : shards[shardOfSlot(slot, shards.length)]!;
  };
  return {
    async view(id) {
      const answer = await shardOf(id)?.ask({ kind: 'view_payment', id });
      if (answer === undefined) return null;
      if (answer.ok) return JSON.parse(answer.body) as ShownPayment;
      if (answer.status === 404) return null;
      throw new Error(answer.message);
    },
    async command(operation, id, params, language) {
      const answer = await shardOf(id)?.ask({ kind: 'command', operation, id, params, language });
      if (answer === undefined) throw new Error('a command needs an id');
      if (answer.ok) return { ok: true, body: JSON.parse(answer.body) };
      return { ok: false, code: answer.code, message: answer.message };
    },
  };
}

const noBody = Buffer.alloc(0);

/** Answers a visit to a page. */
export function visitPage(pages: Pages, exchange: Exchange, head: RequestHead): void {
  if (head.hasBody) {
    exchange.readBody((body) => {
      if (body === null) exchange.refuse(413, [], '');
      else exchange.guard(() => answerVisit(pages, exchange, head, body));
    });
  } else {
    exchange.guard(() => answerVisit(pages, exchange, head, noBody));
  }
}

async function answerVisit(pages: Pages, exchange: Exchange, head: RequestHead, body: Buffer): Promise<void> {
  const request: PageRequest = {
    method: head.method,
    path: head.path,
    query: head.query,
    headers: {
      acceptLanguage: head.acceptLanguage,
      cookie: head.cookie,
      forwardedFor: head.forwardedFor,
      secFetchSite: head.secFetchSite,
    },
    remoteAddress: exchange.remoteAddress,
    body,
  };
  const reply = ({ status, headers, body }: PageAnswer) => exchange.answer(status, headers, body);
  exchange.onTimeout = () => reply(pages.goOn(request));
  reply(await pages.handle(request));
}
