// Compares what a statement says of one order with our charge. Only this file decides what differs.
// A difference never changes a payment. Money that the network has taken and that paid nothing here
// belongs in a review; what is in one already is only counted.

import type { NamedCharge, NamedRefund } from '../../domain/settled.ts';
import type { StatementLine } from './statement-line.ts';

/** A network may book a movement so many days after, or before, it was settled here. */
const daysLateMax = 7;

/** What can differ, with what is to be done. */
export const differenceKinds = {
  bad_line: 'the line cannot be read',
  unknown_order: 'no charge of this organization and mode has this order',
  not_paid_here: 'the network has taken money for a charge that failed here',
  pending_here: 'the charge is still pending here: its outcome has not arrived',
  amount_differs: 'the payment has another amount here',
  second_payment: 'the charge was paid before: this is money beyond it',
  day_differs: 'it was settled on another day here: the network may have moved the money twice',
  reference_differs: 'the network reported this payment under another reference: it may be a second one',
  duplicate_line: 'another line says the same',
  refund_unknown: 'there is no such refund here',
  refund_pending_here: 'the refund is still pending here',
  refund_failed_here: 'the refund failed here',
  refund_amount_differs: 'the refund has another amount here',
  chargeback: 'the cardholder disputes the payment: answer the network',
  payment_not_in_statement: 'the payment succeeded here, and the statement does not have it',
  refund_not_in_statement: 'the refund succeeded here, and the statement does not have it',
} as const;
export type DifferenceKind = keyof typeof differenceKinds;

/** A difference. What one side does not have is null. Amounts are centimes. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly line: number | null;
  readonly order: string | null;
  readonly reference: string | null;
  readonly statement_amount: number | null;
  /** The day in the statement, or on which we settled what it does not have. */
  readonly day: string | null;
  readonly payment_intent: string | null;
  readonly charge: string | null;
  readonly refund: string | null;
  readonly our_amount: number | null;
  readonly problem: string | null;
  readonly review: string | null;
}

export const nothing: Omit<Difference, 'kind'> = {
  line: null,
  order: null,
  reference: null,
  statement_amount: null,
  day: null,
  payment_intent: null,
  charge: null,
  refund: null,
  our_amount: null,
  problem: null,
  review: null,
};

/** Money that no payment has: it is to be in a review of this charge. */
export interface UnknownMoney {
  readonly charge: string;
  readonly reference: string;
  readonly amount: number;
}

export interface Told {
  readonly difference: Difference;
  readonly money: UnknownMoney | null;
}

interface Compared {
  readonly matched: readonly StatementLine[];
  readonly inReviews: readonly StatementLine[];
  readonly told: readonly Told[];
}

/** Days, both of which belong to it. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** Compares all lines of one order, in the order of the file, with its charge. */
export function compareOrder(
  lines: readonly StatementLine[],
  charge: NamedCharge | null,
  period: Period,
): Compared {
  const ofKind = (kind: StatementLine['kind']) => lines.filter((line) => line.kind === kind);
  const [payments, refunds] = [ofKind('payment'), ofKind('refund')];
  const disputed = ofKind('chargeback').map((line) => differs('chargeback', line, charge));
  if (charge === null) {
    const unknown = [...payments, ...refunds].map((line) => differs('unknown_order', line, null));
    return { matched: [], inReviews: [], told: [...disputed, ...unknown] };
  }
  const parts = [comparePayments(payments, charge, period), compareRefunds(refunds, charge, period)];
  return {
    matched: parts.flatMap(({ matched }) => matched),
    inReviews: parts.flatMap(({ inReviews }) => inReviews),
    told: [...disputed, ...parts.flatMap(({ told }) => told)],
  };
}

function differs(
  kind: DifferenceKind,
  line: StatementLine | null,
  charge: NamedCharge | null,
  ours: Partial<Difference> = {},
  money: UnknownMoney | null = null,
): Told {
  const theirs = line && {
    line: line.line,
    order: line.order,
    reference: line.reference,
    statement_amount: line.amount,
    day: line.day,
  };
  const known = charge && {
    charge: charge.id,
    payment_intent: charge.payment_intent,
    our_amount: charge.amount,
  };
  return { difference: { kind, ...nothing, ...theirs, ...known, ...ours }, money };
}

function comparePayments(lines: readonly StatementLine[], charge: NamedCharge, period: Period): Compared {
  const { id, status, amount, settled } = charge;
  const told: Told[] = [];
  const inReviews: StatementLine[] = [];
  const own = status === 'succeeded' ? ownPayment(lines, charge) : undefined;
  if (status === 'succeeded' && own === undefined && isWithin(period, settled))
    told.push(differs('payment_not_in_statement', null, charge, { day: settled }));
  const isPaid = own?.amount === amount;
  const doubt = isPaid ? doubtOf(own, charge) : null;
  if (isPaid && doubt !== null) told.push(differs(doubt, own, charge));
  const others = isPaid ? lines.filter((line) => line !== own) : lines;
  for (const [position, line] of others.entries()) {
    const before = [...(isPaid ? [own] : []), ...others.slice(0, position)];
    const reference = referenceOf(line);
    if (before.some((other) => isSame(line, other))) told.push(differs('duplicate_line', line, charge));
    else if (isInReview(line, charge)) inReviews.push(line);
    else if (status === 'pending') told.push(differs('pending_here', line, charge));
    else {
      const kind = line === own ? 'amount_differs' : own === undefined ? 'not_paid_here' : 'second_payment';
      told.push(differs(kind, line, charge, {}, { charge: id, reference, amount: line.amount }));
    }
  }
  return { matched: isPaid && doubt === null ? [own] : [], inReviews, told };
}

