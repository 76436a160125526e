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
import { pageVisitOf } from '../checkout/page-visits.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import { takeBody } from '../http/request-body.ts';
import type { RequestHead } from '../http/request-head.ts';
import { Shares } from '../http/shares.ts';
import { keptHeaders } from '../http/static-text.ts';
import type { Visitors } from '../http/visitors.ts';
import type { DashboardAnswer, DashboardPort, DashboardRequest, Unanswered } from './dashboard-port.ts';
import type { KnownSessions } from './known-sessions.ts';
import { askAgainMs, TailStreams } from './tail-stream.ts';
import type { Way } from './visit-lanes.ts';

interface DashboardVisitsOptions {
  readonly port: DashboardPort;
  readonly visitors: Visitors;
  readonly sessions: KnownSessions;
  readonly shardOf: (org: string) => ShardClient;
  readonly askLogs: AskLogs;
  /** Whether the directory may be believed; otherwise another node may have changed it. */
  readonly isTrusted: () => boolean;
}

type ExportAnswer = Extract<DashboardAnswer, { kind: 'export' }>;

/** Asks the main thread once more for what the visit was answered with. */
type Again = () => Promise<DashboardAnswer | Unanswered>;

/** When somebody may try again who has too much under way. */
const busySeconds = 5;

/** Whether the main thread answers: the dashboard's pages, and the logos of organizations. */
export function isDashboardPath(path: string): boolean {
  return path === '/dashboard' || path.startsWith('/dashboard/') || path.startsWith('/logos/');
}

/** Answers the visits of one edge. */
export class DashboardVisits {
  readonly #options: DashboardVisitsOptions;
  readonly #tails: TailStreams;
  // At each edge: for all members together, for one organization, and for one of its members.
  readonly #exports = new Shares(16, [4, 2]);

  constructor(options: DashboardVisitsOptions) {
    this.#options = options;
    this.#tails = new TailStreams(options);
  }

  /** `refuse` answers a visit whose form is not read to its end. */
  answer(exchange: Exchange, head: RequestHead, refuse: (refusal: Refusal) => void): void {
    const stranger = strangerOf(head);
    exchange.entry = 'dashboard';
    exchange.trouble = { onTrouble: () => replyTrouble(exchange, stranger) };
    const waitSeconds = this.#options.visitors.admit(exchange.remoteAddress, head.forwardedFor);
    if (waitSeconds !== null) {
      replyTooMany(exchange, stranger, waitSeconds);
      return;
    }
    const take = (body: Buffer) => {
      exchange.handler = {
        onTimeout() {
          exchange.handler?.onGone?.();
          replyTrouble(exchange, stranger);
        },
      };
      const { contentType = '' } = head;
      const request = { ...pageVisitOf(exchange, head), contentType, body, isRepeated: false };
      exchange.guard(() => this.#answerWith(exchange, stranger, request));
    };
    takeBody(exchange, head, { bytesMax: dashboardFormBytesMax, take, refuse });
  }

  async #answerWith(exchange: Exchange, stranger: Visit, request: DashboardRequest): Promise<void> {
    const answer = await this.#ask(exchange, request).finally(() => request.body.fill(0));
    if (answer === 'trouble') return replyTrouble(exchange, stranger);
    if (answer === 'busy') return replyTooMany(exchange, stranger, busySeconds);
    if (answer.kind === 'page') return reply(exchange, answer);
    if (answer.kind === 'file') return exchange.answer(200, keptHeaders(answer.type), answer.bytes);
    exchange.holder = answer.org;
    const again = () => this.#ask(exchange, { ...request, isRepeated: true });
    const isTaken =
      answer.kind === 'tail'
        ? await this.#tails.stream(exchange, answer, again)
        : await this.#export(exchange, answer, again);
    if (!isTaken) replyTooMany(exchange, stranger, busySeconds);
  }

  /** False: the member, the organization or all have as many under way as they may. */
  async #export(exchange: Exchange, answer: ExportAnswer, again: Again): Promise<boolean> {
    const end = this.#exports.take([answer.org, answer.member]);
    if (end === null) return false;
    const { shardOf, isTrusted } = this.#options;
    try {
      const isAllowed = createExportCheck(again, isTrusted, () => performance.now());
      await streamExport(exchange, notStored, shardOf(answer.org), answer, isAllowed);
      return true;
    } finally {
      end();
    }
  }

  async #ask(exchange: Exchange, request: DashboardRequest): Promise<DashboardAnswer | Unanswered> {
    const { port, sessions } = this.#options;
    const way = this.#wayOf(request);
    // What a member is slow to take does not count among strangers.
    if (way.lane === 'members') exchange.holder = way.owners[0] ?? '';
    const { visited, withdraw } = port.ask(request, way);
    exchange.handler = { ...exchange.handler!, onGone: withdraw };
    const found = await visited;
    if (typeof found === 'string') return found;
    sessions.learn(request.headers.cookie, found.known);
    return found.answer;
  }

  /** The way of a visit: who is known counts for the organization, anybody else for the address. */
  #wayOf({ method, path, headers: { cookie, forwardedFor }, remoteAddress }: DashboardRequest): Way {
    const { sessions, visitors } = this.#options;
    const owners = sessions.ownersOf(cookie, path);
    if (owners !== null) return { lane: 'members', owners };
    const { site, network } = visitors.visitorOf(remoteAddress, forwardedFor);
    return { lane: method === 'POST' ? 'forms' : 'pages', owners: [site, network] };
  }
}

/** Of the page that says that something is away. */
const troubleStatus = 503;

/**
 * Tells whether an export may go on: while the directory may be believed, and the main thread,
 * which is asked now and then, would let it begin. It goes on while that, or a shard that it asks,
 * is away for a moment.
 */
export function createExportCheck(
  again: Again,
  isTrusted: () => boolean,
  nowMs: () => number,
): () => Promise<boolean> {
  let askedMs = nowMs();
  return async () => {
    if (!isTrusted()) return false;
    if (nowMs() - askedMs < askAgainMs) return true;
    askedMs = nowMs();
    const answer = await again();
    if (typeof answer === 'string' || answer.kind === 'export') return true;
    return answer.kind === 'page' && answer.status === troubleStatus;
  };
}

function replyTooMany(exchange: Exchange, stranger: Visit, waitSeconds: number): void {
  reply(exchange, render(tooManyPage(stranger, waitSeconds), stranger));
}

function replyTrouble(exchange: Exchange, stranger: Visit): void {
  reply(exchange, render(troublePage(stranger), stranger));
}

function reply(exchange: Exchange, { status, headers, body }: PageAnswer): void {
  exchange.answer(status, headerLines(...headers), body);
}

/** What is known of a visitor before the main thread has answered. */
function strangerOf({ acceptLanguage, path }: RequestHead): Visit {
  return { language: negotiateLanguage(acceptLanguage), languageChosen: false, path, prefix: '' };
}
