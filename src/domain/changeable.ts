// Whether a payment intent may be changed now.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import type { PaymentIntentRecord } from './record.ts';

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
