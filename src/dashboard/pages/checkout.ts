// The room with the checkout sessions, and the form that makes a payment link by hand: a session whose page the customer opens.

import { checkoutPath } from '../../contract/page-paths.ts';
import { type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { formatAmount, parseAmount } from '../../core/money.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { qrCode } from '../../html/qr-code.ts';
import { availableIn } from '../../networks/connectors.ts';
import {
  amount,
  badge,
  button,
  checkbox,
  copyable,
  definitions,
  doneOf,
  emptyState,
  errorSummary,
  field,
  finalSubmit,
  form,
  type Problems,
  pager,
  section,
  submit,
  table,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, ResultOf, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { listPage } from './list-page.ts';
import { amountField, amountProblem, paymentLink } from './payment-parts.ts';
import { perform } from './payment-questions.ts';

export const checkoutRows: readonly Row[] = [
  { method: 'GET', path: 'checkout', permission: 'payments.read', handle: listSessions },
  {
    method: 'GET',
    path: 'checkout/new',
    permission: 'payments.write',
    handle: async (visit, desk) => showForm(visit, desk),
  },
  { method: 'POST', path: 'checkout/new', permission: 'payments.write', handle: makeLink },
  {
    method: 'GET',
    path: 'checkout/{id}',
    permission: 'payments.read',
    handle: (visit, desk) => showSession(visit, desk),
  },
  { method: 'POST', path: 'checkout/{id}/expire', permission: 'payments.write', handle: expireSession },
];

type Session = ResultOf<'create_checkout_session'>;

function sessionBadge({ language }: Visit, { status }: Session): Html {
  return badge(
    sayShop(status, language),
    status === 'complete' ? 'good' : status === 'open' ? 'warn' : 'plain',
  );
}

async function listSessions(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, role } = visit;
  const { data, queries } = await listPage<Session>(visit, desk, 'list_checkout_sessions');
  const list = table<Session>(
    sayFrame('checkout', language),
    [
      {
        heading: sayShop('session', language),
        cell: ({ id, client_reference_id: reference, description }) =>
          html`<a href="${roomLink(visit, `checkout/${id}`)}"><bdi>${description ?? reference ?? id}</bdi></a>`,
      },
      {
        heading: sayShop('amount', language),
        cell: (session) => amount(language, session.amount, session.currency),
        numeric: true,
      },
      { heading: sayShop('status', language), cell: (session) => sessionBadge(visit, session) },
      { heading: sayShop('created', language), cell: ({ created }) => time(language, created * 1000) },
    ],
    data,
  );
  return page(visit, {
    active: 'checkout',
    title: sayFrame('checkout', language),
    actions: mayDo(role, 'payments.write')
      ? button(sayShop('make_link', language), roomLink(visit, 'checkout/new'))
      : null,
    body: [
      data.length === 0 ? emptyState(sayShop('no_sessions', language)) : list,
      pager(visit, 'checkout', queries),
    ],
  });
}

function availableMethods({ organization, mode }: Visit): PaymentMethodType[] {
  const available = availableIn(organization.connectors, mode);
  return paymentMethodTypes.filter((method) => available[method] && organization.methods[mode][method]);
}

/** The page where the customer pays shows the receipt afterwards. */
function receiptPage({ services }: Desk): string {
  return services.baseUrl + checkoutPath('{CHECKOUT_SESSION_ID}');
}

function showForm(visit: Visit, desk: Desk, problems: Problems = {}, status = 200): DashboardAnswer {
  const { language, form: sent } = visit;
  const given = (name: string, otherwise = '') => ({ name, value: sent.get(name) ?? otherwise, problems });
  const chosen = sent.getAll('method');
  const methods = availableMethods(visit);
  const choices = methods.map((method) =>
    checkbox({
      name: 'method',
      value: method,
      label: sayShop(method, language),
      checked: sent.size === 0 || chosen.includes(method),
    }),
  );
  const wrong = problems.method ?? null;
  return page(visit, {
    active: 'checkout',
    title: sayShop('make_link', language),
    status,
    alert: errorSummary(language, problems),
    body: html`<div class="sheet">${form(
      visit,
      roomLink(visit, 'checkout/new'),
      html`${amountField(visit, problems)}${field({
        ...given('description'),
        label: sayShop('what_for', language),
        hint: sayShop('what_for_hint', language),
      })}<fieldset id="method"><legend>${sayShop('methods', language)}</legend>
${wrong && html`<span class="wrong">${wrong}</span>`}${choices}</fieldset>${field({
        ...given('reference'),
        label: sayShop('reference', language),
        hint: sayShop('reference_hint', language),
      })}${field({
        ...given('success_url', receiptPage(desk)),
        label: sayShop('success_url', language),
        hint: sayShop('success_url_hint', language),
        type: 'url',
        ltr: true,
      })}${submit(sayShop('make_link', language))}`,
    )}</div>`,
  });
}

const fieldOf: Readonly<Record<string, string>> = {
  amount: 'amount',
  description: 'description',
  client_reference_id: 'reference',
  success_url: 'success_url',
  payment_method_types: 'method',
};

async function makeLink(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, form: sent } = visit;
  const centimes = parseAmount(sent.get('amount') ?? '');
  const methods = availableMethods(visit).filter((method) => sent.getAll('method').includes(method));
  const problems = {
    ...(centimes === null && { amount: sayShop('amount_invalid', language) }),
    ...(methods.length === 0 && { method: sayShop('method_missing', language) }),
  };
  if (Object.keys(problems).length > 0) return showForm(visit, desk, problems, 400);
  const text = (name: string) => (sent.get(name) ?? '').trim() || undefined;
  const made = await perform(visit, desk, 'create_checkout_session', {
    params: {
      amount: centimes,
      currency: 'mad',
      payment_method_types: methods,
      success_url: text('success_url') ?? receiptPage(desk),
      description: text('description'),
      client_reference_id: text('reference'),
    },
  });
  if (made.ok) return redirect(roomLink(visit, `checkout/${made.body.id}`, { done: 'link' }));
  const problem = amountProblem(language, made.error, { methods });
  return showForm(visit, desk, { [fieldOf[made.error.param ?? ''] ?? '']: problem }, made.status);
}

