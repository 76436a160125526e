// The parts that the rooms about money share: the table of payments, and how statuses and methods are called.

import { methodAmountMin } from '../../contract/limits.ts';
import type { Language, PaymentMethodType } from '../../contract/vocabulary.ts';
import { timeOfId } from '../../core/ids.ts';
import { formatAmount } from '../../core/money.ts';
import type { FoundPayment, FoundPayments } from '../../domain/payment-search.ts';
import { type Html, html } from '../../html/html.ts';
import { brandName } from '../../html/marks.ts';
import type { ApiError } from '../../operator/use-cases/services.ts';
import {
  amount,
  badge,
  emptyState,
  field,
  type Problems,
  pager,
  type Tone,
  table,
  time,
} from '../layout/components.ts';
import { roomLink } from '../layout/links.ts';
import type { Visit } from '../layout/row.ts';
import { sayPayment } from '../messages/payments.ts';

const tones: Readonly<Record<FoundPayment['status'], Tone>> = {
  requires_payment_method: 'plain',
  requires_action: 'warn',
  processing: 'warn',
  succeeded: 'good',
  canceled: 'plain',
};
export const paymentStatuses = Object.keys(tones) as FoundPayment['status'][];

export function statusBadge(
  language: Language,
  { status, amount, amount_refunded }: Pick<FoundPayment, 'status' | 'amount' | 'amount_refunded'>,
): Html {
  if (amount_refunded === 0) return badge(sayPayment(status, language), tones[status]);
  return badge(sayPayment(amount_refunded === amount ? 'refunded' : 'partly_refunded', language));
}

/** The field for an amount in dirhams, as people type it, with what was typed. Without a hint it has to be filled in. */
export function amountField({ language, form: sent }: Visit, problems: Problems, hint?: string): Html {
  return field({
    name: 'amount',
    label: sayPayment('amount_dirhams', language),
    value: sent.get('amount') ?? '',
    problems,
    attributes: html`inputmode="decimal" autocomplete="off"`,
    ...(hint === undefined ? { required: true } : { hint }),
  });
}

/** Why an amount was refused, in dirhams: messages of the API are for programs and count in centimes. */
export function amountProblem(
  language: Language,
  { code, message }: Pick<ApiError, 'code' | 'message'>,
  { methods, most = 0 }: { readonly methods: readonly PaymentMethodType[]; readonly most?: number },
): string {
  const say = (centimes: number) =>
    sayPayment(code as 'amount_too_small' | 'amount_too_large', language, {
      amount: formatAmount(centimes, 'mad', language),
    });
  if (code === 'amount_too_small') return say(Math.max(...methods.map((method) => methodAmountMin[method])));
  return code === 'amount_too_large' ? say(most) : message;
}

/** How a payment is paid: the method, with the brand and the last digits of a card, or the code for cash. */
export function methodText(
  language: Language,
  method: PaymentMethodType | null,
  card: FoundPayment['card'],
  cashNumber: string | null,
): Html | null {
  if (method === null) return null;
  const detail =
    card === null ? cashNumber && codeText(cashNumber) : `${brandName(card.brand)} •••• ${card.last4}`;
  return html`${sayPayment(method, language)}${detail && html` <bdi class="muted" dir="ltr">${detail}</bdi>`}`;
}

/** A cash code as it is printed on the voucher. */
export function codeText(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}

/** A link to a payment, named by what is known of it. */
export function paymentLink(visit: Visit, id: string, text = id): Html {
  return html`<a href="${roomLink(visit, `payments/${id}`)}"><bdi>${text}</bdi></a>`;
}

/** Payments as a table, with a link to the older ones. `path` and `query` are those of the page. */
export function paymentsTable(
  visit: Visit,
  { payments, stoppedAt }: FoundPayments,
  options: {
    readonly caption: string;
    readonly limit: number;
    readonly path: string;
    readonly query: Readonly<Record<string, string>>;
    readonly empty: string;
  },
): Html {
  const { language } = visit;
  const { caption, limit, path, query, empty } = options;
  const older = stoppedAt === null ? null : { ...query, before: stoppedAt };
  const isWhole = stoppedAt === null || payments.length === limit;
  const rows = table<FoundPayment>(
    caption,
    [
      {
        heading: sayPayment('payment', language),
        cell: ({ id, description, reference }) => paymentLink(visit, id, description ?? reference ?? id),
      },
      {
        heading: sayPayment('amount', language),
        cell: (payment) => amount(language, payment.amount, payment.currency),
        numeric: true,
      },
      { heading: sayPayment('status', language), cell: (payment) => statusBadge(language, payment) },
      {
        heading: sayPayment('method', language),
        cell: ({ method, card, cash_number }) => methodText(language, method, card, cash_number),
      },
      { heading: sayPayment('created', language), cell: ({ created }) => time(language, created * 1000) },
    ],
    payments,
  );
  const list = payments.length === 0 ? emptyState(empty) : rows;
  if (isWhole) return html`${list}${pager(visit, path, { newer: null, older })}`;
  // Only some of the payments were looked at.
  const date = time(language, timeOfId(stoppedAt));
  const [before, after] = sayPayment('searched_to', language, { date: '|' }).split('|') as [string, string];
  return html`${list}<p>${before}${date}${after} <a href="${roomLink(visit, path, older!)}">${sayPayment('search_on', language)}</a></p>`;
}
