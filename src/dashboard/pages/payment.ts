// One payment: what is known of it and what happened to it, with the forms that pay it back and cancel it.

import { formatAmount, parseAmount } from '../../core/money.ts';
import type { PaymentStory, Step } from '../../domain/payment-story.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import {
  amount,
  badge,
  button,
  copyable,
  definitions,
  doneOf,
  errorSummary,
  finalSubmit,
  form,
  type Problems,
  pager,
  section,
  select,
  type Tone,
  table,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { paymentMessages, sayPayment } from '../messages/payments.ts';
import { mayDo } from '../people/roles.ts';
import { cursorIn } from './cursor.ts';
import { amountField, amountProblem, codeText, methodText, statusBadge } from './payment-parts.ts';
import { askStory, perform } from './payment-questions.ts';
import { createStepAuthors } from './step-authors.ts';

export const paymentRows: readonly Row[] = [
  {
    method: 'GET',
    path: 'payments/{id}',
    permission: 'payments.read',
    handle: (visit, desk) => showPayment(visit, desk),
  },
  { method: 'POST', path: 'payments/{id}/refund', permission: 'refunds.write', handle: refundPayment },
  { method: 'POST', path: 'payments/{id}/cancel', permission: 'payments.write', handle: cancelPayment },
];

/** Where a page of refunds begins, in the address. */
const refundsBefore = 'refunds_before';
const doneTexts = { refund: 'refund_done', cancel: 'cancel_done', cash: 'cash_done' } as const;

export async function showPayment(
  visit: Visit,
  desk: Desk,
  problems: Problems = {},
  status = 200,
): Promise<DashboardAnswer> {
  const { language, id, query } = visit;
  const story = await askStory(visit, desk, id, cursorIn(query, refundsBefore, 'refund'));
  if (story?.intent.id !== id) return errorPage(visit, 'missing');
  const { intent } = story;
  return page(visit, {
    active: 'payments',
    title: formatAmount(intent.amount, intent.currency, language),
    status,
    alert: errorSummary(language, problems),
    actions: statusBadge(language, {
      ...intent,
      amount_refunded: story.charges.reduce((sum, charge) => sum + charge.amount_refunded, 0),
    }),
    body: [
      Object.keys(problems).length === 0 ? doneOf(visit, doneTexts, sayPayment) : null,
      payPart(visit, story),
      refundPart(visit, story, problems),
      detailsPart(visit, story),
      timelinePart(visit, desk, story),
      attemptsPart(visit, story),
      refundsPart(visit, story),
      cancelPart(visit, story),
    ],
  });
}

/** How the customer can pay now: the code with its voucher, or the page for the card. */
function payPart({ language }: Visit, { intent: { next_action: next } }: PaymentStory): Html | null {
  if (next === null) return null;
  if (next.type === 'redirect_to_url') {
    const { url } = next.redirect_to_url;
    return html`<div class="sheet actions">${button(sayPayment('card_page', language), url, 'quiet')}</div>`;
  }
  const { number, hosted_voucher_url: url, expires_at } = next.cash_display_details;
  return html`<div class="sheet stack">${definitions([
    [sayPayment('code', language), copyable({ language }, codeText(number))],
    [sayPayment('ends', language), time(language, expires_at * 1000)],
  ])}<p>${button(sayPayment('print_voucher', language), url)}</p></div>`;
}

const refundReasons = ['requested_by_customer', 'duplicate', 'fraudulent'] as const;

function refundPart(visit: Visit, { intent, refundable }: PaymentStory, problems: Problems): Html | null {
  const { language, role, form: sent } = visit;
  if (refundable === 0 || !mayDo(role, 'refunds.write')) return null;
  const most = formatAmount(refundable, intent.currency, language);
  return section(
    sayPayment('refund', language),
    form(
      visit,
      roomLink(visit, `payments/${intent.id}/refund`),
      html`<div class="pair">${amountField(visit, problems, sayPayment('refund_hint', language, { amount: most }))}${select(
        {
          name: 'reason',
          label: sayPayment('reason', language),
          value: sent.get('reason') ?? '',
          choices: reasonChoices(visit, refundReasons),
        },
      )}</div>${finalSubmit(visit, sayPayment('refund', language), 'main')}`,
    ),
  );
}

