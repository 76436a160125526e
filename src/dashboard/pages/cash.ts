// The pages for cash: makes a payment with a code and its voucher, shows the codes that wait, and
// finds one.

import { everyPayment, type FoundPayment } from '../../domain/payment-search.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { isFinal } from '../context.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { tooManyText } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, refused, type Saying, saying } from '../layout/row.ts';
import { sayPayment } from '../messages/payments.ts';
import { mayDo } from '../people/roles.ts';
import { showPayment } from './payment.ts';
import { amountField, availableMethods, codeText, paymentLink, typedAmount } from './payment-parts.ts';
import { askStory, beforeIn, customersWith, findPayments, type Refused } from './payment-questions.ts';
import { cashNumberIn } from './payments.ts';

export const cashRows: readonly Row[] = saying(sayPayment, [
  get('cash', 'payments.read', showCash),
  get('cash/find', 'payments.read', findCode),
  post('cash', 'payments.write', makeCashPayment),
]);

type Request = Saying<typeof sayPayment>;

async function showCash(request: Request): Promise<DashboardAnswer> {
  return page(request, {
    body: [
      mayDo(request.role, 'payments.write') ? makeForm(request) : null,
      findForm(request),
      await waitingCodes(request),
    ],
  });
}

function makeForm(request: Request): Html {
  const { say } = request;
  const title = say('make_cash');
  if (!availableMethods(request).includes('cash'))
    return ui.section(title, html`<p>${say('cash_unavailable')}</p>`);
  const fields = [
    amountField(request),
    ui.field(request, 'description', { hint: say('description_hint') }),
    ui.field(request, 'customer_email', {
      name: 'email',
      hint: say('email_hint'),
      type: 'email',
      attributes: html`autocomplete="off"`,
    }),
  ];
  return ui.section(title, ui.form(request, 'cash', [...fields, ui.submit(say('make_code'))]));
}

async function makeCashPayment(request: Request): Promise<DashboardAnswer> {
  const { form: sent } = request;
  const amount = typedAmount(request, ['cash']);
  if (typeof amount === 'string') return showCash(refused(request, { amount }));
  // Each of the three requests has a key of its own, which follows from that of the form.
  const key = sent.get('idempotency_key')!;
  const customer = await customerOf(request, `${key}-customer`);
  if ('problem' in customer) return showCash(refused(request, { email: customer.problem }));
  const description = (sent.get('description') ?? '').trim();
  const created = await request.api('create_payment_intent', {
    params: {
      amount,
      currency: 'mad',
      payment_method_types: ['cash'],
      ...(customer.id && { customer: customer.id }),
      ...(description && { description }),
    },
  });
  if (!created.ok) return showCash(refusedBy(request, created));
  const { id } = created.body;
  const confirmed = await request.api('confirm_payment_intent', {
    id,
    params: {},
    idempotencyKey: `${key}-confirm`,
  });
  // A form that may be sent again goes on with the same payment.
  if (!confirmed.ok && !isFinal(confirmed)) return showCash(refusedBy(request, confirmed));
  // The payment exists: its page says why it has no code, and lets it be canceled.
  if (!confirmed.ok)
    return showPayment(refused({ ...request, id }, { '': confirmed.error.message }, confirmed.status));
  return redirect(viewLink(request, `payments/${id}`, { done: 'cash' }));
}

function refusedBy(request: Request, { error, status }: Refused): Request {
  const field = error.param === 'description' ? 'description' : '';
  return refused(request, { [field]: error.message }, status);
}

/** The customer with the e-mail address that was typed: the newest who has it, or a new one. */
async function customerOf(
  request: Request,
  idempotencyKey: string,
): Promise<{ id: string | null } | { problem: string }> {
  const email = (request.form.get('email') ?? '').trim();
  if (email === '') return { id: null };
  const [known] = (await customersWith(request, email)).ids;
  if (known !== undefined) return { id: known };
  const created = await request.api('create_customer', { params: { email }, idempotencyKey });
  if (created.ok) return { id: created.body.id };
  const isWrong = created.error.param === 'email';
  return { problem: isWrong ? request.say('email_invalid') : created.error.message };
}

function findForm(request: Request): Html {
  const { query, say } = request;
  const number = ui.field({ ...request, form: query }, 'code', {
    name: 'number',
    hint: say('code_hint'),
    attributes: html`inputmode="numeric" autocomplete="off"`,
    ltr: true,
  });
  return ui.section(
    say('find_code'),
    html`<form method="get" action="${viewLink(request, 'cash/find')}" class="filters">${number}${ui.submit(say('find'), 'quiet')}</form>`,
  );
}

async function findCode(request: Request): Promise<DashboardAnswer> {
  const number = cashNumberIn(request.query.get('number') ?? '');
  const story = number === null ? null : await askStory(request, number);
  if (story !== null) return redirect(viewLink(request, `payments/${story.intent.id}`));
  return showCash(refused(request, { number: request.say('code_unknown') }, 404));
}

async function waitingCodes(request: Request): Promise<Html> {
  const { language, query, say } = request;
  const search = { ...everyPayment, state: 'requires_action', method: 'cash' } as const;
  const found = await findPayments(request, { ...search, before: beforeIn(query) }, false);
  const title = say('waiting_codes');
  if ('waitSeconds' in found) return ui.section(title, ui.emptyState(tooManyText(request, found)));
  const { payments, stoppedAt } = found;
  if (payments.length === 0 && stoppedAt === null)
    return ui.section(title, ui.emptyState(say('no_waiting_codes')));
  const codes = ui.table<FoundPayment>(
    title,
    [
      [say('code'), ({ id, cash_number: number }) => paymentLink(request, id, codeText(number!))],
      [say('amount'), (payment) => ui.amount(language, payment.amount, payment.currency), 'numeric'],
      [say('description'), ({ description }) => description],
      [say('ends'), ({ expires_at_ms: ms }) => ui.time(language, ms!)],
    ],
    payments,
  );
  const older = stoppedAt === null ? null : { before: stoppedAt };
  return ui.section(title, html`${codes}${ui.pager(request, 'cash', { newer: null, older })}`);
}
