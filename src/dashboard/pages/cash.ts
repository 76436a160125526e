// The room for cash: makes a payment with a code and its voucher, shows the codes that wait, and finds one.

import { parseAmount } from '../../core/money.ts';
import type { FoundPayment } from '../../domain/payment-search.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { availableIn } from '../../networks/connectors.ts';
import { isFinal } from '../desk.ts';
import {
  amount,
  emptyState,
  errorSummary,
  field,
  form,
  type Problems,
  pager,
  section,
  submit,
  table,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { tooManyText } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayPayment } from '../messages/payments.ts';
import { mayDo } from '../people/roles.ts';
import { showPayment } from './payment.ts';
import { amountField, amountProblem, codeText, paymentLink } from './payment-parts.ts';
import {
  askStory,
  beforeIn,
  customersWith,
  everyPayment,
  findPayments,
  perform,
  type Refused,
} from './payment-questions.ts';
import { cashNumberIn } from './payments.ts';

export const cashRows: readonly Row[] = [
  {
    method: 'GET',
    path: 'cash',
    permission: 'payments.read',
    handle: (visit, desk) => showCash(visit, desk),
  },
  { method: 'GET', path: 'cash/find', permission: 'payments.read', handle: findCode },
  { method: 'POST', path: 'cash', permission: 'payments.write', handle: makeCashPayment },
];

async function showCash(
  visit: Visit,
  desk: Desk,
  problems: Problems = {},
  status = 200,
): Promise<DashboardAnswer> {
  const { language, role } = visit;
  return page(visit, {
    active: 'cash',
    title: sayFrame('cash', language),
    status,
    alert: errorSummary(language, problems),
    body: [
      mayDo(role, 'payments.write') ? makeForm(visit, problems) : null,
      findForm(visit, problems),
      await waitingCodes(visit, desk),
    ],
  });
}

function makeForm(visit: Visit, problems: Problems): Html {
  const { language, form: sent, mode, organization } = visit;
  const title = sayPayment('make_cash', language);
  if (!availableIn(organization.connectors, mode).cash || !organization.methods[mode].cash)
    return section(title, html`<p>${sayPayment('cash_unavailable', language)}</p>`);
  const given = (name: string) => ({ name, value: sent.get(name) ?? '', problems });
  return section(
    title,
    form(
      visit,
      roomLink(visit, 'cash'),
      html`${amountField(visit, problems)}${field({
        ...given('description'),
        label: sayPayment('description', language),
        hint: sayPayment('description_hint', language),
      })}${field({
        ...given('email'),
        label: sayPayment('customer_email', language),
        hint: sayPayment('email_hint', language),
        type: 'email',
        attributes: html`autocomplete="off"`,
      })}${submit(sayPayment('make_code', language))}`,
    ),
  );
}

async function makeCashPayment(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, form: sent } = visit;
  const centimes = parseAmount(sent.get('amount') ?? '');
  if (centimes === null)
    return showCash(visit, desk, { amount: sayPayment('amount_invalid', language) }, 400);
  // Each of the three requests has a key of its own, which follows from that of the form.
  const key = sent.get('idempotency_key')!;
  const customer = await customerOf(visit, desk, `${key}-customer`);
  if ('problem' in customer) return showCash(visit, desk, { email: customer.problem }, 400);
  const description = (sent.get('description') ?? '').trim();
  const created = await perform(visit, desk, 'create_payment_intent', {
    params: {
      amount: centimes,
      currency: 'mad',
      payment_method_types: ['cash'],
      ...(customer.id && { customer: customer.id }),
      ...(description && { description }),
    },
  });
  if (!created.ok) return refused(visit, desk, created);
  const { id } = created.body;
  const confirmed = await perform(visit, desk, 'confirm_payment_intent', {
    id,
    params: {},
    idempotencyKey: `${key}-confirm`,
  });
  // A form that may be sent again goes on with the same payment.
  if (!confirmed.ok && !isFinal(confirmed)) return refused(visit, desk, confirmed);
  // The payment exists: its page says why it has no code, and lets it be canceled.
  if (!confirmed.ok)
    return showPayment({ ...visit, id }, desk, { '': confirmed.error.message }, confirmed.status);
  return redirect(roomLink(visit, `payments/${id}`, { done: 'cash' }));
}

function refused(visit: Visit, desk: Desk, outcome: Refused): Promise<DashboardAnswer> {
  const { param } = outcome.error;
  const problem = amountProblem(visit.language, outcome.error, { methods: ['cash'] });
  const name = param === 'amount' || param === 'description' ? param : '';
  return showCash(visit, desk, { [name]: problem }, outcome.status);
}

/** The customer with the e-mail address that was typed: the newest who has it, or a new one. */
async function customerOf(
  visit: Visit,
  desk: Desk,
  idempotencyKey: string,
): Promise<{ id: string | null } | { problem: string }> {
  const email = (visit.form.get('email') ?? '').trim();
  if (email === '') return { id: null };
  const [known] = await customersWith(visit, desk, email);
  if (known !== undefined) return { id: known };
  const created = await perform(visit, desk, 'create_customer', { params: { email }, idempotencyKey });
  if (created.ok) return { id: created.body.id };
  const isWrong = created.error.param === 'email';
  return { problem: isWrong ? sayPayment('email_invalid', visit.language) : created.error.message };
}

function findForm(visit: Visit, problems: Problems): Html {
  const { language, query } = visit;
  return section(
    sayPayment('find_code', language),
    html`<form method="get" action="${roomLink(visit, 'cash/find')}" class="filters">${field({
      name: 'number',
      label: sayPayment('code', language),
      hint: sayPayment('code_hint', language),
      value: query.get('number') ?? '',
      problems,
      attributes: html`inputmode="numeric" autocomplete="off"`,
      ltr: true,
    })}${submit(sayPayment('find', language), 'quiet')}</form>`,
  );
}

async function findCode(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const number = cashNumberIn(visit.query.get('number') ?? '');
  const story = number === null ? null : await askStory(visit, desk, number);
  if (story !== null) return redirect(roomLink(visit, `payments/${story.intent.id}`));
  return showCash(visit, desk, { number: sayPayment('code_unknown', visit.language) }, 404);
}

async function waitingCodes(visit: Visit, desk: Desk): Promise<Html> {
  const { language, query } = visit;
  const search = { ...everyPayment, status: 'requires_action', method: 'cash' } as const;
  const found = await findPayments(visit, desk, { ...search, before: beforeIn(query) }, false);
  const title = sayPayment('waiting_codes', language);
  if ('waitSeconds' in found) return section(title, emptyState(tooManyText(visit, found)));
  const { payments, stoppedAt } = found;
  if (payments.length === 0 && stoppedAt === null)
    return section(title, emptyState(sayPayment('no_waiting_codes', language)));
  const codes = table<FoundPayment>(
    title,
    [
      {
        heading: sayPayment('code', language),
        cell: ({ id, cash_number: number }) => paymentLink(visit, id, codeText(number!)),
      },
      {
        heading: sayPayment('amount', language),
        cell: (payment) => amount(language, payment.amount, payment.currency),
        numeric: true,
      },
      { heading: sayPayment('description', language), cell: ({ description }) => description },
      { heading: sayPayment('ends', language), cell: ({ expires_at_ms: ms }) => time(language, ms!) },
    ],
    payments,
  );
  const older = stoppedAt === null ? null : { before: stoppedAt };
  return section(title, html`${codes}${pager(visit, 'cash', { newer: null, older })}`);
}
