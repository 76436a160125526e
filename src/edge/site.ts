// Everything outside `/v1`: health, documentation, and the pages where customers pay.

import { messageOf, statusOf } from '../contract/errors.ts';
import { errorsPageHtml } from '../contract/errors-page.ts';
import { openapiDocument } from '../contract/openapi.ts';
import type { ShardClient } from '../shard/client.ts';
import type { Exchange, Header } from './exchange.ts';
import { visitPage } from './page-visits.ts';
import type { Pages } from './pages/pages.ts';
import type { RequestHead } from './request-head.ts';

export interface SiteOptions {
  readonly shards: readonly ShardClient[];
  readonly baseUrl: string;
  /** The pages where customers pay. */
  readonly pages: Pages;
}

type Handler = (exchange: Exchange, head: RequestHead) => void;

const text: Header = ['Content-Type', 'text/plain; charset=utf-8'];
const noSniff: Header = ['X-Content-Type-Options', 'nosniff'];

/** Answers whatever is not the API. */
export function createSite(options: SiteOptions): Handler {
  const { shards, baseUrl, pages } = options;
  const errorsPage = errorsPageHtml();
  const openapi = JSON.stringify(openapiDocument(baseUrl));
  const documents: Readonly<Record<string, Handler>> = {
    '/healthz': (exchange) => exchange.answer(200, [text], 'ok\n'),
    '/readyz': (exchange) => {
      const ready = shards.every(({ connected }) => connected);
      exchange.answer(ready ? 200 : 503, [text], ready ? 'ready\n' : 'a shard is recovering\n');
    },
    '/openapi.json': (exchange) =>
      exchange.answer(200, [['Content-Type', 'application/json'], noSniff], openapi),
    '/docs/errors': (exchange) =>
      exchange.answer(
        200,
        [
          ['Content-Type', 'text/html; charset=utf-8'],
          ['Content-Security-Policy', `default-src 'none'; style-src '${errorsPage.styleHash}'`],
          noSniff,
        ],
        errorsPage.html,
      ),
  };
  return (exchange, head) => {
    const page = head.method === 'get' ? documents[head.path] : undefined;
    if (head.refusal !== null) {
      exchange.answer(statusOf(head.refusal), [text], `${messageOf(head.refusal, 'en')}\n`, { close: true });
    } else if (page !== undefined) page(exchange, head);
    else if (pages.matches(head.path)) visitPage(pages, exchange, head);
    else
      exchange.answer(404, [text], 'There is nothing at this address.\n', {
        withoutBody: head.method === 'head',
      });
  };
}