const doneTexts = { link: 'link_done', expire: 'expire_done' } as const;

async function showSession(
  visit: Visit,
  desk: Desk,
  problems: Problems = {},
  status = 200,
): Promise<DashboardAnswer> {
  const { language, id } = visit;
  const found = await desk.api(visit, 'retrieve_checkout_session', { id });
  if (!found.ok) return errorPage(visit, 'missing');
  const session = found.body;
  return page(visit, {
    active: 'checkout',
    title: formatAmount(session.amount, session.currency, language),
    status,
    alert: errorSummary(language, problems),
    actions: sessionBadge(visit, session),
    body: [
      doneOf(visit, doneTexts, sayShop),
      linkPart(visit, session),
      section(
        sayShop('details', language),
        definitions([
          [sayShop('session', language), copyable(visit, session.id)],
          [sayShop('payment', language), paymentLink(visit, session.payment_intent)],
          [sayShop('description', language), session.description],
          [sayShop('reference', language), session.client_reference_id],
          [
            sayShop('methods', language),
            session.payment_method_types.map((method) => sayShop(method, language)).join(' · '),
          ],
          [sayShop('created', language), time(language, session.created * 1000)],
          [sayShop('ends', language), time(language, session.expires_at * 1000)],
        ]),
      ),
      expirePart(visit, session),
    ],
  });
}

function linkPart(visit: Visit, { url }: Session): Html | null {
  const { language } = visit;
  if (url === null) return null;
  return section(
    sayShop('link', language),
    html`<p>${copyable(visit, url)}</p>${qrCode(url, sayShop('link_qr', language))}
<p>${button(sayShop('open_page', language), url, 'quiet')}</p>`,
  );
}

function expirePart(visit: Visit, { id, status }: Session): Html | null {
  const { language, role } = visit;
  if (status !== 'open' || !mayDo(role, 'payments.write')) return null;
  return section(
    sayShop('expire', language),
    form(
      visit,
      roomLink(visit, `checkout/${id}/expire`),
      html`<p class="muted">${sayShop('expire_text', language)}</p>${finalSubmit(visit, sayShop('expire', language))}`,
    ),
  );
}

async function expireSession(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { id } = visit;
  const expired = await perform(visit, desk, 'expire_checkout_session', { id, params: {} });
  if (expired.ok) return redirect(roomLink(visit, `checkout/${id}`, { done: 'expire' }));
  return showSession(visit, desk, { '': expired.error.message }, expired.status);
}
