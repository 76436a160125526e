// The dashboard at the edge: a visit is counted, its form is read, and both go to the main thread, whose answer is written.

import type { Refusal } from '../contract/errors/table.ts';
import { negotiateLanguage } from '../contract/language.ts';
import { dashboardFormBytesMax } from '../contract/limits.ts';
import type { AskLogs } from '../request-logs/query.ts';
import type { ShardClient } from '../shard/client.ts';
import { notStored } from './api.ts';
import { keptHeaders } from './assets.ts';
import type { DashboardPort, DashboardRequest } from './dashboard-port.ts';
import { type Exchange, headerLines } from './exchange.ts';
import { streamExport } from './export-stream.ts';
import { MemberSlots } from './member-slots.ts';
import { render, type Visit } from './pages/document.ts';
import { tooManyPage, troublePage } from './pages/outcome-pages.ts';
import type { PageAnswer } from './pages/page-port.ts';
import type { Visitors } from './pages/visitors.ts';
import { bodyTooLarge, bodyTooSlow } from './request-body.ts';
import type { RequestHead } from './request-head.ts';
import { TailStreams } from './tail-stream.ts';

export interface DashboardVisitsOptions {
  readonly port: DashboardPort;
  readonly visitors: Visitors;
  readonly shardOf: (org: string) => ShardClient;
  readonly askLogs: AskLogs;
}

/** Of all members together, and of one, for each edge. */
const slotsMax = { tail: [64, 4], export: [8, 2] } as const;
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

/** Returns the function that answers visits. Its `refuse` answers one whose form is not read to its end. */
export function createDashboardVisits(options: DashboardVisitsOptions): VisitDashboard {
  const { port, visitors, shardOf } = options;
  const tails = new TailStreams(options);
  const slots = { tail: new MemberSlots(...slotsMax.tail), export: new MemberSlots(...slotsMax.export) };

  async function answerWith(exchange: Exchange, stranger: Visit, request: DashboardRequest): Promise<void> {
    const answer = await port.ask(request).finally(() => request.body.fill(0));
    if (answer === null) return reply(exchange, render(troublePage(stranger), stranger));
    if (answer.kind === 'page') return reply(exchange, answer);
    if (answer.kind === 'file') return exchange.answer(200, keptHeaders(answer.type), answer.bytes);
    const { kind, member } = answer;
    if (!slots[kind].hasRoomFor(member)) return reply(exchange, render(troublePage(stranger), stranger));
    return slots[kind].hold(member, () =>
      kind === 'tail'
        ? tails.stream(exchange, answer, () => port.ask({ ...request, isRepeated: true }))
        : streamExport(exchange, notStored, shardOf(answer.org), answer),
    );
  }

  return (exchange, head, refuse) => {
    const stranger = strangerOf(head);
    exchange.entry = 'dashboard';
    exchange.trouble = { onTrouble: () => reply(exchange, render(troublePage(stranger), stranger)) };
    const waitSeconds = visitors.admit(exchange.remoteAddress, head.forwardedFor);
    if (waitSeconds !== null) return reply(exchange, render(tooManyPage(stranger, waitSeconds), stranger));
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
      const onTimeout = () => reply(exchange, render(troublePage(stranger), stranger));
      exchange.handler = { onTimeout, onBody: () => {} };
      exchange.guard(async () => {
        const isRepeated = false;
        const { requestId } = exchange;
        const visit = { method, path, query, headers, remoteAddress, requestId };
        const request = { ...visit, contentType, body, isRepeated };
        await answerWith(exchange, stranger, request);
      });
    };
    if (method !== 'POST' || !head.hasBody) return ask(noBody);
    if (head.bodyBytes > dashboardFormBytesMax) return refuse(bodyTooLarge(dashboardFormBytesMax));
    exchange.handler = {
      onTimeout: () => refuse(bodyTooSlow),
      onBody: (body) => ('code' in body ? refuse(body) : ask(body)),
    };
    exchange.readBody(dashboardFormBytesMax);
  };
}

function reply(exchange: Exchange, { status, headers, body }: PageAnswer): void {
  exchange.answer(status, headerLines(...headers), body);
}

/** What is known of a visitor before the main thread has answered. */
function strangerOf({ acceptLanguage, path }: RequestHead): Visit {
  return { language: negotiateLanguage(acceptLanguage), languageChosen: false, path, prefix: '' };
}
