// Payment links: their list, the form that makes one, and the page of each, on which it is paused,
// opened again and removed.

import { methodAmountMin, paymentLinkLastsMsMax, paymentLinkLastsMsMin } from '../../contract/limits.ts';
import { checkoutPath } from '../../contract/page-paths.ts';
import { formatAmount, parseAmount } from '../../core/money.ts';
import { moroccoMomentAt } from '../../core/morocco-day.ts';
import type { LinkState, LinkView, NewPaymentLink } from '../../domain/payment-links.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { qrCode } from '../../html/qr-code.ts';
import { OperatorFailure } from '../../operator/use-cases/failures.ts';
import { command } from '../../operator/use-cases/shard-records.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, type ViewRequest } from '../layout/row.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { amountField, amountProblem, availableMethods } from './payment-parts.ts';

export const linkRows: readonly Row[] = [
  get('checkout/new', 'payments.write', showForm),
  post('checkout/new', 'payments.write', makeLink),
  get('checkout/links/{id}', 'payments.read', showLink),
  post('checkout/links/{id}/pause', 'payments.write', pauseLink),
  post('checkout/links/{id}/remove', 'payments.write', removeLink),
];

const hourMs = 3_600_000;
/** How long a link lasts, by its name in the form; null: it has no end. */
const lastsMs = {
  hour: hourMs,
  day: 24 * hourMs,
  week: 7 * 24 * hourMs,
  month: 30 * 24 * hourMs,
  quarter: 90 * 24 * hourMs,
  year: 365 * 24 * hourMs,
  always: null,
} as const;
const uses = ['single', 'many'] as const;

/** All of them: their number is bounded. */
async function linksOf({ organization, mode, services }: ViewRequest): Promise<LinkView[]> {
  const scope = { org: organization.id, livemode: mode === 'live' };
  const { body } = await services.askShard(organization.id, { kind: 'payment_links', ...scope });
  return JSON.parse(body);
}

async function linkNamed(request: ViewRequest): Promise<LinkView | null> {
  const links = await linksOf(request);
  return links.find(({ id }) => id === request.id) ?? null;
}

const tones: Readonly<Record<LinkState, ui.Tone>> = {
  active: 'good',
  paused: 'warn',
  ended: 'plain',
  used: 'plain',
};

function linkBadge({ language }: ViewRequest, state: LinkState): Html {
  return ui.badge(sayShop({ language })(`link_${state}`), tones[state]);
}

/** The links of the organization; null when it has none. */
export async function linksPart(request: ViewRequest): Promise<Html | null> {
  const { language } = request;
  const say = sayShop(request);
  const links = await linksOf(request);
  if (links.length === 0) return null;
  return ui.section(
    say('links'),
    ui.table<LinkView>(
      say('links'),
      [
        [
          say('link'),
          ({ id, client_reference_id: reference, description }) =>
            html`<a href="${viewLink(request, `checkout/links/${id}`)}"><bdi>${description ?? reference ?? id}</bdi></a>`,
        ],
        [say('amount'), ({ amount, currency }) => ui.amount(language, amount, currency), 'numeric'],
        [say('status'), ({ state }) => linkBadge(request, state)],
        [say('link_use'), ({ single_use }) => say(single_use ? 'link_single' : 'link_many')],
        [say('ends'), ({ ends_at_ms: ms }) => (ms === null ? say('lasts_always') : ui.time(language, ms))],
      ],
      links,
    ),
  );
}

/** The page where the customer pays shows the receipt afterwards. */
function receiptPage({ services }: ViewRequest): string {
  return services.baseUrl + checkoutPath('{CHECKOUT_SESSION_ID}');
}