/**
 * The line that tells of the money by which the charge succeeded. When the network has not reported
 * that money, it may be the one of another amount that is in a review.
 */
function ownPayment(lines: readonly StatementLine[], charge: NamedCharge) {
  const credited = creditedReference(charge);
  const isOfAmount = ({ amount }: StatementLine) => amount === charge.amount;
  const unknown = lines.filter((line) => !isInReview(line, charge));
  return (
    lines.find(({ reference }) => reference !== null && reference === credited) ??
    nearest(unknown.filter(isOfAmount), ({ day }) => daysApart(day, charge.settled)) ??
    unknown[0] ??
    (credited === undefined ? lines.find((line) => !isOfAmount(line)) : undefined)
  );
}

function isInReview(line: StatementLine, { receipts }: NamedCharge): boolean {
  const reference = referenceOf(line);
  return receipts.some(
    (each) => !each.credited && each.reference === reference && each.amount === line.amount,
  );
}

function creditedReference({ receipts }: NamedCharge): string | undefined {
  return receipts.find((receipt) => receipt.credited)?.reference;
}

/**
 * Why a line of the right amount may tell of other money. When the network has reported the money
 * of the charge under another reference, the statement may also have references of another kind.
 */
function doubtOf({ reference, day }: StatementLine, charge: NamedCharge): DifferenceKind | null {
  const credited = creditedReference(charge);
  if (credited !== undefined && reference === credited) return null;
  if (credited !== undefined && reference !== null) return 'reference_differs';
  return daysApart(day, charge.settled) > daysLateMax ? 'day_differs' : null;
}

function compareRefunds(lines: readonly StatementLine[], charge: NamedCharge, period: Period): Compared {
  const left = [...charge.refunds];
  const told: Told[] = [];
  const matched: StatementLine[] = [];
  const unmatched: StatementLine[] = [];
  for (const line of lines) {
    const refund = takeRefund(left, line, period);
    if (refund === undefined) unmatched.push(line);
    else if (refund.status === 'succeeded') matched.push(line);
    else told.push(differs(`refund_${refund.status}_here`, line, charge, ofRefund(refund)));
  }
  const succeeded = left.filter(({ status }) => status === 'succeeded');
  const missing = succeeded.filter(({ settled }) => isWithin(period, settled));
  const before = succeeded.filter(({ settled }) => !isWithin(period, settled));
  for (const line of unmatched) {
    if (matched.some((other) => isSame(line, other))) {
      told.push(differs('duplicate_line', line, charge));
      continue;
    }
    const other = missing.shift();
    const ofOtherDay = before.find(({ amount }) => amount === line.amount);
    if (other !== undefined) told.push(differs('refund_amount_differs', line, charge, ofRefund(other)));
    else if (ofOtherDay !== undefined) told.push(differs('day_differs', line, charge, ofRefund(ofOtherDay)));
    else told.push(differs('refund_unknown', line, charge, { our_amount: null }));
  }
  for (const refund of missing)
    told.push(differs('refund_not_in_statement', null, charge, { ...ofRefund(refund), day: refund.settled }));
  return { matched, inReviews: [], told };
}

/**
 * Takes the refund that a line tells of out of `left`: one of its amount, settled about then. One
 * that failed may have been made again.
 */
function takeRefund(
  left: NamedRefund[],
  { amount, day }: StatementLine,
  period: Period,
): NamedRefund | undefined {
  const near = left.filter(
    (refund) => refund.amount === amount && daysOutside(period, refund) <= daysLateMax,
  );
  const found = (['succeeded', 'pending', 'failed'] as const)
    .map((status) => near.filter((refund) => refund.status === status))
    .map((refunds) => nearest(refunds, ({ settled }) => daysApart(day, settled)))
    .find((refund) => refund !== undefined);
  if (found !== undefined) left.splice(left.indexOf(found), 1);
  return found;
}

function ofRefund({ id, amount }: NamedRefund): Partial<Difference> {
  return { refund: id, our_amount: amount };
}

/** Two lines that tell of the same movement. Without a reference they are of one day. */
function isSame(a: StatementLine, b: StatementLine): boolean {
  return a.amount === b.amount && referenceOf(a) === referenceOf(b);
}

/** The network's name for the movement, or one that stays the same in another reading. */
function referenceOf({ reference, day }: StatementLine): string {
  return reference ?? `statement ${day ?? 'without a date'}`;
}

/** The one with the fewest days; of several, the first. */
function nearest<T>(candidates: readonly T[], daysOf: (candidate: T) => number): T | undefined {
  const fewest = Math.min(...candidates.map(daysOf));
  return candidates.find((candidate) => daysOf(candidate) === fewest);
}

/** 0 when one of the days is not known. */
function daysApart(a: string | null, b: string | null): number {
  return a === null || b === null ? 0 : Math.abs(Date.parse(a) - Date.parse(b)) / 86_400_000;
}

/** How many days before or after the period a refund was settled. */
function daysOutside(period: Period, { settled }: NamedRefund): number {
  if (settled === null || isWithin(period, settled)) return 0;
  return Math.min(daysApart(settled, period.from), daysApart(settled, period.to));
}

function isWithin({ from, to }: Period, day: string | null): boolean {
  return day !== null && day >= from && day <= to;
}
