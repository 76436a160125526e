// Exports: all objects of a kind, newest first, as CSV or NDJSON. An export is read in pages of
// bounded size, each a range over the index from the end of the last one, so that a slow reader
// holds nothing in memory.

import { csvLine, exportColumns } from '../contract/export-format.ts';
import type { ExportOperation } from '../contract/routes/table.ts';
import { pieceSize } from '../core/piece-size.ts';
import { type Sheet, sheetHead, sheetLine } from './export-sheet.ts';
import { required } from './find.ts';
import type { ListedKind } from './indexes.ts';
import { filtered, type ListParams } from './list-pages.ts';
import { type PaymentSearch, searchedIn } from './payment-search.ts';
import * as present from './present.ts';
import { presentIntent, type QueryContext } from './query.ts';
import type { ChargeRecord, PaymentIntentRecord, RefundRecord } from './record.ts';
import type { View } from './view.ts';

export const pageRecordsMax = pieceSize(500);
/** With filters, so many records are looked at for a page, which may stay empty. */
export const pageExaminedMax = pieceSize(200);
/** A page is full when its text is this long; its last row may go beyond. */
const pageCharactersMax = 128 * 1024;

interface ExportPage {
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

/** What an export in the dashboard is asked besides the parameters of the API's. */
export interface ExportOptions {
  /** Only what belongs to payments that pass these filters, those of time apart. */
  readonly search?: PaymentSearch | undefined;
  /** Written for people; otherwise exactly as the API does. */
  readonly sheet?: Sheet | undefined;
}

/** The page after `cursor` (empty: the first one, with the column names in CSV). */
export function exportPage(
  view: View,
  operation: ExportOperation,
  params: ListParams & { readonly format?: 'csv' | 'ndjson' },
  context: QueryContext,
  cursor: string,
  { search, sheet }: ExportOptions = {},
): ExportPage {
  const kind = kinds[operation];
  const names = exportColumns[operation];
  const csv = params.format !== 'ndjson';
  const range = { ...params, descending: true, ...(cursor !== '' && { starting_after: cursor }) };
  const lineOf = (record: Exported) => {
    if (sheet !== undefined) return sheetLine(view, operation, record, sheet);
    const row = rowOf(record, view, context);
    return csv ? csvLine(names.map((name) => row[name])) : `${JSON.stringify(row)}\n`;
  };
  const isOfSearch = search && searchedIn(view, search);
  const isSearched = (record: Exported) => isOfSearch?.(paymentOf(view, record)) ?? true;
  const recordsMax = search === undefined ? pageRecordsMax : pageExaminedMax;
  let text = cursor === '' && csv ? (sheet === undefined ? csvLine(names) : sheetHead(operation, sheet)) : '';
  let count = 0;
  let last = '';
  for (const record of filtered(view, context, kind, range, {})) {
    if (count === recordsMax || text.length >= pageCharactersMax) return { text, cursor: last };
    if (isSearched(record)) text += lineOf(record);
    last = record.id;
    count++;
  }
  return { text, cursor: null };
}

function paymentOf(view: View, record: Exported): PaymentIntentRecord {
  return record.kind === 'payment_intent' ? record : required(view, 'payment_intent', record.payment_intent);
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