function showForm(request: ViewRequest, problems: ui.Problems = {}, status = 200): DashboardAnswer {
  const { form: sent } = request;
  const say = sayShop(request);
  const given = (name: string, otherwise = '') => ({ name, value: sent.get(name) ?? otherwise, problems });
  const chosen = sent.getAll('method');
  const methods = availableMethods(request);
  if (methods.length === 0)
    return page(request, { title: say('make_link'), status, body: noMethods(request) });
  const choices = methods.map((method) =>
    ui.checkbox({
      name: 'method',
      value: method,
      label: say(method),
      checked: sent.size === 0 || chosen.includes(method),
    }),
  );
  const wrong = problems.method ?? null;
  return page(request, {
    title: say('make_link'),
    status,
    problems,
    body: html`<div class="sheet">${ui.form(
      request,
      viewLink(request, 'checkout/new'),
      html`${amountField(request, problems)}${ui.field({
        ...given('description'),
        label: say('what_for'),
        hint: say('what_for_hint'),
      })}<fieldset id="method"><legend>${say('methods')}</legend>
${wrong && html`<span class="wrong">${wrong}</span>`}${choices}</fieldset>${ui.field({
        ...given('reference'),
        label: say('reference'),
        hint: say('reference_hint'),
      })}<div class="pair">${ui.select({
        ...given('use', 'single'),
        label: say('link_use'),
        choices: uses.map((use) => [use, say(`link_${use}`)] as const),
      })}${ui.select({
        ...given('lasts', 'week'),
        label: say('link_lasts'),
        choices: Object.keys(lastsMs).map(
          (name) => [name, say(`lasts_${name as keyof typeof lastsMs}`)] as const,
        ),
      })}</div>${ui.field({
        ...given('ends_at'),
        label: say('ends_at'),
        hint: say('ends_at_hint'),
        type: 'datetime-local',
      })}${ui.field({
        ...given('success_url', receiptPage(request)),
        label: say('success_url'),
        hint: say('success_url_hint'),
        type: 'url',
        ltr: true,
      })}${ui.submit(say('make_link'))}`,
    )}</div>`,
  });
}

/** Says why there is no form, and where that is changed. */
function noMethods(request: ViewRequest): Html {
  const say = sayShop(request);
  const steps = ui.button(say('what_is_missing'), viewLink(request, 'home'), 'quiet');
  const body = html`<p>${say('no_methods_text')}</p>${request.mode === 'live' && html`<p>${steps}</p>`}`;
  return ui.emptyState(say('no_methods'), html`<div class="stack">${body}</div>`);
}

async function makeLink(request: ViewRequest): Promise<DashboardAnswer> {
  const { language, organization, mode, form: sent } = request;
  const say = sayShop(request);
  const centimes = parseAmount(sent.get('amount') ?? '');
  const methods = availableMethods(request).filter((method) => sent.getAll('method').includes(method));
  const least = Math.max(0, ...methods.map((method) => methodAmountMin[method]));
  const isSmall = centimes !== null && centimes < least;
  const tooSmall = { code: 'amount_too_small', message: '' } as const;
  const lasts = lastsOf(request);
  const problems = {
    ...(typeof lasts === 'string' && { ends_at: say(lasts) }),
    ...(centimes === null && { amount: say('amount_invalid') }),
    ...(isSmall && { amount: amountProblem(language, tooSmall, { methods }) }),
    ...(methods.length === 0 && { method: say('method_missing') }),
  };
  if (centimes === null || typeof lasts === 'string' || Object.keys(problems).length > 0)
    return showForm(request, problems, 400);
  const text = (name: string) => (sent.get(name) ?? '').trim() || undefined;
  const params: NewPaymentLink = {
    order: {
      amount: centimes,
      currency: 'mad',
      payment_method_types: methods,
      success_url: text('success_url') ?? receiptPage(request),
      description: text('description'),
      client_reference_id: text('reference'),
    },
    single_use: sent.get('use') !== 'many',
    lasts_ms: lasts,
    made_with: sent.get('idempotency_key') ?? '',
  };
  const scope = { org: organization.id, livemode: mode === 'live' };
  try {
    const { id } = await request.act('payment_link.make', { mode, amount: centimes }, () =>
      command(request.services, organization.id, 'create_payment_link', params, scope),
    );
    return redirect(viewLink(request, `checkout/links/${id}`, { done: 'link' }));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return showForm(request, { '': error.message }, 400);
  }
}

