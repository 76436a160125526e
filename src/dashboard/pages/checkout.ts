// The pages of the checkout sessions, with the payment links above them.

import { formatAmount } from '../../core/money.ts';
import { firstSeen } from '../../core/shown-text.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage, unansweredPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type ResultOf, type Row, refused, type Saying, saying } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { addressPart, linkRows, linksPart } from './links.ts';
import { listPart } from './list-part.ts';
import { paymentLink } from './payment-parts.ts';

export const checkoutRows: readonly Row[] = saying(sayShop, [
  get('checkout', 'payments.read', listSessions),
  ...linkRows,
  get('checkout/{id}', 'payments.read', showSession),
  post('checkout/{id}/expire', 'payments.write', expireSession),
]);

type Request = Saying<typeof sayShop>;
type Session = ResultOf<'create_checkout_session'>;

function sessionBadge({ say }: Request, { status }: Session): Html {
  return ui.badge(say(status), status === 'complete' ? 'good' : status === 'open' ? 'warn' : 'plain');
}

async function listSessions(request: Request): Promise<DashboardAnswer> {
  const { language, role, say } = request;
  const { isThere, data, isNewest, queries } = await listPart<Session>(request, 'list_checkout_sessions');
  if (!isThere) return errorPage(request, 'trouble');
  const list = ui.table<Session>(
    sayLayout(request)('checkout'),
    [
      [
        say('session'),
        ({ id, client_reference_id: reference, description }) =>
          ui.linked(request, `checkout/${id}`, firstSeen(description, reference, id)),
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
      isNewest ? await linksPart(request) : null,
      ui.section(say('sessions'), list),
      ui.pager(request, 'checkout', queries),
    ],
  });
}

async function showSession(request: Request): Promise<DashboardAnswer> {
  const { language, id, say } = request;
  const found = await request.api('retrieve_checkout_session', { id });
  if (!found.ok) return unansweredPage(request, found);
  const session = found.body;
  return page(request, {
    title: formatAmount(session.amount, session.currency, language),
    actions: sessionBadge(request, session),
    body: [
      ui.doneOf(request, { expire: 'expire_done' }),
      session.url === null ? null : addressPart(request, 'page_to_pay', session.url),
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

function expirePart(request: Request, { id, status }: Session): Html | null {
  const { role, say } = request;
  if (status !== 'open' || !mayDo(role, 'payments.write')) return null;
  const body = html`<p class="muted">${say('expire_text')}</p>${ui.finalSubmit(request, say('expire'))}`;
  return ui.section(say('expire'), ui.form(request, `checkout/${id}/expire`, body));
}

async function expireSession(request: Request): Promise<DashboardAnswer> {
  const { id } = request;
  const expired = await request.api('expire_checkout_session', { id, params: {} });
  if (expired.ok) return redirect(viewLink(request, `checkout/${id}`, { done: 'expire' }));
  return showSession(refused(request, { '': expired.error.message }, expired.status));
}
