// The customers' pages: the hosted checkout page, the card page with its challenge, the way to the
// card network's own page, and the voucher of a cash code. The edge gives every visit to `handle`
// and writes the answer. The state machine behind the port decides everything. An accepted form is
// answered with a redirect, so that reloading the page shows the current state.

import { negotiateLanguage } from '../../contract/language.ts';
import { languages, type Mode } from '../../contract/vocabulary.ts';
import { assert, defined } from '../../core/assert.ts';
import type { MonotonicClock } from '../../core/clock.ts';
import { readFields } from '../../core/form-fields.ts';
import { withoutSlashAtEnd } from '../../core/slash-at-end.ts';
import { createFormGuard, type FormGuard } from '../../html/form-guard.ts';
import type { Html } from '../../html/html.ts';
import type { Tokenize } from '../../networks/network.ts';
import { createVisitors, type Visitors } from '../http/visitors.ts';
import { checkoutPage } from './checkout-page.ts';
import { linkTo, type Page, redirect, render, type Visit } from './document.ts';
import { backFromNetworkPage, createHostedPage, type HostedPage } from './hosted-page.ts';
import { createLinkPages, type LinkPages } from './link-pages.ts';
import * as outcomes from './outcome-pages.ts';
import type { PageAnswer, PagePort, PageRequest, PageVisit, ShownPayment } from './page-port.ts';
import { afterPayment } from './return-links.ts';
import { formStages, linkIn, methodsOf, type PageRoute, routeOf } from './routes.ts';
import { type Stage, stageOf } from './stage.ts';
import { Submissions } from './submissions.ts';
import { challengePage, voucherPage } from './voucher-page.ts';

export interface CheckoutPagesOptions {
  readonly port: PagePort;
  /** The card network's tokenizer in each mode; null where there is no card network. */
  readonly tokenize: Readonly<Record<Mode, Tokenize | null>>;
  /** The address of the service for customers, without a final slash. */
  readonly baseUrl: string;
  readonly monotonic: MonotonicClock;
  readonly randomBytes: (size: number) => Buffer;
  readonly visitsPerMinute: number;
  readonly trustedProxies: readonly string[];
  /** Called with the errors of the port, and the id of the visit's request. */
  readonly onError: (error: unknown, requestId: string) => void;
}

/** The most addresses whose visits are counted at a time. */
const visitorsMax = 50_000;

export class CheckoutPages {
  readonly #options: CheckoutPagesOptions;
  /** The path of the service's address, before those of the pages. */
  readonly #prefix: string;
  readonly #guard: FormGuard;
  readonly #visitors: Visitors;
  readonly #submissions: Submissions;
  readonly #hosted: HostedPage;
  readonly #links: LinkPages;

