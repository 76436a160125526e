// Exports: all objects of a kind, newest first, as CSV (RFC 4180) or NDJSON. Handed out in pages, each a range over
// the index from where the last one ended, so that nothing is held while a slow reader takes its time.

import type { ExportOperation } from '../contract/routes.ts';
import type { Caller } from './find.ts';
import { filtered, type PageParams } from './pages.ts';
import * as present from './present.ts';
import { presentIntent, type QueryContext } from './query.ts';
import type { ChargeRecord, PaymentIntentRecord, RefundRecord } from './record.ts';
import type { View } from './state.ts';

const pageRecords = 500;

export interface ExportPage {
  readonly text: string;
  /** Where the next page starts; null when this is the last one. */
  readonly cursor: string | null;
}

type Exported = PaymentIntentRecord | ChargeRecord | RefundRecord;
type Row = Readonly<Record<string, unknown>>;

const exportsByOperation = {
  export_payment_intents: {
    kind: 'payment_intent',
    prefix: 'pi',
    columns:
      'id,created,livemode,amount,amount_received,currency,status,payment_method_types,latest_charge,customer,description,canceled_at,cancellation_reason,checkout_session,metadata',
  },
  export_charges: {
    kind: 'charge',
    prefix: 'ch',
    columns:
      'id,created,livemode,amount,amount_refunded,currency,status,paid,refunded,failure_code,failure_message,decline_code,payment_intent,payment_method_details,metadata',
  },
  export_refunds: {
    kind: 'refund',
    prefix: 're',
    columns:
      'id,created,livemode,amount,currency,charge,payment_intent,reason,status,failure_reason,metadata',
  },
} as const satisfies Record<ExportOperation, { kind: string; prefix: string; columns: string }>;

/** The page after `cursor` (empty: the first one, with the column names in CSV). */
export function exportPage(
  view: View,
  operation: ExportOperation,
  params: PageParams & { readonly format?: 'csv' | 'ndjson' },
  context: QueryContext,
  cursor: string,
): ExportPage {
  const { kind, prefix, columns } = exportsByOperation[operation];
  const names = columns.split(',');
  const csv = params.format !== 'ndjson';
  const range = { ...params, descending: true, ...(cursor !== '' && { starting_after: cursor }) };
  let text = csv && cursor === '' ? csvLine(names) : '';
  let count = 0;
  let last = '';
  for (const record of filtered(view, context as Caller, kind, prefix, range, {})) {
    if (count === pageRecords) return { text, cursor: last };
    const row = rowOf(record, view, context);
    text += csv ? csvLine(names.map((name) => row[name])) : `${JSON.stringify(row)}\n`;
    last = record.id;
    count++;
  }
  return { text, cursor: null };
}

function rowOf(record: Exported, view: View, context: QueryContext): Row {
  switch (record.kind) {
    case 'payment_intent':
      return presentIntent(record, view, context);
    case 'charge':
      return present.presentCharge(record);
    case 'refund':
      return present.presentRefund(record);
  }
}

function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

/** Texts stand as they are: CSV and NDJSON say the same. */
function csvField(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
