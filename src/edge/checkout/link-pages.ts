// The page of a payment link. Looking at it changes nothing, because programs that show previews
// look at links, too. Its button opens the link: the customer goes on to a checkout session, and
// the same browser to the same one as long as that can be paid.

import { sessionsPerLinkVisitorHourMax } from '../../contract/limits.ts';
import { checkoutPath } from '../../contract/page-paths.ts';
import type { MonotonicClock } from '../../core/clock.ts';
import { readFields } from '../../core/form-fields.ts';
import type { FormGuard } from '../../html/form-guard.ts';
import { html } from '../../html/html.ts';
import { outcomeMark } from '../../html/marks.ts';
import { VisitorBuckets, type Visitors } from '../http/visitors.ts';
import { linkTo, type Page, redirect, render, sayOf, type Visit } from './document.ts';
import * as outcomes from './outcome-pages.ts';
import { say } from './page-messages.ts';
import type { PageAnswer, PagePort, PageRequest, ShownLink } from './page-port.ts';

interface LinkPagesOptions {
  readonly port: PagePort;
  readonly guard: FormGuard;
  readonly visitors: Visitors;
  /** The most addresses whose sessions are counted at a time. */
  readonly visitorsMax: number;
  readonly monotonic: MonotonicClock;
  /** The pages are served over https. */
  readonly secure: boolean;
}

/** Answers a visit to the page of the link `id`. */
export type LinkPages = (request: PageRequest, id: string, visit: Visit) => Promise<PageAnswer>;

export function createLinkPages(options: LinkPagesOptions): LinkPages {
  const { port, guard, visitors, visitorsMax, monotonic, secure } = options;
  const buckets = new VisitorBuckets({
    count: sessionsPerLinkVisitorHourMax,
    windowMs: 3_600_000,
    keysMax: visitorsMax,
  });

  async function show(request: PageRequest, link: ShownLink, visit: Visit): Promise<PageAnswer> {
    if (link.state !== 'active') return render(closedPage(link, visit), visit);
    const { field, setCookie } = guard.protect(link.id, request.headers.cookie);
    const page: Page = {
      title: say('link_title', visit.language),
      payment: link,
      body: [
        html`<form method="post" action="${linkTo(visit, visit.path)}">${field}<button>${sayOf(visit, link, 'link_pay')}</button></form>`,
      ],
    };
    return render(page, visit, setCookie);
  }

  async function open(request: PageRequest, link: ShownLink, visit: Visit): Promise<PageAnswer> {
    const { cookie, secFetchSite, forwardedFor } = request.headers;
    const form = readFields(request.body.toString('utf8'));
    if (!guard.accepts(link.id, cookie, secFetchSite, form)) return render(outcomes.stalePage(visit), visit);
    if (link.state !== 'active') return redirect(linkTo(visit, visit.path));
    const held = sessionIn(cookie, link.id);
    if (held !== null && (await canBePaid(held))) return redirect(linkTo(visit, checkoutPath(held)));
    const { network, site } = visitors.visitorOf(request.remoteAddress, forwardedFor);
    const visitor = { network: `${network} ${link.id}`, site: `${site} ${link.id}` };
    const wait = buckets.spend(visitor, monotonic());
    if (wait !== null) return render(outcomes.tooManyPage(visit, wait), visit);
    const opened = await port.command('open_payment_link', link.id, {}, visit.language);
    if (!opened.ok) return render(unopenedPage(link, visit, opened.code), visit);
    const { session } = opened.body as { readonly session: string };
    const answer = redirect(linkTo(visit, checkoutPath(session)));
    const path = visit.prefix + visit.path;
    const attributes = `Path=${path}; Max-Age=86400; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    const setCookie = `${cookieName(link.id)}=${session}; ${attributes}`;
    return { ...answer, headers: [...answer.headers, ['set-cookie', setCookie]] };
  }

  async function canBePaid(session: string): Promise<boolean> {
    const payment = await port.view(session);
    if (payment?.session?.status !== 'open' || payment.session.over) return false;
    return payment.intent.status !== 'requires_payment_method' || payment.intent.methods_left.length > 0;
  }

  return async (request, id, visit) => {
    const link = await port.viewLink(id);
    if (link === null) return render(outcomes.missingPage(visit), visit);
    return request.method === 'POST' ? open(request, link, visit) : show(request, link, visit);
  };
}

const cookieName = (link: string) => `payments-link-${link}`;

/** The session to which this browser was led before. */
function sessionIn(cookieHeader: string, link: string): string | null {
  return (
    new RegExp(`(?:^|;\\s*)${cookieName(link)}=(cs_\\w{1,64})\\s*(?:;|$)`).exec(cookieHeader)?.[1] ?? null
  );
}

/** Nobody can pay with the link, or not now. */
function closedPage(link: ShownLink, visit: Visit): Page {
  const state = link.state === 'active' ? 'paused' : link.state;
  return {
    status: 410,
    title: say(`link_${state}_title`, visit.language),
    payment: link,
    mark: outcomeMark(state === 'used' ? 'good' : 'late'),
    body: [html`<p>${sayOf(visit, link, `link_${state}_text`)}</p>`],
  };
}

/** The link was opened too often, or its payment is not possible now. */
function unopenedPage(link: ShownLink, visit: Visit, code: string): Page {
  const isBusy = code === 'rate_limit_exceeded';
  return {
    status: isBusy ? 429 : 503,
    title: say('link_busy_title', visit.language),
    payment: link,
    mark: outcomeMark('late'),
    body: [html`<p>${sayOf(visit, link, isBusy ? 'link_busy_text' : 'link_unavailable_text')}</p>`],
  };
}