  constructor(options: CheckoutPagesOptions) {
    const { protocol, pathname } = new URL(options.baseUrl);
    this.#options = options;
    this.#prefix = withoutSlashAtEnd(pathname);
    this.#guard = createFormGuard(protocol === 'https:', options.randomBytes);
    this.#visitors = createVisitors({ ...options, visitorsMax });
    this.#submissions = new Submissions(options.port, options.tokenize);
    this.#hosted = createHostedPage(options.port, options.baseUrl);
    const shared = { guard: this.#guard, visitors: this.#visitors, visitorsMax };
    this.#links = createLinkPages({ ...options, ...shared, secure: protocol === 'https:' });
  }

  /** Counts a visit before its form is read. Returns the answer of one that is not admitted. */
  turnAway(request: PageVisit): PageAnswer | null {
    const route = routeOf(request.path);
    const stranger = this.#strangerOf(request);
    const waitSeconds = this.#visitors.admit(request.remoteAddress, request.headers.forwardedFor);
    if (waitSeconds !== null) return render(outcomes.tooManyPage(stranger, waitSeconds), stranger);
    if (route === null && linkIn(request.path) === null)
      return render(outcomes.missingPage(stranger), stranger);
    const allowed = route === null ? ['GET', 'HEAD', 'POST'] : methodsOf(route);
    if (allowed.includes(request.method)) return null;
    return render(outcomes.methodNotAllowedPage(stranger, allowed.join(', ')), stranger);
  }

  /** Answers an admitted visit and wipes the request's body. Never rejects. */
  async handle(request: PageRequest): Promise<PageAnswer> {
    try {
      return await this.#answer(request);
    } catch (error) {
      this.#options.onError(error, request.requestId);
      return this.trouble(request);
    } finally {
      request.body.fill(0);
    }
  }

  /** Answers a visit that takes long: a redirect to the page, which continues to wait. */
  goOn(request: PageVisit): PageAnswer {
    const stranger = this.#strangerOf(request);
    return redirect(linkTo(stranger, stranger.path));
  }

  /** Answers a visit that fails because of a bug. */
  trouble(request: PageVisit): PageAnswer {
    const stranger = this.#strangerOf(request);
    return render(outcomes.troublePage(stranger), stranger);
  }

  /** The visit of somebody of whom nothing is known but the address. */
  #strangerOf(request: PageVisit): Visit {
    return visitOf(request, routeOf(request.path), null, this.#prefix);
  }

  async #answer(request: PageRequest): Promise<PageAnswer> {
    const { port } = this.#options;
    const link = linkIn(request.path);
    if (link !== null) return this.#links(request, link, this.#strangerOf(request));
    const route = defined(routeOf(request.path), 'a visit without a page is not admitted');
    const payment = await port.view(route.id);
    if (payment === null) {
      const stranger = this.#strangerOf(request);
      return render(outcomes.missingPage(stranger), stranger);
    }
    const visit = visitOf(request, route, payment, this.#prefix);
    if (route.backFrom !== null) return backFrom(port, request.method, route, payment, visit);
    return request.method === 'POST'
      ? this.#submit(request, route, payment, visit)
      : this.#show(request, route, payment, visit);
  }

  async #show(
    request: PageRequest,
    { id }: PageRoute,
    payment: ShownPayment,
    visit: Visit,
  ): Promise<PageAnswer> {
    const stage = stageOf(payment, id);
    if ('path' in stage && stage.path !== request.path) return redirect(linkTo(visit, stage.path));
    const { field, setCookie } = this.#guard.protect(id, request.headers.cookie);
    const holdsForm = Object.values(formStages).some((stages) => stages.includes(stage.name));
    const page = await pageAt(stage, payment, visit, {
      field,
      justActed: readFields(request.query).has('done'),
      hosted: this.#hosted,
      back: afterPayment(payment, this.#options.baseUrl),
    });
    return render({ ...page, stage: stage.name }, visit, holdsForm ? setCookie : null);
  }

  async #submit(
    request: PageRequest,
    { id, path, form: name }: PageRoute,
    payment: ShownPayment,
    visit: Visit,
  ): Promise<PageAnswer> {
    const { cookie, secFetchSite } = request.headers;
    const form = readFields(request.body.toString('utf8'));
    if (!this.#guard.accepts(id, cookie, secFetchSite, form)) return render(outcomes.stalePage(visit), visit);
    assert(name !== null, 'a page without a form takes no POST');
    const stage = stageOf(payment, id);
    // A form that was sent before, or too late, has no effect. The answer shows the current state.
    const atItsStage = formStages[name].includes(stage.name) && 'path' in stage && stage.path === path;
    const { field } = this.#guard.protect(id, cookie);
    const page = atItsStage ? await this.#submissions[name]({ id, payment, visit, form, field }) : null;
    if (page !== null) return render(page, visit);
    return redirect(linkTo(visit, path, outcomes.afterForm));
  }
}

/**
 * What the network's page sends along is not believed: the network's report decides, and the page
 * shows the current state. Whoever comes back by POST after a decline that was reported tries no
 * other card there. A GET changes nothing: a preview of the link or the Back button can send one,
 * so its customer finds the button to try again and the form that leads back to the choice.
 */
async function backFrom(
  port: PagePort,
  method: string,
  { id, path, backFrom }: PageRoute,
  { charge }: ShownPayment,
  visit: Visit,
): Promise<PageAnswer> {
  if (backFrom === 'paid') return redirect(linkTo(visit, path, outcomes.afterForm));
  const wasDeclined = charge?.id === id && charge.status === 'pending' && charge.decline_code !== null;
  if (wasDeclined && method === 'POST') await port.command('leave_network_page', id, {}, visit.language);
  return redirect(linkTo(visit, path));
}

/** The language: the one chosen by a link, else the session's, else the browser's. */
function visitOf(
  request: PageVisit,
  route: PageRoute | null,
  payment: ShownPayment | null,
  prefix: string,
): Visit {
  const asked = readFields(request.query).get('lang');
  const chosen = languages.find((language) => language === asked);
  return {
    language: chosen ?? payment?.session?.locale ?? negotiateLanguage(request.headers.acceptLanguage),
    languageChosen: chosen !== undefined,
    path: route?.path ?? request.path,
    prefix,
  };
}

interface Showing {
  /** The hidden field that protects a form. */
  readonly field: Html;
  /** A form has redirected the customer here, or the network's page. */
  readonly justActed: boolean;
  readonly hosted: HostedPage;
  /** Where the customer goes after paying. */
  readonly back: string | null;
}

function pageAt(
  stage: Stage,
  payment: ShownPayment,
  visit: Visit,
  { field, justActed, hosted, back }: Showing,
): Page | Promise<Page> {
  switch (stage.name) {
    case 'choose':
    case 'card':
      return checkoutPage(payment, visit, field);
    case 'hosted':
      return justActed ? backFromNetworkPage(payment, visit) : hosted(payment, visit, field);
    case 'challenge':
      return challengePage(payment, visit, field);
    case 'voucher':
      return voucherPage(payment, visit, field, back);
    case 'opening':
    case 'processing':
      return outcomes.waitingPage(payment, visit, stage.name);
    case 'paid':
      return outcomes.paidPage(payment, visit, back, justActed);
    case 'failed':
      return outcomes.failedPage(payment, visit);
    case 'canceled':
    case 'expired':
      return outcomes.endedPage(payment, visit, stage.name);
  }
}