function reasonChoices(
  { language }: Visit,
  reasons: readonly (typeof refundReasons | typeof cancelReasons)[number][],
) {
  return [
    ['', sayPayment('no_reason', language)],
    ...reasons.map((reason) => [reason, sayPayment(reason, language)]),
  ] as const satisfies readonly unknown[] as readonly (readonly [string, string])[];
}

async function refundPayment(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { id, language, form: sent } = visit;
  const typed = (sent.get('amount') ?? '').trim();
  const centimes = typed === '' ? undefined : parseAmount(typed);
  if (centimes === null)
    return showPayment(visit, desk, { amount: sayPayment('amount_invalid', language) }, 400);
  const reason = sent.get('reason') || undefined;
  const outcome = await perform(visit, desk, 'create_refund', {
    params: {
      payment_intent: id,
      ...(centimes !== undefined && { amount: centimes }),
      ...(reason && { reason }),
    },
  });
  if (outcome.ok) return redirect(roomLink(visit, `payments/${id}`, { done: 'refund' }));
  const { error, status } = outcome;
  const most = (await askStory(visit, desk, id))?.refundable ?? 0;
  const problem = amountProblem(language, error, { methods: ['card'], most });
  return showPayment(visit, desk, { [error.param === 'amount' ? 'amount' : '']: problem }, status);
}

const cancelReasons = ['requested_by_customer', 'abandoned', 'duplicate', 'fraudulent'] as const;

function cancelPart(visit: Visit, { intent, cancelable }: PaymentStory): Html | null {
  const { language, role } = visit;
  if (!cancelable || !mayDo(role, 'payments.write')) return null;
  return section(
    sayPayment('cancel', language),
    form(
      visit,
      roomLink(visit, `payments/${intent.id}/cancel`),
      html`<p class="muted">${sayPayment('cancel_explained', language)}</p>${select({
        name: 'cancellation_reason',
        label: sayPayment('reason', language),
        choices: reasonChoices(visit, cancelReasons),
      })}${finalSubmit(visit, sayPayment('cancel', language))}`,
    ),
  );
}

async function cancelPayment(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { id, form: sent } = visit;
  const reason = sent.get('cancellation_reason');
  const params = reason ? { cancellation_reason: reason } : {};
  const outcome = await perform(visit, desk, 'cancel_payment_intent', { id, params });
  if (outcome.ok) return redirect(roomLink(visit, `payments/${id}`, { done: 'cancel' }));
  return showPayment(visit, desk, { '': outcome.error.message }, outcome.status);
}

function detailsPart(visit: Visit, { intent, session, customer, reviews }: PaymentStory): Html {
  const { language } = visit;
  const linked = (path: string, text: string) =>
    html`<a href="${roomLink(visit, path)}"><bdi>${text}</bdi></a>`;
  const metadata = Object.entries({ ...session?.metadata, ...intent.metadata });
  return section(
    sayPayment('details', language),
    definitions([
      [sayPayment('payment', language), copyable(visit, intent.id)],
      [sayPayment('created', language), time(language, intent.created * 1000)],
      [sayPayment('received', language), amount(language, intent.amount_received, intent.currency)],
      [sayPayment('description', language), intent.description ?? session?.description ?? null],
      [sayPayment('reference', language), session?.client_reference_id ?? null],
      [
        sayPayment('customer', language),
        customer && linked(`customers/${customer.id}`, customer.name ?? customer.email ?? customer.id),
      ],
      [sayPayment('session', language), session && linked(`checkout/${session.id}`, session.id)],
      [
        sayPayment('reviews', language),
        reviews.length === 0
          ? null
          : html`${reviews.map(({ id }) => html`<div>${linked(`reviews/${id}`, id)}</div>`)}`,
      ],
      [
        sayPayment('metadata', language),
        metadata.length === 0
          ? null
          : html`${metadata.map(([name, value]) => html`<div dir="auto"><code>${name}</code> = ${value}</div>`)}`,
      ],
    ]),
  );
}

