// How exports look as CSV (RFC 4180): which fields of a resource are columns, in which order, and how a value becomes
// a cell. Exports are written with it, and their description shows it.

import type { ExportOperation } from './routes/table.ts';

export const exportColumns: Readonly<Record<ExportOperation, readonly string[]>> = {
  export_payment_intents: [
    'id',
    'created',
    'livemode',
    'amount',
    'amount_received',
    'currency',
    'status',
    'payment_method_types',
    'latest_charge',
    'customer',
    'description',
    'canceled_at',
    'cancellation_reason',
    'checkout_session',
    'metadata',
  ],
  export_charges: [
    'id',
    'created',
    'livemode',
    'amount',
    'amount_refunded',
    'currency',
    'status',
    'paid',
    'refunded',
    'failure_code',
    'failure_message',
    'decline_code',
    'payment_intent',
    'payment_method_details',
    'metadata',
  ],
  export_refunds: [
    'id',
    'created',
    'livemode',
    'amount',
    'currency',
    'charge',
    'payment_intent',
    'reason',
    'status',
    'failure_reason',
    'metadata',
  ],
};

export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** What a spreadsheet takes for the start of a formula (OWASP, "CSV Injection"). */
const formulaStart = /^[=+\-@\t\r]/;

/**
 * What is nested is JSON text. A text that a spreadsheet would run as a formula gets a leading `'`, because others than
 * the merchant write some of the texts; all other texts stand as they are.
 */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const exact = typeof value === 'string' ? value : JSON.stringify(value);
  const text = formulaStart.test(exact) ? `'${exact}` : exact;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
