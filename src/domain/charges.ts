// Charges: each is one attempt to pay a payment intent. Here is what happens to a charge and to its
// intent from the moment that the network has opened the charge until it succeeds or fails, or
// money arrives that matches neither.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import { format } from '../contract/messages/table.ts';
import type { ParamsOf } from '../contract/routes/table.ts';
import type { DeclineCode, Language } from '../contract/vocabulary.ts';
import { countInDay } from './day-totals.ts';
import { deadlineAt, isOver } from './deadline.ts';
import { answered, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { missing } from './find.ts';
import { callAbout, cashCodeEndMs, newNetworkCall } from './network-call.ts';
import { changeable } from './payment-state.ts';
import { presentCharge, presentPaymentIntent } from './present.ts';
import type {
  CardDetails,
  ChargeRecord,
  LastPaymentError,
  NetworkCallRecord,
  PaymentIntentRecord,
} from './record.ts';
import { openReview } from './reviews.ts';
import { completeSession, prolongSession } from './session-progress.ts';

/** Why a charge failed. */
export type Failure = Omit<LastPaymentError, 'charge'>;

export function declined(code: DeclineCode, language: Language): Failure {
  const message = format(`card_declined.${code}`, language, {});
  return { type: 'card_error', code: 'card_declined', decline_code: code, message };
}

/** The agents' network refused the money. */
export function cashRefused(language: Language): Failure {
  const message = format('failure.cash_refused', language, {});
  return { type: 'invalid_request_error', code: 'cash_payment_refused', decline_code: null, message };
}

export function expiredUnpaid(language: Language): Failure {
  const message = format('failure.charge_expired', language, {});
  return { type: 'invalid_request_error', code: 'payment_attempt_expired', decline_code: null, message };
}

export function canceledBeforePaid(language: Language): Failure {
  const message = format('failure.charge_canceled', language, {});
  return { type: 'invalid_request_error', code: 'payment_attempt_canceled', decline_code: null, message };
}

/**
 * The network has opened a card page or issued a cash code: the customer can pay now. `isAwaited`:
 * the network is asked from time to time what became of its page.
 */
export function chargeOpened(draft: Draft, call: NetworkCallRecord, isAwaited: boolean): Outcome {
  const { context } = draft;
  const { settings, nowMs } = context;
  const intent = draft.require('payment_intent', call.payment_intent);
  const method = call.action === 'open_card_page' ? 'card' : 'cash';
  const expiresAtMs =
    method === 'card' ? nowMs + settings.cardPageMs : cashCodeEndMs(call, settings.cashCodeMs);
  const id = context.newId('charge');
  const about = { id, payment_intent: intent.id };
  const awaited = isAwaited ? callAbout(draft, about, 'await_card_payment', true) : null;
  const charge = draft.put<ChargeRecord>({
    kind: 'charge',
    id,
    org: intent.org,
    livemode: intent.livemode,
    created: Math.floor(nowMs / 1000),
    amount: intent.amount,
    amount_refunded: 0,
    amount_refund_pending: 0,
    currency: intent.currency,
    status: 'pending',
    method,
    payment_intent: intent.id,
    failure_code: null,
    failure_message: null,
    decline_code: null,
    card: null,
    cash_number: call.cash_number,
    cash_agent: null,
    receipts: [],
    challenge_token: null,
    authorization: awaited?.id ?? null,
    settled_at_ms: null,
    ...deadlineAt(expiresAtMs, context),
    metadata: {},
  });
  const opened = draft.put<PaymentIntentRecord>({
    ...intent,
    status: 'requires_action',
    latest_charge: charge.id,
    return_url: call.return_url,
    network_call: null,
  });
  if (method === 'cash') prolongSession(draft, opened, charge);
  const resource = presentPaymentIntent(opened, charge, settings.baseUrl);
  draft.emit('payment_intent.requires_action', resource);
  return answered(resource);
}

/** The customer has paid; the intent waits until the network confirms it. */
function paymentSubmitted(draft: Draft, charge: ChargeRecord, call: string | null): void {
  const intent = draft.require('payment_intent', charge.payment_intent);
  const processing = draft.put<PaymentIntentRecord>({ ...intent, status: 'processing', network_call: call });
  draft.emit(
    'payment_intent.processing',
    presentPaymentIntent(processing, charge, draft.context.settings.baseUrl),
  );
}

/** The network confirmed: the money is received, once. */
export function succeedCharge(draft: Draft, charge: ChargeRecord): ChargeRecord {
  const { baseUrl } = draft.context.settings;
  if (draft.require('payment_intent', charge.payment_intent).status === 'requires_action') {
    paymentSubmitted(draft, charge, null);
  }
  const succeeded = draft.put<ChargeRecord>({
    ...charge,
    status: 'succeeded',
    decline_code: null,
    challenge_token: null,
    settled_at_ms: draft.context.nowMs,
  });
  countInDay(draft, succeeded);
  const intent = draft.put<PaymentIntentRecord>({
    ...draft.require('payment_intent', charge.payment_intent),
    status: 'succeeded',
    amount_received: charge.amount,
    last_payment_error: null,
    network_call: null,
  });
  draft.emit('charge.succeeded', presentCharge(succeeded));
  draft.emit('payment_intent.succeeded', presentPaymentIntent(intent, succeeded, baseUrl));
  completeSession(draft, intent);
  return succeeded;
}

/**
 * The charge is given up before it was paid, and the network is told that its cash code is not
 * valid any more.
 */
export function giveUpCharge(draft: Draft, charge: ChargeRecord): void {
  closeCharge(draft, charge, canceledBeforePaid(draft.context.language));
  if (charge.method === 'cash') callAbout(draft, charge, 'cancel_cash_code');
}

/**
 * The charge fails. The caller changes its payment intent afterwards, because this event comes
 * before the intent's.
 */
function closeCharge(draft: Draft, charge: ChargeRecord, failure: Failure): ChargeRecord {
  const failed = draft.put<ChargeRecord>({
    ...charge,
    status: 'failed',
    failure_code: failure.code,
    failure_message: failure.message,
    decline_code: failure.decline_code,
    challenge_token: null,
    settled_at_ms: draft.context.nowMs,
  });
  countInDay(draft, failed);
  draft.emit('charge.failed', presentCharge(failed));
  return failed;
}

/** The charge fails, and its payment intent can be paid by another one. */
export function failCharge(draft: Draft, charge: ChargeRecord, failure: Failure): ChargeRecord {
  const failed = closeCharge(draft, charge, failure);
  const intent = draft.put<PaymentIntentRecord>({
    ...draft.require('payment_intent', charge.payment_intent),
    status: 'requires_payment_method',
    last_payment_error: { ...failure, charge: charge.id },
    network_call: null,
  });
  draft.emit(
    'payment_intent.payment_failed',
    presentPaymentIntent(intent, failed, draft.context.settings.baseUrl),
  );
  return failed;
}

/**
 * Fails a charge whose time is up, unless a network call for it is under way. Returns the charge as
 * it is then.
 */
export function failOverdue(draft: Draft, charge: ChargeRecord): ChargeRecord {
  const { serviceMs, language } = draft.context;
  if (charge.status !== 'pending' || !isOver(charge, serviceMs)) return charge;
  if (draft.require('payment_intent', charge.payment_intent).network_call !== null) return charge;
  return failCharge(draft, charge, lastDecline(charge, language) ?? expiredUnpaid(language));
}

/**
 * Why a card was declined on the network's page, where the customer could have tried another one.
 */
function lastDecline({ decline_code }: ChargeRecord, language: Language): Failure | null {
  return decline_code === null ? null : declined(decline_code, language);
}

/**
 * What the card page sends and the service stores of a card: the network's token for it, and what
 * may be shown of it, but never the number.
 */
export interface TokenizedCard {
  readonly token: string;
  readonly card: CardDetails;
  /** The card's bank wants the customer to pass a challenge first (3-D Secure). */
  readonly challenge: boolean;
}

/** The customer typed a card on the page of a charge. */
export function submitCard(draft: Draft, params: TokenizedCard, charge: ChargeRecord): Outcome {
  const refusal = refuseCard(draft, charge);
  if (refusal !== null) return refused(refusal);
  const known = { ...charge, card: params.card };
  if (!params.challenge) return authorize(draft, known, params.token);
  draft.put<ChargeRecord>({ ...known, challenge_token: params.token });
  return { body: JSON.stringify({ status: 'challenge' }) };
}

/** The customer answered the bank's challenge. */
export function answerChallenge(draft: Draft, params: { passed: boolean }, charge: ChargeRecord): Outcome {
  const refusal = refuseCard(draft, charge);
  if (refusal !== null) return refused(refusal);
  const token = charge.challenge_token;
  if (token === null) return refused(refuse('charge_unexpected_state', { values: { status: 'pending' } }));
  if (params.passed) return authorize(draft, charge, token);
  failCharge(draft, charge, declined('transaction_not_allowed', draft.context.language));
  return { body: JSON.stringify({ status: 'failed' }) };
}

function authorize(draft: Draft, charge: ChargeRecord, token: string): Outcome {
  const call = draft.call({
    ...newNetworkCall(draft.context, 'authorize_card'),
    payment_intent: charge.payment_intent,
    charge: charge.id,
    card_token: token,
  });
  const authorizing = draft.put({ ...charge, challenge_token: null, authorization: call.id });
  paymentSubmitted(draft, authorizing, call.id);
  return { waitsFor: call };
}

/**
 * The customer goes back to choose a method again. The charge fails; money that still arrives for
 * it opens a review.
 */
export function abandonCharge(draft: Draft, _params: object, charge: ChargeRecord): Outcome {
  const intent = draft.require('payment_intent', charge.payment_intent);
  if (intent.checkout_session === null) return refused(missing('charge', charge.id, null));
  const refusal = refuseUnlessWaiting(draft, charge);
  if (refusal !== null) return refused(refusal);
  const decline = lastDecline(charge, draft.context.language);
  if (decline !== null) {
    failCharge(draft, charge, decline);
  } else {
    giveUpCharge(draft, charge);
    draft.put<PaymentIntentRecord>({ ...intent, status: 'requires_payment_method' });
  }
  return { body: JSON.stringify({ status: 'requires_payment_method' }) };
}

/**
 * The customer left the network's page without paying: a charge whose card was declined there
 * fails.
 */
export function leaveNetworkPage(draft: Draft, _params: object, charge: ChargeRecord): Outcome {
  const decline = lastDecline(charge, draft.context.language);
  if (charge.status === 'pending' && decline !== null) failCharge(draft, charge, decline);
  return { body: '{}' };
}

/** Null when a card can be typed for the charge. */
function refuseCard(draft: Draft, charge: ChargeRecord): Refusal | null {
  return charge.method === 'card' ? refuseUnlessWaiting(draft, charge) : missing('charge', charge.id, null);
}

/** Null when the charge waits for its customer to pay. */
function refuseUnlessWaiting(draft: Draft, charge: ChargeRecord): Refusal | null {
  const intent = draft.require('payment_intent', charge.payment_intent);
  const refusal = changeable(intent, ['requires_action']);
  if (refusal !== null) return refusal;
  const waits = charge.status === 'pending' && intent.latest_charge === charge.id;
  return waits ? null : refuse('charge_unexpected_state', { values: { status: charge.status } });
}

/** The card that a test helper pays with when the customer has not typed one. */
const helperCard: CardDetails = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034 };

