// Charges: each is one attempt to pay, from the moment that its network has opened it.

import type { RecordOf } from '../../../src/domain/record.ts';
import { countInDay } from './day-totals.ts';
import { cashRefused, declined, expiredUnpaid, type Failure } from './failures.ts';
import { blocked, endOverdueSession, endSession, giveUp, own, type Params, shown } from './payments.ts';
import { showCharge } from './resources.ts';
import { openReview } from './reviews.ts';
import { type Expected, refuse, type Turn } from './turn.ts';

type Charge = RecordOf<'charge'>;
type Call = RecordOf<'network_call'>;
type Refused = ReturnType<typeof refuse>;

export function isOver({ asked }: Turn, { deadline_ms }: Pick<Charge, 'deadline_ms'>): boolean {
  return asked.serviceMs >= deadline_ms;
}

/** The network has opened a page or issued a code. */
export function openCharge(turn: Turn, call: Call, isAwaited: boolean): Expected {
  const { nowMs, serviceMs, settings } = turn.asked;
  const intent = turn.the('payment_intent', call.payment_intent);
  const method = call.action === 'open_card_page' ? 'card' : 'cash';
  const endsMs = method === 'card' ? nowMs + settings.cardPageMs : call.created * 1000 + settings.cashCodeMs;
  const deadline_ms = serviceMs + (endsMs - nowMs);
  const begun = turn.fresh('charge');
  const about = { payment_intent: intent.id, charge: begun.id, accepted: true };
  const awaited = isAwaited ? turn.call('await_card_payment', about) : null;
  const charge = turn.put<Charge>({
    ...begun,
    ...{ amount: intent.amount, amount_refunded: 0, amount_refund_pending: 0, currency: intent.currency },
    ...{ status: 'pending', method, payment_intent: intent.id },
    ...{ failure_code: null, failure_message: null, decline_code: null, card: null },
    ...{ cash_number: call.cash_number, cash_agent: null, receipts: [], challenge_token: null },
    authorization: awaited?.id ?? null,
    settled_at_ms: null,
    ...{ expires_at_ms: endsMs, deadline_ms, due_at_ms: deadline_ms },
    metadata: {},
  });
  const opened = turn.change('payment_intent', intent.id, {
    status: 'requires_action',
    latest_charge: charge.id,
    return_url: call.return_url,
    network_call: null,
  });
  const session = turn.get('checkout_session', intent.checkout_session);
  if (method === 'cash' && session?.status === 'open' && session.deadline_ms < deadline_ms)
    turn.change('checkout_session', session.id, {
      expires_at_ms: endsMs,
      deadline_ms,
      due_at_ms: deadline_ms,
    });
  turn.emit('payment_intent.requires_action', shown(turn, opened));
  return { answer: shown(turn, opened) };
}

function submitted(turn: Turn, charge: Charge, network_call: string | null): void {
  const intent = turn.change('payment_intent', charge.payment_intent, { status: 'processing', network_call });
  turn.emit('payment_intent.processing', shown(turn, intent));
}

/** The money is there: the charge has succeeded, and what it pays. */
export function succeed(turn: Turn, id: string, paid: Partial<Charge> = {}): Charge {
  const before = turn.the('charge', id);
  if (turn.the('payment_intent', before.payment_intent).status === 'requires_action')
    submitted(turn, before, null);
  const charge = turn.change('charge', id, {
    ...paid,
    ...{ status: 'succeeded', decline_code: null, challenge_token: null, settled_at_ms: turn.asked.nowMs },
  });
  countInDay(turn, charge);
  const intent = turn.change('payment_intent', charge.payment_intent, {
    ...{ status: 'succeeded', amount_received: charge.amount, last_payment_error: null, network_call: null },
  });
  turn.emit('charge.succeeded', showCharge(charge));
  turn.emit('payment_intent.succeeded', shown(turn, intent));
  endSession(turn, intent, 'complete');
  return charge;
}

/** Nothing more of the charge; its intent is left as it is. */
export function closeCharge(turn: Turn, id: string, failure: Failure): Charge {
  const charge = turn.change('charge', id, {
    status: 'failed',
    failure_code: failure.code,
    failure_message: failure.message,
    decline_code: failure.decline_code,
    challenge_token: null,
    settled_at_ms: turn.asked.nowMs,
  });
  countInDay(turn, charge);
  turn.emit('charge.failed', showCharge(charge));
  return charge;
}

/** The attempt has failed, and the payment can be tried again. */
export function fail(turn: Turn, id: string, failure: Failure): Charge {
  const charge = closeCharge(turn, id, failure);
  const intent = turn.change('payment_intent', charge.payment_intent, {
    status: 'requires_payment_method',
    last_payment_error: { ...failure, charge: id },
    network_call: null,
  });
  turn.emit('payment_intent.payment_failed', shown(turn, intent));
  return charge;
}

export function failOverdue(turn: Turn, id: string): void {
  const charge = turn.get('charge', id);
  if (charge?.status !== 'pending' || !isOver(turn, charge)) return;
  if (turn.the('payment_intent', charge.payment_intent).network_call !== null) return;
  fail(turn, id, lastDecline(turn, charge) ?? expiredUnpaid(turn.asked.language));
}

function lastDecline({ asked }: Turn, { decline_code: code }: Charge): Failure | null {
  return code === null ? null : declined(code, asked.language);
}

/** Whoever acts on a charge finds it, and its session, ended if their time is up. */
function ownCharge(turn: Turn, id: string): Charge | null {
  failOverdue(turn, id);
  const intent = turn.get('payment_intent', turn.get('charge', id)?.payment_intent ?? null);
  endOverdueSession(turn, intent?.checkout_session ?? null);
  return own(turn, 'charge', id);
}

