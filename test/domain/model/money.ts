// Money: what networks answer and report, what helpers say was paid, and what is paid back.

import type { DeclineCode } from '../../../src/contract/vocabulary.ts';
import type { NetworkOutcome } from '../../../src/domain/network-outcomes.ts';
import type { ReportedDecline, ReportedMoney, StatementMoney } from '../../../src/domain/received-money.ts';
import type { RecordOf } from '../../../src/domain/record.ts';
import { dropAuthorization, fail, failOverdue, openCharge, succeed } from './charges.ts';
import { countInDay } from './day-totals.ts';
import { declined } from './failures.ts';
import { metadataOf, own, type Params } from './payments.ts';
import { showCharge, showRefund } from './resources.ts';
import { openReview } from './reviews.ts';
import { type Expected, refuse, type Turn } from './turn.ts';

type Call = RecordOf<'network_call'>;
type Charge = RecordOf<'charge'>;
type Refund = RecordOf<'refund'>;

const receiptsMax = 20;
const nothing: Expected = { answer: {} };
const noNetwork: Expected = { waiterRefused: 'api_error' };

export function outcomeOf(turn: Turn, params: { call: string; outcome: NetworkOutcome }): Expected {
  const call = turn.get('network_call', params.call);
  if (call === undefined) return nothing;
  const { outcome } = params;
  const { result } = outcome;
  const isOpening = call.action === 'open_card_page' || call.action === 'issue_cash_code';
  if (result === 'accepted') {
    if (isOpening) return noNetwork;
    if (call.accepted) return nothing;
    turn.change('network_call', call.id, { accepted: true });
    free(turn, call);
    return { answer: { status: 'processing' } };
  }
  turn.remove(call);
  if (isOpening) {
    if (result === 'done' || result === 'awaited') return openCharge(turn, call, result === 'awaited');
    free(turn, call);
    return noNetwork;
  }
  switch (call.action) {
    case 'authorize_card':
      return authorized(turn, call, outcome);
    case 'await_card_payment':
      if (outcome.result === 'paid') return receiveMoney(turn, outcome.money, call.charge as string);
      if (outcome.result !== 'declined') return nothing;
      return receiveDecline(turn, { ...outcome, mayTryAgain: false }, call.charge as string);
    case 'capture_charge':
      if (result !== 'done') partTaken(turn, turn.the('charge', call.charge));
      return nothing;
    case 'refund_charge': {
      const reason = outcome.result === 'failed' ? outcome.reason : 'declined';
      const refund = turn.the('refund', call.refund);
      if (refund.status === 'pending') settleRefund(turn, refund.id, result === 'done' ? null : reason);
      return nothing;
    }
    default:
      return nothing;
  }
}

/** The intent is not busy with this call any more. */
function free(turn: Turn, { id, payment_intent }: Call): void {
  if (turn.get('payment_intent', payment_intent)?.network_call === id)
    turn.change('payment_intent', payment_intent, { network_call: null });
}

function authorized(turn: Turn, call: Call, outcome: NetworkOutcome): Expected {
  const charge = turn.the('charge', call.charge);
  free(turn, call);
  if (outcome.result === 'done') {
    if (charge.status === 'failed') openReview(turn, charge, 'late_payment', charge);
    if (charge.status === 'pending') succeed(turn, charge.id);
    return { answer: { status: 'succeeded' } };
  }
  if (charge.status !== 'pending') return nothing;
  const code = outcome.result === 'declined' ? outcome.decline_code : 'processing_error';
  fail(turn, charge.id, declined(code, turn.asked.language));
  return { answer: { status: 'failed' } };
}

export function receiveMoney(turn: Turn, money: ReportedMoney, id: string): Expected {
  const { reference, amount } = money;
  const charge = turn.get('charge', id);
  if (charge === undefined) return refuse('resource_missing');
  const same = charge.receipts.filter((each) => each.reference === reference && each.amount === amount);
  const known = same.find(({ credited }) => !credited || money.currency === charge.currency);
  if (known?.credited) return { answer: { received: 'repeated' } };
  if (known !== undefined) return { answer: { received: 'review', again: true } };
  const isUsed = turn.own('charge').some((each) => each.receipts.some((one) => one.reference === reference));
  if (charge.receipts.length >= receiptsMax && !pays(charge, money, isUsed))
    return { answer: { received: 'too_many' } };
  const credited = take(turn, id, money, isUsed);
  const { receipts } = turn.the('charge', id);
  turn.change('charge', id, { receipts: [...receipts, { reference, amount, credited }] });
  if (credited && money.isHeld)
    turn.call('capture_charge', { payment_intent: charge.payment_intent, charge: id });
  return { answer: { received: credited ? 'credited' : 'review' } };
}

type Money = Pick<ReportedMoney, 'amount' | 'currency' | 'agent' | 'card'>;

function asks({ amount, currency }: Charge, money: Money): boolean {
  return money.amount === amount && money.currency === currency;
}

function pays(charge: Charge, money: Money, isUsed: boolean): boolean {
  return charge.status === 'pending' && asks(charge, money) && !isUsed;
}

/** Credits money, or opens a review of it. Whether it was credited. */
function take(turn: Turn, id: string, money: Money, isUsed: boolean): boolean {
  failOverdue(turn, id);
  const charge = turn.the('charge', id);
  if (pays(charge, money, isUsed)) {
    dropAuthorization(turn, charge);
    succeed(turn, id, { cash_agent: money.agent, card: money.card ?? charge.card });
    return true;
  }
  const isOther = charge.status === 'pending' ? !asks(charge, money) : money.currency !== charge.currency;
  openReview(turn, charge, isOther ? 'amount_mismatch' : 'late_payment', money);
  return false;
}