export function completeChargeForTest(
  draft: Draft,
  params: ParamsOf<'complete_charge'>,
  charge: ChargeRecord,
): Outcome {
  const refusal = refuseUnlessPending(draft, charge);
  if (refusal !== null) return refused(refusal);
  if (params.amount !== undefined && params.amount !== charge.amount) {
    openReview(draft, charge, 'amount_mismatch', { ...charge, amount: params.amount });
    return answered(presentCharge(charge));
  }
  dropAuthorization(draft, charge);
  const card = charge.method === 'card' ? (charge.card ?? helperCard) : null;
  return answered(presentCharge(succeedCharge(draft, { ...charge, card })));
}

/** The decline code of a test helper's request that names none. */
export const defaultDecline: DeclineCode = 'generic_decline';

export function failChargeForTest(
  draft: Draft,
  params: ParamsOf<'fail_charge'>,
  charge: ChargeRecord,
): Outcome {
  const refusal = refuseUnlessPending(draft, charge);
  if (refusal !== null) return refused(refusal);
  const { decline_code } = params;
  if (charge.method === 'cash' && decline_code !== undefined) {
    const message = 'parameter_invalid.not_a_card';
    return refused(refuse('parameter_invalid', { param: 'decline_code', message }));
  }
  dropAuthorization(draft, charge);
  const { language } = draft.context;
  const failure =
    charge.method === 'cash' ? cashRefused(language) : declined(decline_code ?? defaultDecline, language);
  return answered(presentCharge(failCharge(draft, charge, failure)));
}

export function expireChargeForTest(draft: Draft, _params: object, charge: ChargeRecord): Outcome {
  const refusal = refuseUnlessPending(draft, charge);
  if (refusal !== null) return refused(refusal);
  dropAuthorization(draft, charge);
  return answered(presentCharge(failCharge(draft, charge, expiredUnpaid(draft.context.language))));
}

/** Null when a test helper may complete, fail or expire the charge. */
function refuseUnlessPending(draft: Draft, { status, payment_intent }: ChargeRecord): Refusal | null {
  if (status !== 'pending') return refuse('charge_unexpected_state', { values: { status } });
  const intent = draft.require('payment_intent', payment_intent);
  return intent.network_call === null ? null : refuse('payment_intent_busy');
}

/**
 * The charge is decided, so a later answer to the call that charges its card must not change
 * anything.
 */
export function dropAuthorization(draft: Draft, { authorization }: ChargeRecord): void {
  const call = authorization === null ? undefined : draft.get('network_call', authorization);
  if (call !== undefined) draft.remove(call);
}
