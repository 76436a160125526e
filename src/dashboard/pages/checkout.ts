// The pages of the checkout sessions, and the form that makes a payment link by hand: a session whose page the customer opens.

import { checkoutPath } from '../../contract/page-paths.ts';
import { formatAmount, parseAmount } from '../../core/money.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { qrCode } from '../../html/qr-code.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type ResultOf, type Row, type ViewContext, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { listPage } from './list-page.ts';
import { amountField, amountProblem, availableMethods, paymentLink } from './payment-parts.ts';
import { perform } from './payment-questions.ts';

export const checkoutRows: readonly Row[] = [
  get('checkout', 'payments.read', listSessions),
  get('checkout/new', 'payments.write', showForm),
  post('checkout/new', 'payments.write', makeLink),
  get('checkout/{id}', 'payments.read', showSession),
  post('checkout/{id}/expire', 'payments.write', expireSession),
];

type Session = ResultOf<'create_checkout_session'>;

function sessionBadge({ language }: ViewRequest, { status }: Session): Html {
  const say = sayShop({ language });
  return ui.badge(say(status), status === 'complete' ? 'good' : status === 'open' ? 'warn' : 'plain');
}

async function listSessions(request: ViewRequest, context: ViewContext): Promise<DashboardAnswer> {
  const { language, role } = request;
  const say = sayShop(request);
  const { data, queries } = await listPage<Session>(request, context, 'list_checkout_sessions');
  const list = ui.list<Session>(
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
    body: [list, ui.pager(request, 'checkout', queries)],
  });
}

/** The page where the customer pays shows the receipt afterwards. */
function receiptPage({ services }: ViewContext): string {
  return services.baseUrl + checkoutPath('{CHECKOUT_SESSION_ID}');
}

function showForm(
  request: ViewRequest,
  context: ViewContext,
  problems: ui.Problems = {},
  status = 200,
): DashboardAnswer {
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
      })}${ui.field({
        ...given('success_url', receiptPage(context)),
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

const fieldOf: Readonly<Record<string, string>> = {
  amount: 'amount',
  description: 'description',
  client_reference_id: 'reference',
  success_url: 'success_url',
  payment_method_types: 'method',
};

async function makeLink(request: ViewRequest, context: ViewContext): Promise<DashboardAnswer> {
  const { language, form: sent } = request;
  const say = sayShop(request);
  const centimes = parseAmount(sent.get('amount') ?? '');
  const methods = availableMethods(request).filter((method) => sent.getAll('method').includes(method));
  const problems = {
    ...(centimes === null && { amount: say('amount_invalid') }),
    ...(methods.length === 0 && { method: say('method_missing') }),
  };
  if (Object.keys(problems).length > 0) return showForm(request, context, problems, 400);
  const text = (name: string) => (sent.get(name) ?? '').trim() || undefined;
  const made = await perform(request, context, 'create_checkout_session', {
    params: {
      amount: centimes,
      currency: 'mad',
      payment_method_types: methods,
      success_url: text('success_url') ?? receiptPage(context),
      description: text('description'),
      client_reference_id: text('reference'),
    },
  });
  if (made.ok) return redirect(viewLink(request, `checkout/${made.body.id}`, { done: 'link' }));
  const problem = amountProblem(language, made.error, { methods });
  return showForm(request, context, { [fieldOf[made.error.param ?? ''] ?? '']: problem }, made.status);
}

const doneTexts = { link: 'link_done', expire: 'expire_done' } as const;

async function showSession(
  request: ViewRequest,
  context: ViewContext,
  problems: ui.Problems = {},
  status = 200,
): Promise<DashboardAnswer> {
  const { language, id } = request;
  const say = sayShop(request);
  const found = await context.api(request, 'retrieve_checkout_session', { id });
  if (!found.ok) return errorPage(request, 'missing');
  const session = found.body;
  return page(request, {
    title: formatAmount(session.amount, session.currency, language),
    status,
    problems,
    actions: sessionBadge(request, session),
    body: [
      ui.doneOf(request, doneTexts, say),
      linkPart(request, session),
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

function linkPart(request: ViewRequest, { url }: Session): Html | null {
  const say = sayShop(request);
  if (url === null) return null;
  return ui.section(
    say('link'),
    html`<p>${ui.copyable(request, url)}</p>${qrCode(url, say('link_qr'))}
<p>${ui.button(say('open_page'), url, 'quiet')}</p>`,
  );
}

function expirePart(request: ViewRequest, { id, status }: Session): Html | null {
  const { role } = request;
  const say = sayShop(request);
  if (status !== 'open' || !mayDo(role, 'payments.write')) return null;
  return ui.section(
    say('expire'),
    ui.form(
      request,
      viewLink(request, `checkout/${id}/expire`),
      html`<p class="muted">${say('expire_text')}</p>${ui.finalSubmit(request, say('expire'))}`,
    ),
  );
}

async function expireSession(request: ViewRequest, context: ViewContext): Promise<DashboardAnswer> {
  const { id } = request;
  const expired = await perform(request, context, 'expire_checkout_session', { id, params: {} });
  if (expired.ok) return redirect(viewLink(request, `checkout/${id}`, { done: 'expire' }));
  return showSession(request, context, { '': expired.error.message }, expired.status);
}
