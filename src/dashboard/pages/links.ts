// Payment links: their list, the form that makes one, and the page of each, on which it is paused,
// opened again and removed.

import { paymentLinkLastsMsMax, paymentLinkLastsMsMin } from '../../contract/limits.ts';
import { checkoutPath, sessionPlace } from '../../contract/page-paths.ts';
import { formatAmount } from '../../core/money.ts';
import { moroccoMomentAt } from '../../core/morocco-day.ts';
import { firstSeen } from '../../core/shown-text.ts';
import { namesOf } from '../../core/tables.ts';
import type { LinkState, LinkView, NewPaymentLink } from '../../domain/payment-links.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { qrCode } from '../../html/qr-code.ts';
import { isRefusal } from '../../operator/use-cases/failures.ts';
import { ask, command } from '../../operator/use-cases/shard-records.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, refused, type Saying } from '../layout/row.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { amountField, availableMethods, typedAmount } from './payment-parts.ts';

type Request = Saying<typeof sayShop>;

export const linkRows = [
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
function linksOf({ organization, mode, services }: Request): Promise<LinkView[]> {
  return ask(services, { kind: 'payment_links', org: organization.id, livemode: mode === 'live' });
}

async function linkNamed(request: Request): Promise<LinkView | null> {
  const links = await linksOf(request);
  return links.find(({ id }) => id === request.id) ?? null;
}

const tones: Readonly<Record<LinkState, ui.Tone>> = {
  active: 'good',
  paused: 'warn',
  ended: 'plain',
  used: 'plain',
};

function linkBadge({ language }: Request, state: LinkState): Html {
  return ui.badge(sayShop({ language })(`link_${state}`), tones[state]);
}

/** The links of the organization; null when it has none. */
export async function linksPart(request: Request): Promise<Html | null> {
  const { language, say } = request;
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
            ui.linked(request, `checkout/links/${id}`, firstSeen(description, reference, id)),
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
function receiptPage({ services }: Request): string {
  return services.baseUrl + checkoutPath(sessionPlace);
}

function showForm(request: Request): DashboardAnswer {
  const { form: sent, say } = request;
  const title = say('make_link');
  const methods = availableMethods(request);
  if (methods.length === 0) return page({ ...request, problems: {} }, { title, body: noMethods(request) });
  const chosen = sent.getAll('method');
  const boxes = methods.map((method) =>
    ui.checkbox('method', say(method), sent.size === 0 || chosen.includes(method), method),
  );
  const useChoices = uses.map((use) => [use, say(`link_${use}`)] as const);
  const lastsChoices = namesOf(lastsMs).map((name) => [name, say(`lasts_${name}`)] as const);
  const use = ui.select(request, 'link_use', useChoices, { name: 'use', value: 'single' });
  const lasts = ui.select(request, 'link_lasts', lastsChoices, { name: 'lasts', value: 'week' });
  const body = [
    amountField(request),
    ui.field(request, 'what_for', { name: 'description', hint: say('what_for_hint') }),
    ui.checkboxes(request, 'method', 'methods', boxes),
    ui.field(request, 'reference', { hint: say('reference_hint') }),
    html`<div class="pair">${use}${lasts}</div>`,
    ui.field(request, 'ends_at', { hint: say('ends_at_hint'), type: 'datetime-local' }),
    ui.field(request, 'success_url', {
      value: receiptPage(request),
      hint: say('success_url_hint'),
      type: 'url',
      ltr: true,
    }),
    ui.submit(title),
  ];
  return page(request, {
    title,
    body: html`<div class="sheet">${ui.form(request, 'checkout/new', body)}</div>`,
  });
}

/** Says why there is no form, and where that is changed. */
function noMethods(request: Request): Html {
  const { say } = request;
  const steps = ui.button(say('what_is_missing'), viewLink(request, 'home'), 'quiet');
  const body = html`<p>${say('no_methods_text')}</p>${request.mode === 'live' && html`<p>${steps}</p>`}`;
  return ui.emptyState(say('no_methods'), html`<div class="stack">${body}</div>`);
}

async function makeLink(request: Request): Promise<DashboardAnswer> {
  const { organization, mode, form: sent, say } = request;
  const methods = availableMethods(request).filter((method) => sent.getAll('method').includes(method));
  const amount = typedAmount(request, methods);
  const lasts = lastsOf(request);
  const problems = {
    ...(typeof lasts === 'string' && { ends_at: say(lasts) }),
    ...(typeof amount === 'string' && { amount }),
    ...(methods.length === 0 && { method: say('method_missing') }),
  };
  if (typeof amount === 'string' || typeof lasts === 'string' || Object.keys(problems).length > 0)
    return showForm(refused(request, problems));
  const text = (name: string) => (sent.get(name) ?? '').trim() || undefined;
  const params: NewPaymentLink = {
    order: {
      amount,
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
    const { id } = await request.act('payment_link.make', { mode, amount }, () =>
      command(request.services, organization.id, 'create_payment_link', params, scope),
    );
    return redirect(viewLink(request, `checkout/links/${id}`, { done: 'link' }));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return showForm(refused(request, { '': error.message }));
  }
}

/** How long a new link lasts; null: it has no end. A text: why the end typed is refused. */
function lastsOf({
  form: sent,
  services,
}: Request): number | null | 'ends_at_invalid' | 'ends_at_soon' | 'ends_at_late' {
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

const doneTexts = { link: 'link_done', pause: 'link_pause_done', resume: 'link_resume_done' } as const;

/** The address of a page where a customer pays, to copy, to scan and to open. */
export function addressPart(request: Request, heading: 'link' | 'page_to_pay', url: string): Html {
  const { say } = request;
  return ui.section(
    say(heading),
    html`<p>${ui.copyable(request, url)}</p>${qrCode(url, say('address_qr'))}
<p>${ui.button(say('open_page'), url, 'quiet')}</p>`,
  );
}

async function showLink(request: Request): Promise<DashboardAnswer> {
  const { language, say } = request;
  const link = await linkNamed(request);
  if (link === null) return errorPage(request, 'missing');
  const { id, url, state, single_use, ends_at_ms: endsAtMs } = link;
  return page(request, {
    title: formatAmount(link.amount, link.currency, language),
    actions: linkBadge(request, state),
    body: [
      ui.doneOf(request, doneTexts),
      addressPart(request, 'link', url),
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

function changePart(request: Request, { id, state }: LinkView): Html | null {
  const { role, say } = request;
  if (!mayDo(role, 'payments.write')) return null;
  const change = state === 'active' ? 'pause' : state === 'paused' ? 'resume' : null;
  const pause =
    change &&
    html`<p class="muted">${say(`link_${change}_text`)}</p>${ui.hidden('paused', change === 'pause' ? 'yes' : 'no')}${ui.submit(say(`link_${change}`), 'quiet')}`;
  const remove = html`<p class="muted">${say('link_remove_text')}</p>${ui.finalSubmit(request, say('link_remove'))}`;
  return ui.section(say('link_change'), [
    ...(pause === null ? [] : [ui.form(request, `checkout/links/${id}/pause`, pause)]),
    ui.form(request, `checkout/links/${id}/remove`, remove),
  ]);
}

async function pauseLink(request: Request): Promise<DashboardAnswer> {
  const { id, mode, form: sent } = request;
  if ((await linkNamed(request)) === null) return errorPage(request, 'missing');
  const paused = sent.get('paused') === 'yes';
  await request.act(paused ? 'payment_link.pause' : 'payment_link.resume', { link: id, mode }, () =>
    command(request.services, id, 'pause_payment_link', { paused }),
  );
  return redirect(viewLink(request, `checkout/links/${id}`, { done: paused ? 'pause' : 'resume' }));
}

async function removeLink(request: Request): Promise<DashboardAnswer> {
  const { id, mode } = request;
  // The second click of a double click finds nothing left to remove.
  if ((await linkNamed(request)) !== null)
    await request.act('payment_link.remove', { link: id, mode }, () =>
      command(request.services, id, 'remove_payment_link', {}),
    );
  return redirect(viewLink(request, 'checkout'));
}
