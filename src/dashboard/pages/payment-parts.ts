// The parts that the pages about money share: the table of payments, and how statuses and methods
// are called.

import { amountMax, methodAmountMin } from '../../contract/limits.ts';
import { type Language, type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { timeOfId } from '../../core/ids.ts';
import { formatAmount, parseAmount } from '../../core/money.ts';
import { firstSeen } from '../../core/shown-text.ts';
import type { Failed, FoundPayment, FoundPayments } from '../../domain/payment-search.ts';
import type { PaymentState } from '../../domain/payment-state.ts';
import { type Html, html } from '../../html/html.ts';
import { brandName } from '../../html/marks.ts';
import { availableIn } from '../../networks/connectors.ts';
import * as ui from '../layout/components.ts';
import { viewLink } from '../layout/links.ts';
import type { ViewRequest } from '../layout/row.ts';
import { sayPayment } from '../messages/payments.ts';

const tones: Readonly<Record<PaymentState, ui.Tone>> = {
  requires_payment_method: 'plain',
  failed: 'bad',
  requires_action: 'warn',
  processing: 'warn',
  succeeded: 'good',
  partly_refunded: 'plain',
  refunded: 'plain',
  canceled: 'plain',
};

export function stateBadge(language: Language, state: PaymentState): Html {
  return ui.badge(sayPayment({ language })(state), tones[state]);
}

/** Why an attempt to pay failed, in the merchant's language. */
export function failureText(language: Language, { code, decline_code }: Failed): string {
  const say = sayPayment({ language });
  return code === 'card_declined' ? say(decline_code ?? 'generic_decline') : say(code);
}

/** The methods that customers can pay by: each has a network and is switched on. */
export function availableMethods({ organization, mode }: ViewRequest): PaymentMethodType[] {
  const available = availableIn(organization.connectors, mode);
  return paymentMethodTypes.filter((method) => available[method] && organization.methods[mode][method]);
}

/** The field for an amount in dirhams, as people type it. Without a hint it is required. */
export function amountField(request: ViewRequest, hint?: string): Html {
  return ui.field({ ...request, say: sayPayment(request) }, 'amount_dirhams', {
    name: 'amount',
    attributes: html`inputmode="decimal" autocomplete="off"`,
    ...(hint === undefined ? { required: true } : { hint }),
  });
}

/** The centimes of the amount typed for a payment by these methods, or what is wrong with it. */
export function typedAmount(
  { form, language }: Pick<ViewRequest, 'form' | 'language'>,
  methods: readonly PaymentMethodType[],
): number | string {
  const say = sayPayment({ language });
  const centimes = parseAmount(form.get('amount') ?? '');
  const least = Math.max(0, ...methods.map((method) => methodAmountMin[method]));
  const shown = (bound: number) => ({ amount: formatAmount(bound, 'mad', language) });
  if (centimes === null) return say('amount_invalid');
  if (centimes < least) return say('amount_too_small', shown(least));
  return centimes > amountMax ? say('amount_above_max', shown(amountMax)) : centimes;
}

/** How a payment is paid: the method, with the card's brand and last digits, or the cash code. */
export function methodText(
  language: Language,
  method: PaymentMethodType | null,
  card: FoundPayment['card'],
  cashNumber: string | null,
): Html | null {
  const say = sayPayment({ language });
  if (method === null) return null;
  const detail =
    card === null ? cashNumber && codeText(cashNumber) : `${brandName(card.brand)} •••• ${card.last4}`;
  return html`${say(method)}${detail && html` <bdi class="muted" dir="ltr">${detail}</bdi>`}`;
}

/** A cash code as it is printed on the voucher. */
export function codeText(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}

/** A link to a payment, named by what is known of it. */
export function paymentLink(request: ViewRequest, id: string, text = id): Html {
  return ui.linked(request, `payments/${id}`, text);
}

/** Payments as a table, with a link to the older ones. `path` and `query` are those of the page. */
export function paymentsTable(
  request: ViewRequest,
  { payments, stoppedAt }: FoundPayments,
  options: {
    readonly caption: string;
    readonly limit: number;
    readonly path: string;
    readonly query: Readonly<Record<string, string>>;
    readonly empty: string;
  },
): Html {
  const { language } = request;
  const say = sayPayment(request);
  const { caption, limit, path, query, empty } = options;
  const older = stoppedAt === null ? null : { ...query, before: stoppedAt };
  const isWhole = stoppedAt === null || payments.length === limit;
  const rows = ui.list<FoundPayment>(
    caption,
    [
      [
        say('payment'),
        ({ id, description, reference }) => paymentLink(request, id, firstSeen(description, reference, id)),
      ],
      [say('amount'), (payment) => ui.amount(language, payment.amount, payment.currency), 'numeric'],
      [
        say('status'),
        ({ state, failure }) =>
          html`${stateBadge(language, state)}${failure && html` <span class="muted">${failureText(language, failure)}</span>`}`,
      ],
      [say('method'), ({ method, card, cash_number }) => methodText(language, method, card, cash_number)],
      [say('created'), ({ created }) => ui.time(language, created * 1000)],
    ],
    payments,
  );
  const list = payments.length === 0 ? ui.emptyState(empty) : rows;
  if (isWhole) return html`${list}${ui.pager(request, path, { newer: null, older })}`;
  // Only some of the payments were looked at.
  const date = ui.time(language, timeOfId(stoppedAt));
  const [before, after] = say('searched_to', { date: '|' }).split('|') as [string, string];
  return html`${list}<p>${before}${date}${after} <a href="${viewLink(request, path, older!)}">${say('search_on')}</a></p>`;
}