function timelinePart(visit: Visit, desk: Desk, story: PaymentStory): Html {
  const { language } = visit;
  const authorOf = createStepAuthors(visit, desk);
  return section(
    sayPayment('timeline', language),
    table<Step>(
      sayPayment('timeline', language),
      [
        { heading: sayPayment('when', language), cell: ({ at_ms }) => time(language, at_ms) },
        { heading: sayPayment('what', language), cell: (step) => stepText(visit, step) },
        { heading: sayPayment('by', language), cell: authorOf },
      ],
      story.steps,
    ),
  );
}

function stepText(visit: Visit, { type, amount, event }: Step): Html | string {
  const { language, rooms } = visit;
  const text =
    type in paymentMessages
      ? sayPayment(type as keyof typeof paymentMessages, language, {
          amount: formatAmount(amount, 'mad', language),
        })
      : type;
  if (event === null || !rooms.includes('events')) return text;
  return html`<a href="${roomLink(visit, `events/${event}`)}">${text}</a>`;
}

const tones: Readonly<Record<'pending' | 'succeeded' | 'failed', Tone>> = {
  pending: 'warn',
  succeeded: 'good',
  failed: 'bad',
};

function attemptsPart({ language }: Visit, { charges }: PaymentStory): Html | null {
  if (charges.length === 0) return null;
  return section(
    sayPayment('attempts', language),
    table<PaymentStory['charges'][number]>(
      sayPayment('attempts', language),
      [
        { heading: sayPayment('attempt', language), cell: ({ id }) => html`<bdi>${id}</bdi>` },
        {
          heading: sayPayment('method', language),
          cell: ({ payment_method_details: details }) =>
            details.type === 'card'
              ? methodText(language, 'card', details.card, null)
              : methodText(language, 'cash', null, details.cash.number),
        },
        { heading: sayPayment('created', language), cell: ({ created }) => time(language, created * 1000) },
        {
          heading: sayPayment('outcome', language),
          cell: ({ status, failure_message: failure }) =>
            html`${badge(sayPayment(status, language), tones[status])}${failure && html` ${failure}`}`,
        },
      ],
      charges,
    ),
  );
}

function refundsPart(visit: Visit, { intent, refunds, olderRefunds }: PaymentStory): Html | null {
  if (refunds.length === 0) return null;
  const { language, query } = visit;
  const outcomes = { pending: 'pending', succeeded: 'made', failed: 'failed' } as const;
  const pages = pager(visit, `payments/${intent.id}`, {
    newer: query.has(refundsBefore) ? {} : null,
    older: olderRefunds === null ? null : { [refundsBefore]: olderRefunds },
  });
  return section(sayPayment('refunds', language), [
    table<PaymentStory['refunds'][number]>(
      sayPayment('refunds', language),
      [
        {
          heading: sayPayment('amount', language),
          cell: (refund) => amount(language, refund.amount, refund.currency),
        },
        { heading: sayPayment('created', language), cell: ({ created }) => time(language, created * 1000) },
        {
          heading: sayPayment('reason', language),
          cell: ({ reason }) => (reason === null ? null : sayPayment(reason, language)),
        },
        {
          heading: sayPayment('outcome', language),
          cell: ({ status, failure_reason: failure }) =>
            html`${badge(sayPayment(outcomes[status], language), tones[status])}${failure && html` ${failure}`}`,
        },
      ],
      refunds,
    ),
    ...(pages === null ? [] : [pages]),
  ]);
}
