// What became of a payment, in one word, as its people see it: the status of its intent, and
// besides whether the latest attempt failed and what was paid back. The list, its filters, the
// exports for people and the payment's own page all ask here.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import type { LastPaymentError, PaymentIntentRecord } from './record.ts';

/** In the order of a payment's life. */
export const paymentStates = [
  'requires_payment_method',
  'failed',
  'requires_action',
  'processing',
  'succeeded',
  'partly_refunded',
  'refunded',
  'canceled',
] as const;
export type PaymentState = (typeof paymentStates)[number];

/** `refunded`: the centimes that were paid back. */
export function paymentState(
  { status, amount_received, last_payment_error: error }: StateOf,
  refunded: number,
): PaymentState {
  switch (status) {
    case 'requires_payment_method':
      // A customer who goes back to choose another method has not failed to pay.
      return error === null || error.code === 'payment_attempt_canceled' ? status : 'failed';
    case 'succeeded':
      if (refunded === 0) return status;
      return refunded < amount_received ? 'partly_refunded' : 'refunded';
    default:
      return status;
  }
}

interface StateOf {
  readonly status: PaymentIntentRecord['status'];
  readonly amount_received: number;
  readonly last_payment_error: Pick<LastPaymentError, 'code'> | null;
}

/** The status of the intents that may be in this state, for which there is an index. */
export function statusWithin(state: PaymentState): PaymentIntentRecord['status'] {
  switch (state) {
    case 'failed':
      return 'requires_payment_method';
    case 'partly_refunded':
    case 'refunded':
      return 'succeeded';
    default:
      return state;
  }
}

/**
 * Whether every intent with the state's status is in the state, so that the index alone finds them.
 */
export function isStatus(state: PaymentState): boolean {
  return state === 'requires_action' || state === 'processing' || state === 'canceled';
}

/**
 * The refusal of a change that needs one of these statuses; null when the intent may be changed.
 */
export function changeable(
  intent: PaymentIntentRecord,
  allowed: readonly PaymentIntentRecord['status'][],
): Refusal | null {
  if (intent.network_call !== null) return refuse('payment_intent_busy');
  if (allowed.includes(intent.status)) return null;
  return refuse('payment_intent_unexpected_state', { values: { status: intent.status } });
}
