// What a payment network is told of an operation: everything the call needs, as plain data that may cross a thread.
// Made from the records as they are once the operation is durable, so a call that is made again after a restart says
// the same again.

import { assert } from '../core/assert.ts';
import type { CardDetails, OperationRecord } from './record.ts';
import type { View } from './view.ts';

export interface NetworkCall {
  /** The operation, by which the network knows the call: it makes one effect of it, however often it is sent. */
  readonly id: string;
  readonly action: OperationRecord['action'];
  readonly livemode: boolean;
  /** Unix milliseconds, to the second: when the operation was decided. */
  readonly startedAtMs: number;
  /** Centimes to charge, or to give back. */
  readonly amount: number;
  readonly currency: string;
  /** The network's name for the card to charge. `authorize_card` only. */
  readonly token: string | null;
  /** The operation that charged the card, unless a test helper did, and the card. `refund_charge` only. */
  readonly authorization: string | null;
  readonly card: CardDetails | null;
  /** The code to issue and the time until which it can be paid. `issue_cash_code` only. */
  readonly cash: { readonly number: string; readonly expiresAtMs: number } | null;
}

/** The call that `operation` asks for. `cashCodeMs` is the life of a cash code. */
export function networkCallOf(view: View, operation: OperationRecord, cashCodeMs: number): NetworkCall {
  const intent = view.get('payment_intent', operation.payment_intent);
  assert(intent !== undefined, `operation ${operation.id} has no payment intent`);
  const startedAtMs = operation.created * 1000;
  const refunded = operation.action === 'refund_charge' ? view.get('charge', operation.charge!)! : null;
  return {
    id: operation.id,
    action: operation.action,
    livemode: operation.livemode,
    startedAtMs,
    amount: operation.refund === null ? intent.amount : view.get('refund', operation.refund)!.amount,
    currency: intent.currency,
    token: operation.card_token,
    authorization: refunded?.authorization ?? null,
    card: refunded?.card ?? null,
    cash:
      operation.cash_number === null
        ? null
        : { number: operation.cash_number, expiresAtMs: startedAtMs + cashCodeMs },
  };
}
