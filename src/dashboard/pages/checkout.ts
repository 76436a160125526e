// The pages of the checkout sessions, with the payment links above them.

import { formatAmount } from '../../core/money.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type ResultOf, type Row, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { addressPart, linkRows, linksPart } from './links.ts';
import { listPage } from './list-page.ts';
import { paymentLink } from './payment-parts.ts';
import { perform } from './payment-questions.ts';

export const checkoutRows: readonly Row[] = [
  get('checkout', 'payments.read', listSessions),
  ...linkRows,
  get('checkout/{id}', 'payments.read', showSession),
  post('checkout/{id}/expire', 'payments.write', expireSession),
];

type Session = ResultOf<'create_checkout_session'>;

function sessionBadge({ language }: ViewRequest, { status }: Session): Html {
  const say = sayShop({ language });
  return ui.badge(say(status), status === 'complete' ? 'good' : status === 'open' ? 'warn' : 'plain');
}

async function listSessions(request: ViewRequest): Promise<DashboardAnswer> {
  const { language, role } = request;
  const say = sayShop(request);
  const { data, queries } = await listPage<Session>(request, 'list_checkout_sessions');
  const list = ui.table<Session>(
    sayLayout(request)('checkout'),
    [
      [
        say('session'),
        ({ id, client_reference_id: reference, description }) =>
          html`<a href="${viewLink(request, `checkout/${id}`)}"><bdi>${description ?? reference ?? id}</bdi></a>`,
      ],
      [say('amount'), (session) => ui.amount(language, session.amount, session.currency), 'numeric'],
      [say('status'), (session) => sessionBadge(request, session)],
      [say('created'), ({ created }) => ui.time(language, created * 1000)],
    ],
    data,
    ui.emptyState(say('no_sessions')),
  );
  return page(request, {
    actions: mayDo(role, 'payments.write')
      ? ui.button(say('make_link'), viewLink(request, 'checkout/new'))
      : null,
    body: [
      request.query.has('before') ? null : await linksPart(request),
      ui.section(say('sessions'), list),
      ui.pager(request, 'checkout', queries),
    ],
  });
}

const doneTexts = { expire: 'expire_done' } as const;

async function showSession(
  request: ViewRequest,
  problems: ui.Problems = {},
  status = 200,
): Promise<DashboardAnswer> {
  const { language, id } = request;
  const say = sayShop(request);
  const found = await request.api('retrieve_checkout_session', { id });
  if (!found.ok) return errorPage(request, 'missing');
  const session = found.body;
  return page(request, {
    title: formatAmount(session.amount, session.currency, language),
    status,
    problems,
    actions: sessionBadge(request, session),
    body: [
      ui.doneOf(request, doneTexts, say),
      session.url === null ? null : addressPart(request, session.url),
      ui.section(
        say('details'),
        ui.definitions([
          [say('session'), ui.copyable(request, session.id)],
          [say('payment'), paymentLink(request, session.payment_intent)],
          [say('description'), session.description],
          [say('reference'), session.client_reference_id],
          [say('methods'), session.payment_method_types.map((method) => say(method)).join(' · ')],
          [say('created'), ui.time(language, session.created * 1000)],
          [say('ends'), ui.time(language, session.expires_at * 1000)],
        ]),
      ),
      expirePart(request, session),
    ],
  });
}

function expirePart(request: ViewRequest, { id, status }: Session): Html | null {
  const say = sayShop(request);
  if (status !== 'open' || !mayDo(request.role, 'payments.write')) return null;
  return ui.section(
    say('expire'),
    ui.form(
      request,
      viewLink(request, `checkout/${id}/expire`),
      html`<p class="muted">${say('expire_text')}</p>${ui.finalSubmit(request, say('expire'))}`,
    ),
  );
}

async function expireSession(request: ViewRequest): Promise<DashboardAnswer> {
  const { id } = request;
  const expired = await perform(request, 'expire_checkout_session', { id, params: {} });
  if (expired.ok) return redirect(viewLink(request, `checkout/${id}`, { done: 'expire' }));
  return showSession(request, { '': expired.error.message }, expired.status);
}
