// What a network's statement is compared with: the charges that it names, each with its refunds and
// the money that was reported for it, and all charges and refunds that were settled in its period.

import { idPrefixes } from '../contract/id-prefixes.ts';
import type { PaymentMethodType } from '../contract/vocabulary.ts';
import { idFloor, idTimeAfter } from '../core/ids.ts';
import { moroccoDayAt } from '../core/morocco-day.ts';
import { holderOf } from './cash-codes.ts';
import { type Caller, required } from './find.ts';
import { fieldIndex, scopeOf } from './indexes.ts';
import type { ListCaller } from './list-pages.ts';
import type { ChargeRecord, Receipt, RefundRecord } from './record.ts';
import type { View } from './view.ts';

/** A charge that a statement names. Days are days in Morocco, null while it is pending. */
export interface NamedCharge {
  readonly id: string;
  readonly payment_intent: string;
  readonly amount: number;
  readonly status: ChargeRecord['status'];
  readonly settled: string | null;
  readonly receipts: readonly Receipt[];
  readonly refunds: readonly NamedRefund[];
}

export type NamedRefund = Pick<RefundRecord, 'id' | 'amount' | 'status'> & {
  readonly settled: string | null;
};

/**
 * The charge that each name belongs to, which is its id or its cash code; null: none in this
 * organization and mode.
 */
export function chargesNamed(view: View, caller: Caller, names: readonly string[]): (NamedCharge | null)[] {
  return names.map((name) => {
    const holder = /^\d+$/.test(name) ? holderOf(view, name) : view.get('charge', name);
    const isOwn =
      holder?.kind === 'charge' && holder.org === caller.org && holder.livemode === caller.livemode;
    return isOwn ? named(view, holder) : null;
  });
}

function named(view: View, charge: ChargeRecord): NamedCharge {
  const { id, org, livemode, payment_intent, amount, status, receipts } = charge;
  const index = fieldIndex('refund', scopeOf(org, livemode), 'payment_intent', payment_intent);
  const refunds: NamedRefund[] = [];
  for (const refund of view.scan(index, { descending: false }))
    if (refund.kind === 'refund' && refund.charge === id)
      refunds.push({
        id: refund.id,
        amount: refund.amount,
        status: refund.status,
        settled: settledDay(refund),
      });
  return { id, payment_intent, amount, status, settled: settledDay(charge), receipts, refunds };
}

function settledDay({ settled_at_ms: ms }: ChargeRecord | RefundRecord): string | null {
  return ms === null ? null : moroccoDayAt(ms);
}

/**
 * Which of an organization's charges or refunds are asked for: those by these methods that
 * succeeded in this period.
 */
export interface SettledFilter {
  readonly kind: 'charge' | 'refund';
  readonly methods: readonly PaymentMethodType[];
  /** Unix milliseconds: from the first one on, and before the last one. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Settled {
  readonly kind: 'charge' | 'refund';
  readonly id: string;
  readonly payment_intent: string;
  /** Of a refund, the charge that was paid back. */
  readonly charge: string;
  readonly amount: number;
  readonly settled: string;
}

export interface SettledPage {
  readonly found: readonly Settled[];
  /** Where the next page starts; null when this is the last one. */
  readonly next: string | null;
}

const pageRecordsMax = 200;

/**
 * A page of them, those that were made last first. A page reads a bounded number of records, and
 * may find none.
 */
export function settledPage(
  view: View,
  { org, livemode, idLeads }: ListCaller,
  { kind, methods, fromMs, toMs }: SettledFilter,
  start: string | null,
): SettledPage {
  // What was settled before a time was made before it.
  const before = start ?? idFloor(idPrefixes[kind], idTimeAfter(toMs, idLeads));
  const index = fieldIndex(kind, scopeOf(org, livemode), 'status', 'succeeded');
  const found: Settled[] = [];
  let read = 0;
  let last = before;
  for (const record of view.scan(index, { before, descending: true })) {
    if (read++ === pageRecordsMax) return { found, next: last };
    last = record.id;
    if (record.kind !== 'charge' && record.kind !== 'refund') continue;
    const { settled_at_ms: settledMs } = record;
    if (settledMs === null || settledMs < fromMs || settledMs >= toMs) continue;
    const charge = record.kind === 'charge' ? record : required(view, 'charge', record.charge);
    if (methods.includes(charge.method))
      found.push({
        kind,
        id: record.id,
        payment_intent: record.payment_intent,
        charge: charge.id,
        amount: record.amount,
        settled: moroccoDayAt(settledMs),
      });
  }
  return { found, next: null };
}
