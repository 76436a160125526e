// The totals of a day: what an organization took in one mode and by which method, how many charges
// succeeded and failed, and what was paid back. A charge or refund is counted on the day on which
// it was settled, in the commit that settles it; creating a payment intent settles nothing, and
// does not pay for this. The dashboard shows these sums without reading the charges.

import { defined } from '../core/assert.ts';
import { moroccoDayAt } from '../core/morocco-day.ts';
import { tableOf } from '../core/tables.ts';
import type { Draft } from './draft.ts';
import { recordsOf } from './find.ts';
import { fieldIndex, scopeOf } from './indexes.ts';
import type { ChargeRecord, DayTotalRecord, RefundRecord, StoredRecord } from './record.ts';

export const totalNames = [
  'card_received',
  'card_succeeded',
  'card_failed',
  'card_unpaid',
  'cash_received',
  'cash_succeeded',
  'cash_failed',
  'cash_unpaid',
  'refunded',
  'refunds',
] as const satisfies readonly (keyof DayTotalRecord)[];
type TotalName = (typeof totalNames)[number];
export type Totals = Readonly<Record<TotalName, number>>;

const nothing: Totals = tableOf(totalNames, () => 0);

/** What a settled charge or refund adds to its day: a refund that failed adds nothing. */
function additions(record: ChargeRecord | RefundRecord): Partial<Totals> {
  const { status, amount } = record;
  if (record.kind === 'refund') return status === 'succeeded' ? { refunded: amount, refunds: 1 } : {};
  const isCard = record.method === 'card';
  if (status === 'succeeded')
    return isCard
      ? { card_received: amount, card_succeeded: 1 }
      : { cash_received: amount, cash_succeeded: 1 };
  const { failure_code } = record;
  const isRefused = failure_code === 'card_declined' || failure_code === 'cash_payment_refused';
  if (isCard) return isRefused ? { card_failed: 1 } : { card_unpaid: 1 };
  return isRefused ? { cash_failed: 1 } : { cash_unpaid: 1 };
}

/** Counts a charge or refund that was settled just now. */
export function countInDay(draft: Draft, record: ChargeRecord | RefundRecord): void {
  const settledAtMs = defined(record.settled_at_ms, 'only what is settled is counted');
  const total = totalOf(draft, moroccoDayAt(settledAtMs));
  const sums: { -readonly [name in keyof DayTotalRecord]: DayTotalRecord[name] } = { ...total };
  const added = additions(record);
  for (const name of totalNames) sums[name] += added[name] ?? 0;
  draft.put<DayTotalRecord>(sums);
}

/** The totals of a day so far. */
function totalOf(draft: Draft, day: string): DayTotalRecord {
  const { org, livemode, nowMs, newId } = draft.context;
  for (const record of draft.changes) if (record.kind === 'day_total' && record.day === day) return record;
  const index = fieldIndex('day_total', scopeOf(org, livemode), 'day', day);
  // Descending, because memory has the newest keys of an index that is read again and again.
  const [known] = recordsOf(draft.view, 'day_total', index, { descending: true });
  if (known !== undefined) return known;
  const created = Math.floor(nowMs / 1000);
  return { kind: 'day_total', id: newId('day_total'), org, livemode, created, day, ...nothing };
}

/** A part of a day's total: its name, which includes the scope and the day, and a number. */
export type Part = readonly [name: string, value: number];

/**
 * What a record says about the totals: `counted` are the parts that a settled charge or refund asks
 * for, and `told` those that a day's total has. Over all records both come to the same sums.
 */
export function partsOf(record: StoredRecord): { readonly counted: Part[]; readonly told: Part[] } {
  const isSettled = record.kind === 'charge' || record.kind === 'refund';
  if (isSettled && record.settled_at_ms !== null)
    return { counted: parts(record, moroccoDayAt(record.settled_at_ms), additions(record)), told: [] };
  if (record.kind === 'day_total') return { counted: [], told: parts(record, record.day, record) };
  return { counted: [], told: [] };
}

function parts(record: StoredRecord, day: string, totals: Partial<Totals>): Part[] {
  const prefix = dayNameOf(record, day);
  return totalNames.flatMap((name) => (totals[name] ? [[`${prefix} ${name}`, totals[name]]] : []));
}

/** A day of an organization and mode, with which the names of its parts begin. */
function dayNameOf({ org, livemode }: StoredRecord, day: string): string {
  return `${scopeOf(org, livemode)} ${day}`;
}

/** The names of all parts of a day's total, those that are zero, too. */
export function partNamesOf(record: DayTotalRecord): string[] {
  const prefix = dayNameOf(record, record.day);
  return totalNames.map((name) => `${prefix} ${name}`);
}