export function receiveDecline(
  turn: Turn,
  { decline_code, mayTryAgain }: Omit<ReportedDecline, 'decline_code'> & { decline_code: DeclineCode },
  id: string,
): Expected {
  const charge = turn.get('charge', id);
  if (charge === undefined) return refuse('resource_missing');
  const again = charge.status !== 'pending' || charge.decline_code !== null;
  const answer = again ? { received: 'declined', again } : { received: 'declined' };
  if (charge.status !== 'pending') return { answer };
  if (mayTryAgain) {
    if (charge.decline_code !== decline_code) turn.change('charge', id, { decline_code });
    return { answer };
  }
  dropAuthorization(turn, charge);
  fail(turn, id, declined(decline_code, turn.asked.language));
  return { answer };
}

/** An agent takes cash for a code. */
export function payCash(turn: Turn, params: { number: string; amount: number }): Expected {
  const number = params.number.replaceAll(/[ -]/g, '');
  // A code may have been issued to another charge before.
  const charge = turn.own('charge').findLast((each) => each.cash_number === number);
  if (charge === undefined) return refuse('resource_missing', 'number');
  const { currency } = charge;
  take(turn, charge.id, { amount: params.amount, currency, agent: 'test agent', card: null }, false);
  return { answer: showCharge(turn.the('charge', charge.id)) };
}

/** Nothing of what was credited was taken. The network's statement has no more of it. */
function partTaken(turn: Turn, charge: Charge): void {
  const { reference } = charge.receipts.find(({ credited }) => credited)!;
  const part = { reference, amount: 0, credited: false };
  openReview(turn, charge, 'amount_mismatch', { amount: 0, currency: 'mad' });
  turn.change('charge', charge.id, { receipts: [...charge.receipts, part] });
}

/** A network's statement has money that no payment has. */
export function statementMoney(turn: Turn, { reference, amount }: StatementMoney, id: string): Expected {
  const charge = own(turn, 'charge', id);
  if (charge === null) return refuse('resource_missing');
  if (charge.status === 'pending') return refuse('charge_unexpected_state');
  const known = charge.receipts.some((each) => each.reference === reference && each.amount === amount);
  if (known || charge.receipts.length >= receiptsMax) return { answer: { review: null, known } };
  const isOther = charge.status === 'succeeded' && amount !== charge.amount;
  const reason = isOther ? 'amount_mismatch' : 'late_payment';
  const review = openReview(turn, charge, reason, { amount, currency: 'mad' });
  turn.change('charge', id, { receipts: [...charge.receipts, { reference, amount, credited: false }] });
  return { answer: { review: review.id, known } };
}

export function createRefund(turn: Turn, params: Params): Expected {
  const named = params.charge === undefined ? 'payment_intent' : 'charge';
  let id: string | null = params.charge ?? null;
  if (named === 'payment_intent') {
    const intent = own(turn, 'payment_intent', params.payment_intent);
    if (intent === null) return refuse('resource_missing', named);
    if (intent.status !== 'succeeded') return refuse('payment_intent_unexpected_state', named);
    id = intent.latest_charge;
  }
  const charge = own(turn, 'charge', id as string);
  if (charge === null) return refuse('resource_missing', named);
  if (charge.method === 'cash') return refuse('refund_unsupported_payment_method', named);
  if (charge.status !== 'succeeded') return refuse('charge_unexpected_state', named);
  const { amount_refunded, amount_refund_pending: held, payment_intent } = charge;
  const rest = charge.amount - amount_refunded - held;
  const amount = params.amount ?? rest;
  if (rest === 0 || amount > rest) return refuse('amount_too_large', 'amount');
  const refund = turn.put<Refund>({
    ...turn.fresh('refund'),
    ...{ amount, currency: charge.currency, charge: charge.id, payment_intent },
    reason: params.reason ?? null,
    ...{ status: 'pending', failure_reason: null, settled_at_ms: null },
    metadata: metadataOf({}, params.metadata),
  });
  turn.change('charge', charge.id, { amount_refund_pending: held + amount });
  const { request } = turn.asked;
  const unkept = { key_digest: null, fingerprint: null, resolved_defaults: null };
  const about = { payment_intent, charge: charge.id, refund: refund.id };
  turn.call('refund_charge', { ...about, request: request === null ? null : { ...request, ...unkept } });
  turn.emit('refund.created', showRefund(refund));
  return { answer: showRefund(refund) };
}

/** `reason`: why it failed; null: it was made. */
function settleRefund(turn: Turn, id: string, reason: string | null): Refund {
  const { amount, charge } = turn.the('refund', id);
  const { amount_refunded, amount_refund_pending } = turn.the('charge', charge);
  const isMade = reason === null;
  const refund = turn.change('refund', id, {
    status: isMade ? 'succeeded' : 'failed',
    failure_reason: reason,
    settled_at_ms: turn.asked.nowMs,
  });
  const after = turn.change('charge', charge, {
    amount_refunded: isMade ? amount_refunded + amount : amount_refunded,
    amount_refund_pending: amount_refund_pending - amount,
  });
  if (isMade) countInDay(turn, refund);
  turn.emit('refund.updated', showRefund(refund));
  if (isMade) turn.emit('charge.refunded', showCharge(after));
  else turn.emit('refund.failed', showRefund(refund));
  return refund;
}

export function refundByHelper(turn: Turn, id: string, reason: string | null): Expected {
  const refund = own(turn, 'refund', id);
  if (refund === null) return refuse('resource_missing');
  if (refund.status !== 'pending') return refuse('invalid_request');
  return { answer: showRefund(settleRefund(turn, id, reason)) };
}
