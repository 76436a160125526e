// The dashboard at the edge: a visit is counted, its form is read, and both go to the main thread,
// whose answer is written.

import type { Refusal } from '../../contract/errors/table.ts';
import { negotiateLanguage } from '../../contract/language.ts';
import { dashboardFormBytesMax } from '../../contract/limits.ts';
import type { AskLogs } from '../../request-logs/query.ts';
import type { ShardClient } from '../../shard/client.ts';
import { notStored } from '../api/api.ts';
import { streamExport } from '../api/export-stream.ts';
import { render, type Visit } from '../checkout/document.ts';
import { tooManyPage, troublePage } from '../checkout/outcome-pages.ts';
import type { PageAnswer } from '../checkout/page-port.ts';
import { keptHeaders } from '../http/asset-handlers.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import { takeBody } from '../http/request-body.ts';
import type { RequestHead } from '../http/request-head.ts';
import { Shares } from '../http/shares.ts';
import type { Visitors } from '../http/visitors.ts';
import type { DashboardAnswer, DashboardPort, DashboardRequest, Unanswered } from './dashboard-port.ts';
import type { KnownSessions } from './known-sessions.ts';
import { TailStreams } from './tail-stream.ts';
import type { Way } from './visit-lanes.ts';

export interface DashboardVisitsOptions {
  readonly port: DashboardPort;
  readonly visitors: Visitors;
  readonly sessions: KnownSessions;
  readonly shardOf: (org: string) => ShardClient;
  readonly askLogs: AskLogs;
}

/** When somebody may try again who has too much under way. */
const busySeconds = 5;
const noBody = Buffer.alloc(0);

export type VisitDashboard = (
  exchange: Exchange,
  head: RequestHead,
  refuse: (refusal: Refusal) => void,
) => void;

/** Whether the main thread answers: the dashboard's pages, and the logos of organizations. */
export function isDashboardPath(path: string): boolean {
  return path === '/dashboard' || path.startsWith('/dashboard/') || path.startsWith('/logos/');
}

/**
 * Returns the function that answers visits. Its `refuse` answers one whose form is not read to its
 * end.
 */
export function createDashboardVisits(options: DashboardVisitsOptions): VisitDashboard {
  const { port, visitors, sessions, shardOf } = options;
  const tails = new TailStreams(options);
  // Of all members together, of one organization, and of one of its members, for each edge.
  const slots = { tail: new Shares(256, [16, 4]), export: new Shares(16, [4, 2]) };

  const tooMany = (exchange: Exchange, stranger: Visit, waitSeconds = busySeconds) =>
    reply(exchange, render(tooManyPage(stranger, waitSeconds), stranger));

  /** The way of a visit: who is known counts for the organization, anybody else for the address. */
  function wayOf({ method, path, headers: { cookie, forwardedFor }, remoteAddress }: DashboardRequest): Way {
    const owners = sessions.ownersOf(cookie, path);
    if (owners !== null) return { lane: 'members', owners };
    const { site, network } = visitors.visitorOf(remoteAddress, forwardedFor);
    return { lane: method === 'POST' ? 'forms' : 'pages', owners: [site, network] };
  }

  async function ask(exchange: Exchange, request: DashboardRequest): Promise<DashboardAnswer | Unanswered> {
    const { visited, withdraw } = port.ask(request, wayOf(request));
    exchange.handler = { ...exchange.handler!, onGone: withdraw };
    const found = await visited;
    if (typeof found === 'string') return found;
    sessions.learn(request.headers.cookie, found.known);
    return found.answer;
  }

  async function answerWith(exchange: Exchange, stranger: Visit, request: DashboardRequest): Promise<void> {
    const answer = await ask(exchange, request).finally(() => request.body.fill(0));
    if (answer === 'trouble') return reply(exchange, render(troublePage(stranger), stranger));
    if (answer === 'busy') return tooMany(exchange, stranger);
    if (answer.kind === 'page') return reply(exchange, answer);
    if (answer.kind === 'file') return exchange.answer(200, keptHeaders(answer.type), answer.bytes);
    const end = slots[answer.kind].take([answer.org, answer.member]);
    if (end === null) return tooMany(exchange, stranger);
    try {
      if (answer.kind === 'export') await streamExport(exchange, notStored, shardOf(answer.org), answer);
      else await tails.stream(exchange, answer, () => ask(exchange, { ...request, isRepeated: true }));
    } finally {
      end();
    }
  }

  return (exchange, head, refuse) => {
    const stranger = strangerOf(head);
    exchange.entry = 'dashboard';
    exchange.trouble = { onTrouble: () => reply(exchange, render(troublePage(stranger), stranger)) };
    const waitSeconds = visitors.admit(exchange.remoteAddress, head.forwardedFor);
    if (waitSeconds !== null) return tooMany(exchange, stranger, waitSeconds);
    const {
      method,
      path,
      query,
      acceptLanguage,
      cookie,
      forwardedFor,
      secFetchSite,
      contentType = '',
    } = head;
    const { remoteAddress } = exchange;
    const ask = (body: Buffer) => {
      const headers = { acceptLanguage, cookie, forwardedFor, secFetchSite };
      const onTimeout = () => {
        exchange.handler?.onGone?.();
        reply(exchange, render(troublePage(stranger), stranger));
      };
      exchange.handler = { onTimeout };
      exchange.guard(async () => {
        const isRepeated = false;
        const { requestId } = exchange;
        const visit = { method, path, query, headers, remoteAddress, requestId };
        const request = { ...visit, contentType, body, isRepeated };
        await answerWith(exchange, stranger, request);
      });
    };
    if (method !== 'POST') return ask(noBody);
    takeBody(exchange, head, { bytesMax: dashboardFormBytesMax, take: ask, refuse });
  };
}

function reply(exchange: Exchange, { status, headers, body }: PageAnswer): void {
  exchange.answer(status, headerLines(...headers), body);
}

/** What is known of a visitor before the main thread has answered. */
function strangerOf({ acceptLanguage, path }: RequestHead): Visit {
  return { language: negotiateLanguage(acceptLanguage), languageChosen: false, path, prefix: '' };
}
