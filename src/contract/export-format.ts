// How exports look as CSV (RFC 4180): which fields of a resource are columns, in which order, and how a value becomes
// a cell. Exports are written with it, and their description shows it.

import type { ExportOperation } from './routes.ts';

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

/** Texts stand as they are: CSV and NDJSON say the same. What is nested is JSON text. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
