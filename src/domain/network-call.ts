// Calls to payment networks. The record of a call is written before the call is made. What the
// network is told is plain data that may cross a thread, made from the records as they are when the
// call is durable, so a call that is made again after a restart says the same.

import type { PaymentMethodType } from '../contract/vocabulary.ts';
import type { Context } from './decision.ts';
import type { Draft } from './draft.ts';
import { required } from './find.ts';
import type { CardDetails, ChargeRecord, NetworkCallRecord } from './record.ts';
import type { View } from './view.ts';

export interface NetworkCall {
  /**
   * The id of the call's record. The network has one effect for each id, however often the call is
   * sent.
   */
  readonly id: string;
  readonly org: string;
  readonly action: NetworkCallRecord['action'];
  readonly paymentIntent: string;
  /** Null before the charge is opened. */
  readonly charge: string | null;
  readonly livemode: boolean;
  /** When the call was decided: Unix milliseconds, rounded to a second. */
  readonly startedAtMs: number;
  /** Centimes to charge or to refund. */
  readonly amount: number;
  readonly currency: string;
  /** The network's token for the card to charge. `authorize_card` only. */
  readonly token: string | null;
  /** Until when its charge can be paid, Unix milliseconds. */
  readonly chargeEndsAtMs: number | null;
  /**
   * The id of the call that charged the card (null when a test helper did), and the card.
   * `refund_charge` only.
   */
  readonly authorization: string | null;
  readonly card: CardDetails | null;
  /** The code to issue or to cancel, and the time until which it can be paid. */
  readonly cash: { readonly number: string; readonly expiresAtMs: number } | null;
}

/** The method of the payment that a call is about. */
export function methodOfCall({ action }: Pick<NetworkCallRecord, 'action'>): PaymentMethodType {
  return action === 'issue_cash_code' || action === 'cancel_cash_code' ? 'cash' : 'card';
}

/** The record of a new call, without what it is about. */
export function newNetworkCall(context: Context, action: NetworkCallRecord['action']): NetworkCallRecord {
  return {
    kind: 'network_call',
    id: context.newId('network_call'),
    org: context.org,
    livemode: context.livemode,
    created: Math.floor(context.nowMs / 1000),
    action,
    payment_intent: '',
    charge: null,
    refund: null,
    card_token: null,
    cash_number: null,
    return_url: null,
    accepted: false,
    request: context.request,
  };
}

/** Records a call about a charge that no request waits for. */
export function callAbout(
  draft: Draft,
  charge: Pick<ChargeRecord, 'id' | 'payment_intent'>,
  action: NetworkCallRecord['action'],
  accepted = false,
): NetworkCallRecord {
  return draft.call({
    ...newNetworkCall(draft.context, action),
    payment_intent: charge.payment_intent,
    charge: charge.id,
    accepted,
    request: null,
  });
}

/**
 * When the cash code that a call issues can no longer be paid. Its network is told this time, and
 * its charge has the same.
 */
export function cashCodeEndMs({ created }: Pick<NetworkCallRecord, 'created'>, cashCodeMs: number): number {
  return created * 1000 + cashCodeMs;
}

/**
 * What the network is told of the call `record`. `cashCodeMs` is how long a cash code can be paid.
 */
export function networkCallOf(view: View, record: NetworkCallRecord, cashCodeMs: number): NetworkCall {
  const intent = required(view, 'payment_intent', record.payment_intent);
  const startedAtMs = record.created * 1000;
  const charge = record.charge === null ? null : required(view, 'charge', record.charge);
  const refunded = record.action === 'refund_charge' ? charge : null;
  const canceled = record.action === 'cancel_cash_code' ? charge : null;
  const number = canceled?.cash_number ?? record.cash_number;
  const expiresAtMs = canceled?.expires_at_ms ?? cashCodeEndMs(record, cashCodeMs);
  return {
    id: record.id,
    org: record.org,
    action: record.action,
    paymentIntent: record.payment_intent,
    charge: record.charge,
    livemode: record.livemode,
    startedAtMs,
    amount: record.refund === null ? intent.amount : required(view, 'refund', record.refund).amount,
    currency: intent.currency,
    token: record.card_token,
    chargeEndsAtMs: charge?.expires_at_ms ?? null,
    authorization: refunded?.authorization ?? null,
    card: refunded?.card ?? null,
    cash: number === null ? null : { number, expiresAtMs },
  };
}
