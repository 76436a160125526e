// One payment: what is known of it and what happened to it, with the form that cancels it.

import { formatAmount } from '../../core/money.ts';
import type { PaymentStory, Step } from '../../domain/payment-story.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, refused, type Saying, saying } from '../layout/row.ts';
import { paymentMessages, sayPayment } from '../messages/payments.ts';
import { mayDo } from '../people/roles.ts';
import { cursorIn } from './own-record.ts';
import { codeText, failureText, methodText, stateBadge } from './payment-parts.ts';
import { askStory, perform } from './payment-questions.ts';
import { reasonChoices, refundPart, refundRows } from './refund.ts';
import { createStepAuthors } from './step-authors.ts';

type Request = Saying<typeof sayPayment>;

export const paymentRows: readonly Row[] = saying(sayPayment, [
  get('payments/{id}', 'payments.read', showPayment),
  post('payments/{id}/cancel', 'payments.write', cancelPayment),
  ...refundRows(showPayment),
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

const cancelReasons = ['requested_by_customer', 'abandoned', 'duplicate', 'fraudulent'] as const;

function cancelPart(request: Request, { intent, cancelable }: PaymentStory): Html | null {
  const { role, say } = request;
  if (!cancelable || !mayDo(role, 'payments.write')) return null;
  const choices = reasonChoices(request, cancelReasons);
  const reason = ui.select(request, 'reason', choices, { name: 'cancellation_reason', fresh: true });
  const body = html`<p class="muted">${say('cancel_explained')}</p>${reason}${ui.finalSubmit(request, say('cancel'))}`;
  return ui.section(say('cancel'), ui.form(request, `payments/${intent.id}/cancel`, body));
}

async function cancelPayment(request: Request): Promise<DashboardAnswer> {
  const { id, form: sent } = request;
  const reason = sent.get('cancellation_reason');
  const params = reason ? { cancellation_reason: reason } : {};
  const answer = await perform(request, 'cancel_payment_intent', { id, params });
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
          ui.linked(request, `customers/${customer.id}`, customer.name ?? customer.email ?? customer.id),
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

function stepText(request: Request, { type, amount, failure, event }: Step): Html | string {
  const { language, views, say } = request;
  const text =
    type in paymentMessages
      ? say(type as keyof typeof paymentMessages, {
          amount: formatAmount(amount, 'mad', language),
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
        [say('attempt'), ({ id }) => html`<bdi>${id}</bdi>`],
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