/** How long a new link lasts; null: it has no end. A text: why the end typed is refused. */
function lastsOf({
  form: sent,
  services,
}: ViewRequest): number | null | 'ends_at_invalid' | 'ends_at_soon' | 'ends_at_late' {
  const typed = (sent.get('ends_at') ?? '').trim();
  if (typed === '') {
    const [, ms] = Object.entries(lastsMs).find(([name]) => name === sent.get('lasts')) ?? ['', lastsMs.week];
    return ms;
  }
  const endMs = moroccoMomentAt(typed);
  if (endMs === null) return 'ends_at_invalid';
  const ms = endMs - services.now();
  if (ms < paymentLinkLastsMsMin) return 'ends_at_soon';
  return ms > paymentLinkLastsMsMax ? 'ends_at_late' : ms;
}

function isRefusal(error: unknown): error is OperatorFailure {
  return error instanceof OperatorFailure && error.kind === 'refused';
}

const doneTexts = { link: 'link_done', pause: 'link_pause_done', resume: 'link_resume_done' } as const;

/** The address of a page where a customer pays, to copy, to scan and to open. */
export function addressPart(request: ViewRequest, url: string): Html {
  const say = sayShop(request);
  return ui.section(
    say('link'),
    html`<p>${ui.copyable(request, url)}</p>${qrCode(url, say('link_qr'))}
<p>${ui.button(say('open_page'), url, 'quiet')}</p>`,
  );
}

async function showLink(request: ViewRequest): Promise<DashboardAnswer> {
  const { language } = request;
  const say = sayShop(request);
  const link = await linkNamed(request);
  if (link === null) return errorPage(request, 'missing');
  const { id, url, state, single_use, ends_at_ms: endsAtMs } = link;
  return page(request, {
    title: formatAmount(link.amount, link.currency, language),
    actions: linkBadge(request, state),
    body: [
      ui.doneOf(request, doneTexts, say),
      addressPart(request, url),
      ui.section(
        say('details'),
        ui.definitions([
          [say('description'), link.description],
          [say('reference'), link.client_reference_id],
          [say('methods'), link.payment_method_types.map((method) => say(method)).join(' · ')],
          [say('link_use'), say(single_use ? 'link_single' : 'link_many')],
          [say('created'), ui.time(language, link.created * 1000)],
          [say('ends'), endsAtMs === null ? say('lasts_always') : ui.time(language, endsAtMs)],
          [
            say('payments'),
            html`<a href="${viewLink(request, 'payments', { q: id })}">${say('link_payments')}</a>`,
          ],
        ]),
      ),
      changePart(request, link),
    ],
  });
}

function changePart(request: ViewRequest, { id, state }: LinkView): Html | null {
  const say = sayShop(request);
  if (!mayDo(request.role, 'payments.write')) return null;
  const isPaused = state === 'paused';
  const pause =
    (state === 'active' || isPaused) &&
    ui.form(
      request,
      viewLink(request, `checkout/links/${id}/pause`),
      html`<p class="muted">${say(isPaused ? 'link_resume_text' : 'link_pause_text')}</p>${ui.hidden('paused', isPaused ? 'no' : 'yes')}${ui.submit(say(isPaused ? 'link_resume' : 'link_pause'), 'quiet')}`,
    );
  return ui.section(say('link_change'), [
    ...(pause === false ? [] : [pause]),
    ui.form(
      request,
      viewLink(request, `checkout/links/${id}/remove`),
      html`<p class="muted">${say('link_remove_text')}</p>${ui.finalSubmit(request, say('link_remove'))}`,
    ),
  ]);
}

async function pauseLink(request: ViewRequest): Promise<DashboardAnswer> {
  const { id, mode, form: sent } = request;
  if ((await linkNamed(request)) === null) return errorPage(request, 'missing');
  const paused = sent.get('paused') === 'yes';
  await request.act(paused ? 'payment_link.pause' : 'payment_link.resume', { link: id, mode }, () =>
    command(request.services, id, 'pause_payment_link', { paused }),
  );
  return redirect(viewLink(request, `checkout/links/${id}`, { done: paused ? 'pause' : 'resume' }));
}

async function removeLink(request: ViewRequest): Promise<DashboardAnswer> {
  const { id, mode } = request;
  // The second click of a double click finds nothing left to remove.
  if ((await linkNamed(request)) !== null)
    await request.act('payment_link.remove', { link: id, mode }, () =>
      command(request.services, id, 'remove_payment_link', {}),
    );
  return redirect(viewLink(request, 'checkout'));
}
