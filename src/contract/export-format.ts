// Exports as CSV (RFC 4180): which fields of a resource are columns, in which order, and how a
// value becomes a cell. The OpenAPI document describes exports from the same table.

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

export function csvLine(values: readonly unknown[], separator: ',' | ';' = ','): string {
  return `${values.map(csvCell).join(separator)}\r\n`;
}

/** What begins a formula to a spreadsheet (OWASP, "CSV Injection"), or is skipped before one. */
const formulaStarts: ReadonlySet<string> = new Set('=+-@＝＋－＠\t\r\0');

/**
 * Nested values are JSON text. A text that a spreadsheet would run as a formula gets a leading `'`,
 * because some texts are written by people other than the merchant. One with `;` or a tab is
 * quoted, because a spreadsheet in French, or LibreOffice, splits there.
 */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const exact = typeof value === 'string' ? value : JSON.stringify(value);
  const text = formulaStarts.has(exact.charAt(0)) ? `'${exact}` : exact;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