/** A charge whose customer may still act on it, or why not. */
function inHand(turn: Turn, charge: Charge): Refused | null {
  const intent = turn.the('payment_intent', charge.payment_intent);
  const refusal = blocked(intent, 'requires_action');
  if (refusal !== null) return refusal;
  const isOpen = charge.status === 'pending' && intent.latest_charge === charge.id;
  return isOpen ? null : refuse('charge_unexpected_state');
}

function typing(turn: Turn, id: string): Refused | Charge {
  const charge = ownCharge(turn, id);
  if (charge === null || charge.method === 'cash') return refuse('resource_missing');
  return inHand(turn, charge) ?? charge;
}

export function submitCard(turn: Turn, { card, token, challenge }: Params, id: string): Expected {
  const charge = typing(turn, id);
  if ('refused' in charge) return charge;
  turn.change('charge', id, { card });
  if (!challenge) return authorize(turn, id, token);
  turn.change('charge', id, { challenge_token: token });
  return { answer: { status: 'challenge' } };
}

export function answerChallenge(turn: Turn, { passed }: Params, id: string): Expected {
  const charge = typing(turn, id);
  if ('refused' in charge) return charge;
  if (charge.challenge_token === null) return refuse('charge_unexpected_state');
  if (passed) return authorize(turn, id, charge.challenge_token);
  fail(turn, id, declined('transaction_not_allowed', turn.asked.language));
  return { answer: { status: 'failed' } };
}

function authorize(turn: Turn, id: string, card_token: string): Expected {
  const { payment_intent } = turn.the('charge', id);
  const { request } = turn.asked;
  const call = turn.call('authorize_card', { payment_intent, charge: id, card_token, request });
  submitted(turn, turn.change('charge', id, { challenge_token: null, authorization: call.id }), call.id);
  return { waitsFor: call.id };
}

export function abandon(turn: Turn, _params: Params, id: string): Expected {
  const charge = ownCharge(turn, id);
  if (charge === null) return refuse('resource_missing');
  const { checkout_session } = turn.the('payment_intent', charge.payment_intent);
  if (checkout_session === null) return refuse('resource_missing');
  const refusal = inHand(turn, charge);
  if (refusal !== null) return refusal;
  const decline = lastDecline(turn, charge);
  if (decline !== null) fail(turn, id, decline);
  else {
    giveUp(turn, id);
    turn.change('payment_intent', charge.payment_intent, { status: 'requires_payment_method' });
  }
  return { answer: { status: 'requires_payment_method' } };
}

export function leaveNetworkPage(turn: Turn, _params: Params, id: string): Expected {
  const charge = ownCharge(turn, id);
  if (charge === null) return refuse('resource_missing');
  const decline = lastDecline(turn, charge);
  if (charge.status === 'pending' && decline !== null) fail(turn, id, decline);
  return { answer: {} };
}

/** The network's answer about a card counts no longer: the charge is decided. */
export function dropAuthorization(turn: Turn, { authorization }: Charge): void {
  const call = turn.get('network_call', authorization);
  if (call !== undefined) turn.remove(call);
}

function helped(turn: Turn, id: string): Refused | Charge {
  const charge = ownCharge(turn, id);
  if (charge === null) return refuse('resource_missing');
  if (charge.status !== 'pending') return refuse('charge_unexpected_state');
  const { network_call } = turn.the('payment_intent', charge.payment_intent);
  return network_call === null ? charge : refuse('payment_intent_busy');
}

export function complete(turn: Turn, { amount }: Params, id: string): Expected {
  const charge = helped(turn, id);
  if ('refused' in charge) return charge;
  if (amount !== undefined && amount !== charge.amount) {
    openReview(turn, charge, 'amount_mismatch', { ...charge, amount });
    return { answer: showCharge(charge) };
  }
  dropAuthorization(turn, charge);
  const tested = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034 };
  const card = charge.method === 'cash' ? null : (charge.card ?? tested);
  return { answer: showCharge(succeed(turn, id, { card })) };
}

export function failByHelper(turn: Turn, { decline_code }: Params, id: string): Expected {
  const charge = helped(turn, id);
  if ('refused' in charge) return charge;
  const isCash = charge.method === 'cash';
  if (isCash && decline_code !== undefined) return refuse('parameter_invalid', 'decline_code');
  dropAuthorization(turn, charge);
  const { language } = turn.asked;
  const failure = isCash ? cashRefused(language) : declined(decline_code ?? 'generic_decline', language);
  return { answer: showCharge(fail(turn, id, failure)) };
}

export function expireByHelper(turn: Turn, _params: Params, id: string): Expected {
  const charge = helped(turn, id);
  if ('refused' in charge) return charge;
  dropAuthorization(turn, charge);
  return { answer: showCharge(fail(turn, id, expiredUnpaid(turn.asked.language))) };
}

const laterMs = 60_000;

/** What is due ends, or is looked at again in a minute. */
export function due(turn: Turn, _params: Params, id: string): Expected {
  const { serviceMs } = turn.asked;
  const isDue = (record?: { status: string; due_at_ms: number }) =>
    (record?.status === 'pending' || record?.status === 'open') && record.due_at_ms <= serviceMs;
  if (isDue(turn.get('charge', id))) {
    failOverdue(turn, id);
    if (turn.the('charge', id).status === 'pending')
      turn.change('charge', id, { due_at_ms: serviceMs + laterMs });
  }
  if (isDue(turn.get('checkout_session', id))) {
    endOverdueSession(turn, id);
    if (turn.the('checkout_session', id).status === 'open')
      turn.change('checkout_session', id, { due_at_ms: serviceMs + laterMs });
  }
  return { result: null };
}
