// One payment: what is known of it and what happened to it, with the forms that cancel it and pay
// it back. A refund is asked for once more on a page that names the amount and where it goes: only
// what that page names is paid back.

import { givenCancellationReasons, type RefundReason, refundReasons } from '../../contract/vocabulary.ts';
import { formatAmount, parseAmount } from '../../core/money.ts';
import { firstSeen } from '../../core/shown-text.ts';
import type { PaymentStory, Step } from '../../domain/payment-story.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { brandName } from '../../html/marks.ts';
import { isFinal } from '../context.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, type Problems, post, type Row, refused, type Saying, saying } from '../layout/row.ts';
import { paymentMessages, sayPayment } from '../messages/payments.ts';
import { mayDo } from '../people/roles.ts';
import { cursorIn } from './own-record.ts';
import { amountField, codeText, failureText, methodText, stateBadge } from './payment-parts.ts';
import { askStory } from './payment-questions.ts';
import { createStepAuthors } from './step-authors.ts';

type Request = Saying<typeof sayPayment>;

export const paymentRows: readonly Row[] = saying(sayPayment, [
  get('payments/{id}', 'payments.read', showPayment),
  post('payments/{id}/cancel', 'payments.write', cancelPayment),
  get('payments/{id}/refund', 'refunds.write', confirmRefund),
  post('payments/{id}/refund', 'refunds.write', refundPayment),
]);

/** Where a page of refunds begins, in the address. */
const refundsBefore = 'refunds_before';
const doneTexts = { refund: 'refund_done', cancel: 'cancel_done', cash: 'cash_done' } as const;

export async function showPayment(request: Request): Promise<DashboardAnswer> {
  const { language, id, query } = request;
  const story = await askStory(request, id, cursorIn(query, refundsBefore, 'refund'));
  if (story?.intent.id !== id) return errorPage(request, 'missing');
  const { intent, state } = story;
  return page(request, {
    title: formatAmount(intent.amount, intent.currency, language),
    actions: stateBadge(language, state),
    body: [
      ui.doneOf(request, doneTexts),
      payPart(request, story),
      detailsPart(request, story),
      refundPart(request, story),
      timelinePart(request, story),
      attemptsPart(request, story),
      refundsPart(request, story),
      cancelPart(request, story),
    ],
  });
}

/** How the customer can pay now: the code with its voucher, or the page for the card. */
function payPart({ language, say }: Request, { intent: { next_action: next } }: PaymentStory): Html | null {
  if (next === null) return null;
  if (next.type === 'redirect_to_url') {
    const { url } = next.redirect_to_url;
    return html`<div class="sheet actions">${ui.button(say('card_page'), url, 'quiet')}</div>`;
  }
  const { number, hosted_voucher_url: url, expires_at } = next.cash_display_details;
  return html`<div class="sheet stack">${ui.definitions([
    [say('code'), ui.copyable({ language }, codeText(number))],
    [say('ends'), ui.time(language, expires_at * 1000)],
  ])}<p>${ui.button(say('print_voucher'), url)}</p></div>`;
}

function cancelPart(request: Request, { intent, cancelable }: PaymentStory): Html | null {
  const { role, say } = request;
  if (!cancelable || !mayDo(role, 'payments.write')) return null;
  const choices = reasonChoices(request, givenCancellationReasons);
  const reason = ui.select(request, 'reason', choices, { name: 'cancellation_reason', fresh: true });
  const body = html`<p class="muted">${say('cancel_explained')}</p>${reason}${ui.finalSubmit(request, say('cancel'))}`;
  return ui.section(say('cancel'), ui.form(request, `payments/${intent.id}/cancel`, body));
}

async function cancelPayment(request: Request): Promise<DashboardAnswer> {
  const { id, form: sent } = request;
  const reason = sent.get('cancellation_reason');
  const params = reason ? { cancellation_reason: reason } : {};
  const answer = await request.api('cancel_payment_intent', { id, params });
  if (answer.ok) return redirect(viewLink(request, `payments/${id}`, { done: 'cancel' }));
  return showPayment(refused(request, { '': answer.error.message }, answer.status));
}

