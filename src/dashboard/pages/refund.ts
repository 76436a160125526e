// Paying a payment back: the form on the payment's page, and the page that asks once more, which
// names the amount and where it goes. Only what that page names is paid back.

import { formatAmount, parseAmount } from '../../core/money.ts';
import type { PaymentStory } from '../../domain/payment-story.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { brandName } from '../../html/marks.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, type Problems, post, refused, type Saying } from '../layout/row.ts';
import { sayPayment } from '../messages/payments.ts';
import { mayDo } from '../people/roles.ts';
import { amountField, amountProblem } from './payment-parts.ts';
import { askStory, perform } from './payment-questions.ts';

type Request = Saying<typeof sayPayment>;
/** Shows the page of the payment with what is wrong. */
type ShowPayment = (request: Request) => Promise<DashboardAnswer>;

export function refundRows(showPayment: ShowPayment) {
  return [
    get('payments/{id}/refund', 'refunds.write', (request: Request) => confirmRefund(request, showPayment)),
    post('payments/{id}/refund', 'refunds.write', (request: Request) => refundPayment(request, showPayment)),
  ];
}

const refundReasons = ['requested_by_customer', 'duplicate', 'fraudulent'] as const;

/** The refund form of a payment; null when nothing is refundable, or not by this member. */
export function refundPart(request: Request, { intent, refundable }: PaymentStory): Html | null {
  const { language, role, say } = request;
  if (refundable === 0 || !mayDo(role, 'refunds.write')) return null;
  const hint = say('refund_hint', { amount: formatAmount(refundable, intent.currency, language) });
  const reason = ui.select(request, 'reason', reasonChoices(request, refundReasons));
  return ui.section(
    say('refund'),
    html`<form method="get" action="${viewLink(request, `payments/${intent.id}/refund`)}" class="stack" novalidate>
<div class="pair">${amountField(request, hint)}${reason}</div>${ui.submit(say('refund_go_on'), 'quiet')}</form>`,
  );
}

/** The reasons as choices, none first. */
export function reasonChoices<
  Reason extends 'requested_by_customer' | 'duplicate' | 'fraudulent' | 'abandoned',
>({ say }: Request, reasons: readonly Reason[]): (readonly [value: string, text: string])[] {
  return [['', say('no_reason')], ...reasons.map((reason) => [reason, say(reason)] as const)];
}

async function confirmRefund(request: Request, showPayment: ShowPayment): Promise<DashboardAnswer> {
  const { id, language, query, say } = request;
  const story = await askStory(request, id);
  if (story?.intent.id !== id) return errorPage(request, 'missing');
  const { intent, refundable } = story;
  const typed = (query.get('amount') ?? '').trim();
  const centimes = typed === '' ? refundable : parseAmount(typed);
  const again = (problems: Problems) => showPayment(refused({ ...request, form: query }, problems));
  if (refundable === 0) return again({ '': say('nothing_to_refund') });
  if (centimes === null || centimes === 0) return again({ amount: say('amount_invalid') });
  if (centimes > refundable) {
    const most = formatAmount(refundable, intent.currency, language);
    return again({ amount: say('amount_too_large', { amount: most }) });
  }
  const amount = formatAmount(centimes, intent.currency, language);
  const reason = refundReasons.find((each) => each === query.get('reason')) ?? null;
  const paymentAddress = viewLink(request, `payments/${id}`);
  return page(request, {
    title: say('refund'),
    body: html`<div class="sheet stack"><p><strong>${say('refund_question', { amount, to: destination(request, story) })}</strong></p>
<p class="muted">${say('refund_final')}</p>
${ui.definitions([
  [say('payment'), html`<a href="${paymentAddress}"><bdi>${intent.description ?? id}</bdi></a>`],
  [say('left_after'), ui.amount(language, refundable - centimes, intent.currency)],
  [say('reason'), reason && say(reason)],
])}
${ui.form(
  request,
  `payments/${id}/refund`,
  html`${ui.hidden('amount', (centimes / 100).toFixed(2))}${ui.hidden('reason', reason ?? '')}<div class="actions">${ui.submit(say('refund_now', { amount }), 'danger')}${ui.button(say('refund_not'), paymentAddress, 'quiet')}</div>`,
)}</div>`,
  });
}

/** Where the money goes: the card that paid. */
function destination({ language }: Request, { charges }: PaymentStory): string {
  const details = charges.find(({ status }) => status === 'succeeded')?.payment_method_details;
  if (details?.type !== 'card' || details.card === null) return sayPayment({ language })('refund_to_card');
  // The digits of a card stand from left to right also in Arabic.
  return `\u2066${brandName(details.card.brand)} •••• ${details.card.last4}\u2069`;
}

async function refundPayment(request: Request, showPayment: ShowPayment): Promise<DashboardAnswer> {
  const { id, language, form: sent, say } = request;
  // The page that asks has filled it in.
  const centimes = parseAmount(sent.get('amount') ?? '');
  if (centimes === null) return showPayment(refused(request, { amount: say('amount_invalid') }));
  const reason = sent.get('reason') || undefined;
  const answer = await perform(request, 'create_refund', {
    params: { payment_intent: id, amount: centimes, ...(reason && { reason }) },
  });
  if (answer.ok) return redirect(viewLink(request, `payments/${id}`, { done: 'refund' }));
  const { error, status } = answer;
  const most = (await askStory(request, id))?.refundable ?? 0;
  const problem = amountProblem(language, error, { methods: ['card'], most });
  return showPayment(refused(request, { [error.param === 'amount' ? 'amount' : '']: problem }, status));
}
