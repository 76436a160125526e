// Exports for people, such as an accountant: amounts in dirhams, times in Morocco, words for what
// the API has codes for. Times have the year first, because some programs for tables take the 5 of
// `05/11/2026` for the month. The headings and words are given, in the language of whoever asked.

import { csvLine } from '../contract/export-format.ts';
import type { ExportOperation } from '../contract/routes/table.ts';
import {
  declineCodes,
  failureCodes,
  languages,
  paymentMethodTypes,
  refundReasons,
} from '../contract/vocabulary.ts';
import { lazily } from '../core/lazily.ts';
import { moroccoTimeAt } from '../core/morocco-day.ts';
import { required } from './find.ts';
import { paymentState, paymentStates } from './payment-state.ts';
import type { ChargeRecord, PaymentIntentRecord, RefundRecord } from './record.ts';
import type { View } from './view.ts';

const columnsOf = {
  export_payment_intents: [
    'created',
    'payment',
    'description',
    'reference',
    'customer',
    'status',
    'method',
    'paid_with',
    'amount',
    'received',
    'refunded',
    'currency',
    'settled',
  ],
  export_charges: [
    'created',
    'payment',
    'attempt',
    'method',
    'paid_with',
    'amount',
    'refunded',
    'currency',
    'status',
    'reason',
    'settled',
  ],
  export_refunds: [
    'created',
    'payment',
    'refund_id',
    'paid_with',
    'amount',
    'currency',
    'status',
    'reason',
    'settled',
  ],
} as const satisfies Readonly<Record<ExportOperation, readonly string[]>>;

type SheetColumn = (typeof columnsOf)[ExportOperation][number];
export const sheetColumns: readonly SheetColumn[] = [...new Set(Object.values(columnsOf).flat())];

export const sheetWords = [
  ...paymentStates,
  ...paymentMethodTypes,
  ...failureCodes,
  ...declineCodes,
  ...refundReasons,
  'pending',
  'made',
] as const;
type SheetWord = (typeof sheetWords)[number];

export interface Sheet {
  readonly headings: Readonly<Record<SheetColumn, string>>;
  readonly words: Readonly<Record<SheetWord, string>>;
  /** Programs for tables in French and Arabic split cells at `;`, and amounts have a comma. */
  readonly separator: ',' | ';';
}

/** With this before it, programs for tables read a file as UTF-8. */
const byteOrderMark = '\ufeff';

export function sheetHead(operation: ExportOperation, sheet: Sheet): string {
  const headings = columnsOf[operation].map((column) => sheet.headings[column]);
  return byteOrderMark + csvLine(headings, sheet.separator);
}

export function sheetLine(
  view: View,
  operation: ExportOperation,
  record: PaymentIntentRecord | ChargeRecord | RefundRecord,
  sheet: Sheet,
): string {
  const cells: Cells = cellsOf(view, record, sheet);
  return csvLine(
    columnsOf[operation].map((column) => cells[column]),
    sheet.separator,
  );
}

type Cells = Readonly<Partial<Record<SheetColumn, string | null>>>;

function cellsOf(view: View, record: PaymentIntentRecord | ChargeRecord | RefundRecord, sheet: Sheet): Cells {
  const dirhams = (centimes: number) => dirhamText(centimes, sheet);
  const shared = {
    created: moroccoTimeAt(record.created * 1000),
    amount: dirhams(record.amount),
    currency: record.currency.toUpperCase(),
  };
  switch (record.kind) {
    case 'payment_intent':
      return { ...shared, ...paymentCells(view, record, sheet) };
    case 'charge':
      return {
        ...shared,
        payment: record.payment_intent,
        attempt: record.id,
        method: sheet.words[record.method],
        paid_with: paidWith(record),
        refunded: dirhams(record.amount_refunded),
        status: sheet.words[record.status],
        reason: failureWord(record, sheet),
        settled: settledText(record),
      };
    case 'refund':
      return {
        ...shared,
        payment: record.payment_intent,
        refund_id: record.id,
        paid_with: paidWith(required(view, 'charge', record.charge)),
        status: sheet.words[record.status === 'succeeded' ? 'made' : record.status],
        reason: record.reason && sheet.words[record.reason],
        settled: settledText(record),
      };
  }
}

function paymentCells(view: View, intent: PaymentIntentRecord, sheet: Sheet): Cells {
  const charge = intent.latest_charge === null ? undefined : required(view, 'charge', intent.latest_charge);
  const session = intent.checkout_session && required(view, 'checkout_session', intent.checkout_session);
  const customer = intent.customer && required(view, 'customer', intent.customer);
  const refunded = charge?.amount_refunded ?? 0;
  return {
    payment: intent.id,
    description: plainText(intent.description ?? (session ? session.description : null)),
    reference: plainText(session ? session.client_reference_id : null),
    customer: plainText(customer ? (customer.name ?? customer.email ?? customer.id) : null),
    status: sheet.words[paymentState(intent, refunded)],
    method: charge === undefined ? null : sheet.words[charge.method],
    paid_with: charge === undefined ? null : paidWith(charge),
    received: dirhamText(intent.amount_received, sheet),
    refunded: dirhamText(refunded, sheet),
    settled: charge === undefined || intent.status !== 'succeeded' ? null : settledText(charge),
  };
}

/** When the money came or went back: the day by which the dashboard and statements count it. */
function settledText({ status, settled_at_ms: ms }: ChargeRecord | RefundRecord): string | null {
  return status === 'succeeded' && ms !== null ? moroccoTimeAt(ms) : null;
}

/**
 * Programs for tables read `00123` as 123, `2026-11` and `Mars 2026` as a month, and long numbers
 * inexactly. A `'` before such a text keeps it, as it does before a formula.
 */
function plainText(text: string | null): string | null {
  if (text === null || /^(?:0|[1-9]\d{0,10})$/.test(text)) return text;
  if (!/\d/.test(text) || !/^[\d\s.,:/%+\p{L}\p{M}-]+$/u.test(text)) return text;
  const words = unaccented(text).match(/\p{L}+/gu) ?? [];
  return words.every(isOfNumberOrDay) ? `'${text}` : text;
}

/** The exponent of a number, half a day, or a month, which may be cut after its third letter. */
function isOfNumberOrDay(word: string): boolean {
  if (/^(?:e|am|pm)$/.test(word)) return true;
  return word.length >= 3 && monthNames().some((name) => name.startsWith(word));
}

const monthNames = lazily(() =>
  [...languages, 'ar-MA'].flatMap((language) => {
    const month = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
    return Array.from({ length: 12 }, (_, at) => unaccented(month.format(Date.UTC(2026, at))));
  }),
);

function unaccented(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/**
 * The card, or the code for cash with hyphens, so that no program takes it for a number: between
 * spaces a French Excel does.
 */
function paidWith({ card, cash_number }: ChargeRecord): string | null {
  if (card !== null) return `${card.brand} ${card.last4}`;
  return cash_number === null ? null : cash_number.replace(/(\d{4})(?=\d)/g, '$1-');
}

function failureWord({ failure_code, decline_code }: ChargeRecord, { words }: Sheet): string | null {
  if (failure_code === null) return null;
  return words[failure_code === 'card_declined' ? (decline_code ?? 'generic_decline') : failure_code];
}

/** `1194.56`, with a comma where cells are split at `;`. */
function dirhamText(centimes: number, { separator }: Sheet): string {
  const digits = String(centimes).padStart(3, '0');
  return `${digits.slice(0, -2)}${separator === ';' ? ',' : '.'}${digits.slice(-2)}`;
}