function detailsPart(request: Request, { intent, state, session, customer, reviews }: PaymentStory): Html {
  const { language, say } = request;
  const error = intent.last_payment_error;
  return ui.section(
    say('details'),
    ui.definitions([
      [say('payment'), ui.copyable(request, intent.id)],
      [say('created'), ui.time(language, intent.created * 1000)],
      [say('received'), ui.amount(language, intent.amount_received, intent.currency)],
      [say('why_failed'), state === 'failed' && error !== null ? failureText(language, error) : null],
      [say('description'), intent.description ?? session?.description ?? null],
      [say('reference'), session?.client_reference_id ?? null],
      [
        say('customer'),
        customer &&
          ui.linked(
            request,
            `customers/${customer.id}`,
            firstSeen(customer.name, customer.email, customer.id),
          ),
      ],
      [say('session'), session && ui.linked(request, `checkout/${session.id}`, session.id)],
      [
        say('reviews'),
        reviews.length === 0
          ? null
          : html`${reviews.map(({ id }) => html`<div>${ui.linked(request, `reviews/${id}`, id)}</div>`)}`,
      ],
      [say('metadata'), ui.metadata({ ...session?.metadata, ...intent.metadata })],
    ]),
  );
}

function timelinePart(request: Request, story: PaymentStory): Html {
  const { say } = request;
  const authorOf = createStepAuthors(request);
  return ui.section(
    say('timeline'),
    ui.table<Step>(
      say('timeline'),
      [
        [say('when'), ({ at_ms }) => ui.time(request.language, at_ms)],
        [say('what'), (step) => stepText(request, step)],
        [say('by'), authorOf],
      ],
      story.steps,
    ),
  );
}

function stepText(request: Request, { type, amount, currency, failure, event }: Step): Html | string {
  const { language, views, say } = request;
  const text =
    type in paymentMessages
      ? say(type as keyof typeof paymentMessages, {
          amount: formatAmount(amount, currency, language),
        })
      : type;
  const reason = failure && html` <span class="muted">${failureText(language, failure)}</span>`;
  if (event === null || !views.includes('events')) return html`${text}${reason}`;
  return html`<a href="${viewLink(request, `events/${event}`)}">${text}</a>${reason}`;
}

const tones: Readonly<Record<'pending' | 'succeeded' | 'failed', ui.Tone>> = {
  pending: 'warn',
  succeeded: 'good',
  failed: 'bad',
};

function attemptsPart({ language, say }: Request, { charges }: PaymentStory): Html | null {
  if (charges.length === 0) return null;
  return ui.section(
    say('attempts'),
    ui.table<PaymentStory['charges'][number]>(
      say('attempts'),
      [
        [say('attempt'), ({ id }) => id],
        [
          say('method'),
          ({ payment_method_details: details }) =>
            details.type === 'card'
              ? methodText(language, 'card', details.card, null)
              : methodText(language, 'cash', null, details.cash.number),
        ],
        [say('created'), ({ created }) => ui.time(language, created * 1000)],
        [
          say('outcome'),
          ({ status, failure_code: code, decline_code }) =>
            html`${ui.badge(say(status), tones[status])}${code && html` ${failureText(language, { code, decline_code })}`}`,
        ],
      ],
      charges,
    ),
  );
}

function refundsPart(request: Request, { intent, refunds, olderRefunds }: PaymentStory): Html | null {
  if (refunds.length === 0) return null;
  const { language, query, say } = request;
  const outcomes = { pending: 'pending', succeeded: 'made', failed: 'failed' } as const;
  const pages = ui.pager(request, `payments/${intent.id}`, {
    newer: query.has(refundsBefore) ? {} : null,
    older: olderRefunds === null ? null : { [refundsBefore]: olderRefunds },
  });
  return ui.section(say('refunds'), [
    ui.table<PaymentStory['refunds'][number]>(
      say('refunds'),
      [
        [say('amount'), (refund) => ui.amount(language, refund.amount, refund.currency)],
        [say('created'), ({ created }) => ui.time(language, created * 1000)],
        [say('reason'), ({ reason }) => (reason === null ? null : say(reason))],
        [
          say('outcome'),
          ({ status, failure_reason: failure }) =>
            html`${ui.badge(say(outcomes[status]), tones[status])}${failure && html` ${failure}`}`,
        ],
      ],
      refunds,
    ),
    ...(pages === null ? [] : [pages]),
  ]);
}

