// Outcomes of calls to payment networks. An operation is written down before its call is made and goes when its final
// outcome is applied, so an outcome that arrives twice, late, or after a crash changes the payment once.

import { refuse } from '../contract/errors/table.ts';
import type { DeclineCode } from '../contract/vocabulary.ts';
import { chargeOpened, declined, failCharge, succeedCharge } from './charges.ts';
import type { Outcome } from './decision.ts';
import type { Draft } from './draft.ts';
import type { OperationRecord, PaymentIntentRecord } from './record.ts';
import { failRefund, succeedRefund } from './refunds.ts';
import { openReview } from './reviews.ts';

/** What a payment network says of an operation. */
export type NetworkOutcome =
  /** It is done: the page or code is open, the card is charged, the refund is made. */
  | { readonly result: 'done' }
  /** It is taken; `done`, `declined` or `failed` follows by notification. */
  | { readonly result: 'accepted' }
  | { readonly result: 'declined'; readonly decline_code: DeclineCode }
  | { readonly result: 'failed'; readonly reason: string };

const nothing: Outcome = { body: '{}' };

/** Applies an outcome; the request that waits for the operation gets this answer. */
export function settleOperation(
  draft: Draft,
  params: { operation: string; outcome: NetworkOutcome },
): Outcome {
  const operation = draft.get('operation', params.operation);
  if (operation === undefined) return nothing;
  const { outcome } = params;
  if (outcome.result === 'accepted' && !isOpening(operation)) return acceptOperation(draft, operation);
  draft.remove(operation);
  switch (operation.action) {
    case 'open_card_page':
    case 'issue_cash_code':
      return settleOpening(draft, operation, outcome);
    case 'authorize_card':
      return settleAuthorization(draft, operation, outcome);
    case 'refund_charge':
      return settleRefund(draft, operation, outcome);
  }
}

/** The call is over; what it was about is not. */
function acceptOperation(draft: Draft, operation: OperationRecord): Outcome {
  draft.put<OperationRecord>({ ...operation, accepted: true });
  freeIntent(draft, operation);
  return { body: JSON.stringify({ status: 'processing' }) };
}

function isOpening({ action }: OperationRecord): boolean {
  return action === 'open_card_page' || action === 'issue_cash_code';
}

function freeIntent(draft: Draft, operation: OperationRecord): void {
  const intent = draft.get('payment_intent', operation.payment_intent);
  if (intent?.operation === operation.id) draft.put<PaymentIntentRecord>({ ...intent, operation: null });
}

const networkUnavailable = refuse('api_error', {
  message: 'api_error.network_unavailable',
  retryAfterSeconds: 1,
});

/** A charge exists only once its network has opened it. Until then there is nothing for the customer to do. */
function settleOpening(draft: Draft, operation: OperationRecord, outcome: NetworkOutcome): Outcome {
  if (outcome.result === 'done') return chargeOpened(draft, operation);
  freeIntent(draft, operation);
  return { waiterRefused: networkUnavailable };
}

function settleAuthorization(draft: Draft, operation: OperationRecord, outcome: NetworkOutcome): Outcome {
  const charge = draft.get('charge', operation.charge!)!;
  freeIntent(draft, operation);
  if (outcome.result === 'done') {
    // The charge has failed meanwhile, but the money is real, so a person has to look at it.
    if (charge.status === 'failed') openReview(draft, charge, 'late_payment', charge.amount);
    if (charge.status === 'pending') succeedCharge(draft, charge);
    return { body: JSON.stringify({ status: 'succeeded' }) };
  }
  if (charge.status !== 'pending') return nothing;
  const code = outcome.result === 'declined' ? outcome.decline_code : 'processing_error';
  failCharge(draft, charge, declined(code, draft.context.language));
  return { body: JSON.stringify({ status: 'failed' }) };
}

function settleRefund(draft: Draft, operation: OperationRecord, outcome: NetworkOutcome): Outcome {
  const refund = draft.get('refund', operation.refund!)!;
  if (refund.status !== 'pending') return nothing;
  if (outcome.result === 'done') succeedRefund(draft, refund);
  else failRefund(draft, refund, outcome.result === 'failed' ? outcome.reason : 'declined');
  return nothing;
}
