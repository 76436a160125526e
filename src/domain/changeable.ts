// Whether a payment may be changed now, and the record of a call to a payment network that keeps others from changing
// it meanwhile.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import type { Context } from './decision.ts';
import type { OperationRecord, PaymentIntentRecord } from './record.ts';

/** An intent that may be changed: neither decided nor in the middle of a call to a network. */
export function changeable(
  intent: PaymentIntentRecord,
  allowed: readonly PaymentIntentRecord['status'][],
): Refusal | null {
  if (intent.operation !== null) return refuse('payment_intent_busy');
  if (allowed.includes(intent.status)) return null;
  return refuse('payment_intent_unexpected_state', { values: { status: intent.status } });
}

/** The parts of an operation that do not depend on what it is about. */
export function newOperation(context: Context, action: OperationRecord['action']): OperationRecord {
  return {
    kind: 'operation',
    id: context.newId('operation'),
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
