// Exports: as the API has them, and as tables for people.

import { csvLine, exportColumns } from '../../../src/contract/export-format.ts';
import type { ExportOperation } from '../../../src/contract/routes/table.ts';
import { moroccoTimeAt } from '../../../src/core/morocco-day.ts';
import { type ExportOptions, pageExaminedMax, pageRecordsMax } from '../../../src/domain/export.ts';
import type { Sheet } from '../../../src/domain/export-sheet.ts';
import type { RecordOf } from '../../../src/domain/record.ts';
import { fitsSearch, stateOf } from './pages.ts';
import type { Params } from './payments.ts';
import { fittingOf, show } from './queries.ts';
import type { Turn } from './turn.ts';

type Exported = RecordOf<'payment_intent'> | RecordOf<'charge'> | RecordOf<'refund'>;

const kinds = {
  export_payment_intents: 'payment_intent',
  export_charges: 'charge',
  export_refunds: 'refund',
} as const;
const headings: Readonly<Record<ExportOperation, string>> = {
  export_payment_intents:
    'created payment description reference customer status method paid_with amount received refunded currency settled',
  export_charges: 'created payment attempt method paid_with amount refunded currency status reason settled',
  export_refunds: 'created payment refund_id paid_with amount currency status reason settled',
};

/** A page of an export from a cursor on; none here is so long that its text ends it. */
export function exported(
  turn: Turn,
  operation: ExportOperation,
  params: Params,
  cursor: string,
  { search, sheet }: ExportOptions,
): { readonly text: string; readonly cursor: string | null } {
  const isCsv = params.format !== 'ndjson';
  const all = fittingOf(turn, kinds[operation], [], params) as Exported[];
  const rest = all.filter(({ id }) => cursor === '' || id < cursor);
  const page = rest.slice(0, search === undefined ? pageRecordsMax : pageExaminedMax);
  const lines = page
    .filter((record) => search === undefined || fitsSearch(turn, paymentOf(turn, record), search))
    .map((record) => lineOf(turn, operation, record, isCsv, sheet));
  if (cursor === '' && isCsv) lines.unshift(head(operation, sheet));
  return { text: lines.join(''), cursor: page.length < rest.length ? (page.at(-1)?.id ?? null) : null };
}

function head(operation: ExportOperation, sheet: Sheet | undefined): string {
  if (sheet === undefined) return csvLine(exportColumns[operation]);
  const names = headings[operation].split(' ') as (keyof Sheet['headings'])[];
  return `\ufeff${csvLine(
    names.map((name) => sheet.headings[name]),
    sheet.separator,
  )}`;
}

function paymentOf(turn: Turn, record: Exported): RecordOf<'payment_intent'> {
  return record.kind === 'payment_intent' ? record : turn.the('payment_intent', record.payment_intent);
}

function lineOf(
  turn: Turn,
  operation: ExportOperation,
  record: Exported,
  isCsv: boolean,
  sheet: Sheet | undefined,
): string {
  if (sheet !== undefined) {
    const cells = cellsOf(turn, record, sheet);
    return csvLine(
      headings[operation].split(' ').map((name) => cells[name] ?? null),
      sheet.separator,
    );
  }
  const row = show(turn, record) as Readonly<Record<string, unknown>>;
  if (!isCsv) return `${JSON.stringify(row)}\n`;
  return csvLine(exportColumns[operation].map((name) => row[name]));
}

function cellsOf(turn: Turn, record: Exported, { words, separator }: Sheet): Record<string, string | null> {
  const dirhams = (centimes: number) =>
    (centimes / 100).toFixed(2).replace('.', separator === ';' ? ',' : '.');
  const shared = {
    created: moroccoTimeAt(record.created * 1000),
    amount: dirhams(record.amount),
    currency: record.currency.toUpperCase(),
  };
  if (record.kind === 'payment_intent') {
    const charge = turn.get('charge', record.latest_charge);
    const session = turn.get('checkout_session', record.checkout_session);
    const customer = turn.get('customer', record.customer);
    const refunded = charge?.amount_refunded ?? 0;
    return {
      ...shared,
      payment: record.id,
      description: guarded(record.description ?? session?.description),
      reference: guarded(session?.client_reference_id),
      customer: guarded(customer?.name ?? customer?.email ?? customer?.id),
      status: words[stateOf(record, refunded)],
      method: charge === undefined ? null : words[charge.method],
      paid_with: charge === undefined ? null : paidWith(charge),
      received: dirhams(record.amount_received),
      refunded: dirhams(refunded),
      settled: record.status === 'succeeded' && charge !== undefined ? settled(charge) : null,
    };
  }
  if (record.kind === 'charge') {
    const { failure_code: code, decline_code } = record;
    const reason = code === 'card_declined' ? (decline_code ?? 'generic_decline') : code;
    return {
      ...shared,
      ...{ payment: record.payment_intent, attempt: record.id, method: words[record.method] },
      paid_with: paidWith(record),
      refunded: dirhams(record.amount_refunded),
      status: words[record.status],
      reason: reason === null ? null : words[reason],
      settled: settled(record),
    };
  }
  const { reason } = record;
  return {
    ...shared,
    ...{ payment: record.payment_intent, refund_id: record.id },
    paid_with: paidWith(turn.the('charge', record.charge)),
    status: words[record.status === 'succeeded' ? 'made' : record.status],
    reason: reason === null ? null : words[reason],
    settled: settled(record),
  };
}

function settled({ status, settled_at_ms: ms }: RecordOf<'charge'> | RecordOf<'refund'>): string | null {
  return status === 'succeeded' && ms !== null ? moroccoTimeAt(ms) : null;
}

/** A text that is made of digits and signs, but is no short whole number. */
function guarded(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const isOfSigns = [...text].every((character) => /[\d\s.,:/%+e-]/i.test(character));
  const isPlain = text.length <= 11 && /^\d+$/.test(text) && String(Number(text)) === text;
  return isOfSigns && /\d/.test(text) && !isPlain ? `'${text}` : text;
}

function paidWith({ card, cash_number: number }: RecordOf<'charge'>): string | null {
  if (card !== null) return `${card.brand} ${card.last4}`;
  return number && `${number.slice(0, 4)}-${number.slice(4, 8)}-${number.slice(8)}`;
}