/** The refund form of a payment; null when nothing is refundable, or not by this member. */
function refundPart(request: Request, { intent, refundable }: PaymentStory): Html | null {
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
function reasonChoices(
  { say }: Request,
  reasons: readonly (typeof givenCancellationReasons)[number][],
): (readonly [value: string, text: string])[] {
  return [['', say('no_reason')], ...reasons.map((reason) => [reason, say(reason)] as const)];
}

async function confirmRefund(request: Request): Promise<DashboardAnswer> {
  const { id, language, query, say } = request;
  // It is empty for all that is left. Without one, nobody has asked for any.
  if (!query.has('amount')) return redirect(viewLink(request, `payments/${id}`));
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
    return again({ amount: say('refund_too_large', { amount: most }) });
  }
  const amount = formatAmount(centimes, intent.currency, language);
  const reason = reasonIn(query);
  return page(request, {
    title: say('refund'),
    body: html`<div class="sheet stack"><p><strong>${say('refund_question', { amount, to: destination(request, story) })}</strong></p>
<p class="muted">${say('refund_final')}</p>
${ui.definitions([
  [
    say('payment'),
    html`<a href="${viewLink(request, `payments/${id}`)}"><bdi>${firstSeen(intent.description, id)}</bdi></a>`,
  ],
  [say('left_after'), ui.amount(language, refundable - centimes, intent.currency)],
  [say('reason'), reason && say(reason)],
])}
${refundForm(request, centimes, query)}</div>`,
  });
}

function reasonIn(asked: URLSearchParams): RefundReason | null {
  return refundReasons.find((each) => each === asked.get('reason')) ?? null;
}

/** The form that pays back what was asked for. */
function refundForm(request: Request, centimes: number, asked: URLSearchParams): Html {
  const { id, language, say } = request;
  const path = `payments/${id}`;
  const amount = formatAmount(centimes, 'mad', language);
  return ui.form(
    request,
    `${path}/refund`,
    html`${ui.hidden('amount', (centimes / 100).toFixed(2))}${ui.hidden('reason', reasonIn(asked) ?? '')}<div class="actions">${ui.submit(say('refund_now', { amount }), 'danger')}${ui.button(say('refund_not'), viewLink(request, path), 'quiet')}</div>`,
  );
}

/** Where the money goes: the card that paid. */
function destination({ language }: Request, { charges }: PaymentStory): string {
  const details = charges.find(({ status }) => status === 'succeeded')?.payment_method_details;
  if (details?.type !== 'card' || details.card === null) return sayPayment({ language })('refund_to_card');
  // The digits of a card stand from left to right also in Arabic.
  return `\u2066${brandName(details.card.brand)} •••• ${details.card.last4}\u2069`;
}

async function refundPayment(request: Request): Promise<DashboardAnswer> {
  const { id, language, form: sent, say } = request;
  // The page that asks has filled it in.
  const centimes = parseAmount(sent.get('amount') ?? '');
  if (centimes === null) return showPayment(refused(request, { amount: say('amount_invalid') }));
  const reason = sent.get('reason') || undefined;
  const answer = await request.api('create_refund', {
    params: { payment_intent: id, amount: centimes, ...(reason && { reason }) },
  });
  if (answer.ok) return redirect(viewLink(request, `payments/${id}`, { done: 'refund' }));
  const { error, status } = answer;
  // It may have been made: only this form, with its key, makes it once. The shard may be away, so
  // nothing is asked of it.
  if (!isFinal(answer))
    return page(refused(request, { '': error.message }, status), {
      title: say('refund'),
      body: html`<div class="sheet stack"><p>${say('refund_open')}</p>${refundForm(request, centimes, sent)}</div>`,
    });
  const again = (name: string, problem: string) => showPayment(refused(request, { [name]: problem }, status));
  if (error.code !== 'amount_too_large')
    return again(error.param === 'amount' ? 'amount' : '', error.message);
  // The API's message names the rest in centimes, and this one in dirhams.
  const most = (await askStory(request, id))?.refundable ?? 0;
  return again('amount', say('refund_too_large', { amount: formatAmount(most, 'mad', language) }));
}
