// Everything outside `/v1`: health, documentation, what payment networks post, the dashboard, and
// the pages where customers pay.

import { errorBody, type Refusal, refuse, statusOf, unavailable } from '../contract/errors/table.ts';
import { negotiateLanguage } from '../contract/language.ts';
import { openapiDocument } from '../contract/openapi/document.ts';
import type { Json } from '../contract/openapi/schemas.ts';
import { lazily } from '../core/lazily.ts';
import type { Asset } from '../html/assets.ts';
import type { ShardClient } from '../shard/client.ts';
import { notStored } from './api/api.ts';
import { visitPage } from './checkout/page-visits.ts';
import type { CheckoutPages } from './checkout/pages.ts';
import { isPagePath } from './checkout/routes.ts';
import { type DashboardVisits, isDashboardPath } from './dashboard/dashboard-visits.ts';
import { isDocsPath } from './docs/layout.ts';
import { type Exchange, headerLines } from './http/exchange.ts';
import type { RequestHead } from './http/request-head.ts';
import { unknownAddress } from './http/router.ts';
import { assetHandlers, StaticText } from './http/static-text.ts';
import type { Callers, Visitors } from './http/visitors.ts';
import { answerCallback, callbackAddressOf } from './network-callbacks.ts';

interface SiteOptions {
  readonly shards: readonly Pick<ShardClient, 'connected' | 'stalledMs' | 'handOver'>[];
  readonly baseUrl: string;
  /** Whether the directory may be believed; otherwise another node may have changed it. */
  readonly isTrusted: () => boolean;
  /** Whether the service is stopping. */
  readonly isStopping: () => boolean;
  /** Whether the folder is paused: reads are served, writes refused until it is resumed. */
  readonly isPaused: () => boolean;
  /** The service is not ready while the disk of a shard keeps a commit waiting for longer. */
  readonly stalledMsMax: number;
  /** The pages where customers pay. */
  readonly pages: CheckoutPages;
  readonly dashboard: Pick<DashboardVisits, 'answer'>;
  /** Limits how often a visitor may search the documentation. */
  readonly visitors: Visitors;
  /** Limits what is posted for payment networks and is not genuine. */
  readonly callers: Callers;
  /** The scripts and style sheets of all pages. */
  readonly assets: readonly Asset[];
}

type Handler = (exchange: Exchange, head: RequestHead) => void;

const json = headerLines(['Content-Type', 'application/json']);
const text = headerLines(['Content-Type', 'text/plain; charset=utf-8']);
const failed = refuse('api_error');
const noSniff = headerLines(['X-Content-Type-Options', 'nosniff']);

/** A restored service is ready for what its operator has to do first, which is to look at it. */
const pausedText =
  'ready, and paused: it was restored; writes, webhooks and network calls wait for "payments resume"\n';

/** Why the service should get no requests; null when it is ready. */
function whyNotReady({ shards, isTrusted, isStopping, stalledMsMax }: SiteOptions): string | null {
  if (isStopping()) return 'stopping';
  if (!isTrusted()) return 'no lease is confirmed: PostgreSQL does not answer, or another node has it';
  const away = shards.flatMap(({ connected }, number) => (connected ? [] : [number]));
  if (away.length > 0) return `shard ${away.join(', ')}`;
  const stalled = shards.flatMap(({ stalledMs }, number) =>
    stalledMs > stalledMsMax
      ? [`a commit of shard ${number} has waited for ${Math.floor(stalledMs / 1000)} s`]
      : [],
  );
  return stalled.length > 0 ? stalled.join(', ') : null;
}

/** Answers visits to the documentation, which is loaded with all that it needs for the first. */
function createDocs(options: Parameters<typeof loadDocs>[0]): (part: 'pages' | 'collection') => Handler {
  let loaded: ReturnType<typeof loadDocs> | null = null;
  const load = async () => {
    loaded ??= loadDocs(options);
    try {
      return await loaded;
    } catch (error) {
      // Such as no descriptor that is free: the next visit tries again.
      loaded = null;
      throw error;
    }
  };
  return (part) => (exchange, head) => exchange.guard(async () => (await load())[part](exchange, head));
}

async function loadDocs(options: {
  readonly baseUrl: string;
  readonly description: () => Json;
  readonly visitors: Visitors;
}) {
  const { createDocsVisits, createPostmanVisits } = await import('./docs/docs-visits.ts');
  const { baseUrl, description, visitors } = options;
  return {
    pages: createDocsVisits({ baseUrl, description: description(), visitors }),
    collection: createPostmanVisits(baseUrl),
  };
}

/** Answers the requests that are not for the API. */
export function createSite(options: SiteOptions): Handler {
  const { baseUrl, isTrusted, isPaused, pages, dashboard, visitors } = options;
  const description = lazily(() => openapiDocument(baseUrl));
  const openapi = lazily(() => new StaticText(JSON.stringify(description())));
  const docs = createDocs({ baseUrl, description, visitors });
  const documents: Readonly<Record<string, Handler>> = {
    '/healthz': (exchange) => exchange.answer(200, text, 'ok\n'),
    '/readyz': (exchange) => {
      const reason = whyNotReady(options);
      if (reason === null) exchange.answer(200, text, isPaused() ? pausedText : 'ready\n');
      else exchange.answer(503, text, `not ready: ${reason}\n`);
    },
    '/openapi.json': (exchange, head) => openapi().answer(exchange, head, 200, json + noSniff),
    '/postman.json': docs('collection'),
    ...assetHandlers(options.assets),
  };
  const visitPages = docs('pages');
  const refuseVisit = (exchange: Exchange, head: RequestHead, refusal: Refusal) => {
    const language = negotiateLanguage(head.acceptLanguage);
    const body = errorBody(refusal, { language, requestId: exchange.requestId, baseUrl });
    exchange.answer(statusOf(refusal), json + notStored, body);
  };
  return (exchange, head) => {
    const { method, path, refusal } = head;
    const refuseThis = (fault: Refusal) => refuseVisit(exchange, head, fault);
    exchange.entry = 'site';
    exchange.trouble = { onTrouble: () => refuseThis(failed) };
    const network = method === 'POST' ? callbackAddressOf(path) : null;
    const isRead = method === 'GET' || method === 'HEAD';
    const page = isRead ? documents[path] : undefined;
    if (refusal !== null) refuseThis(refusal);
    else if (page !== undefined) page(exchange, head);
    else if (!isTrusted()) refuseThis(unavailable);
    else if (isDashboardPath(path)) dashboard.answer(exchange, head, refuseThis);
    else if (network !== null) answerCallback(options, network, exchange, head, refuseThis);
    else if (isPagePath(path)) visitPage(pages, exchange, head, refuseThis);
    else if (isRead && isDocsPath(path)) visitPages(exchange, head);
    else refuseThis(unknownAddress(head));
  };
}
