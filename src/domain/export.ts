// Exports: all objects of a kind, newest first, as CSV or NDJSON. An export is read in pages of
// bounded size, each a range over the index from the end of the last one, so that a slow reader
// holds nothing in memory.

import { csvLine, exportColumns } from '../contract/export-format.ts';
import type { ExportOperation } from '../contract/routes/table.ts';
import type { ListedKind } from './indexes.ts';
import { filtered, type PageParams } from './pages.ts';
import * as present from './present.ts';
import { presentIntent, type QueryContext } from './query.ts';
import type { ChargeRecord, PaymentIntentRecord, RefundRecord } from './record.ts';
import type { View } from './view.ts';

const pageRecordsMax = 500;
/** A page is full when its text is this long; its last row may go beyond. */
const pageCharactersMax = 128 * 1024;

export interface ExportPage {
  readonly text: string;
  /** Where the next page starts; null when this is the last one. */
  readonly cursor: string | null;
}

type Exported = PaymentIntentRecord | ChargeRecord | RefundRecord;
type Row = Readonly<Record<string, unknown>>;

const kinds = {
  export_payment_intents: 'payment_intent',
  export_charges: 'charge',
  export_refunds: 'refund',
} as const satisfies Record<ExportOperation, ListedKind>;

/** The page after `cursor` (empty: the first one, with the column names in CSV). */
export function exportPage(
  view: View,
  operation: ExportOperation,
  params: PageParams & { readonly format?: 'csv' | 'ndjson' },
  context: QueryContext,
  cursor: string,
): ExportPage {
  const kind = kinds[operation];
  const names = exportColumns[operation];
  const csv = params.format !== 'ndjson';
  const range = { ...params, descending: true, ...(cursor !== '' && { starting_after: cursor }) };
  let text = csv && cursor === '' ? csvLine(names) : '';
  let count = 0;
  let last = '';
  for (const record of filtered(view, context, kind, range, {})) {
    if (count === pageRecordsMax || text.length >= pageCharactersMax) return { text, cursor: last };
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
