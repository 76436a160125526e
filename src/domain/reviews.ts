// Reviews are opened for money of another amount or currency, or that came too late. Nothing is
// credited; a member or an operator closes it.

import { refuse } from '../contract/errors/table.ts';
import type { ClosedReason } from '../contract/vocabulary.ts';
import { answered, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { callAbout } from './network-call.ts';
import { presentReview } from './present.ts';
import type { ChargeRecord, ReviewRecord } from './record.ts';

export function openReview(
  draft: Draft,
  charge: ChargeRecord,
  reason: ReviewRecord['reason'],
  received: { readonly amount: number; readonly currency: string },
): ReviewRecord {
  const { context } = draft;
  const review = draft.put<ReviewRecord>({
    kind: 'review',
    id: context.newId('review'),
    org: charge.org,
    livemode: charge.livemode,
    created: Math.floor(context.nowMs / 1000),
    payment_intent: charge.payment_intent,
    charge: charge.id,
    open: true,
    reason,
    amount_expected: charge.amount,
    amount_received: received.amount,
    currency_received: received.currency,
    closed_reason: null,
  });
  draft.emit('review.opened', presentReview(review));
  return review;
}

/**
 * A member or an operator dealt with the money outside of the service: gave it to the merchant
 * (approved) or back (refunded).
 */
export function closeReview(draft: Draft, params: { as: ClosedReason }, review: ReviewRecord): Outcome {
  if (!review.open) return refused(refuse('invalid_request', { message: 'invalid_request.review_state' }));
  const closed = draft.put<ReviewRecord>({ ...review, open: false, closed_reason: params.as });
  if (params.as === 'refunded') releaseHeld(draft, draft.require('charge', review.charge));
  draft.emit('review.closed', presentReview(closed));
  return answered(presentReview(closed));
}

/**
 * Money that a card network holds for a charge that has failed goes back to the customer. While a
 * charge is pending the customer may still pay it, and a network that knows the order only would
 * give up that money.
 */
function releaseHeld(draft: Draft, charge: ChargeRecord): void {
  const isHeld = charge.method === 'card' && charge.status === 'failed' && charge.receipts.length > 0;
  if (isHeld) callAbout(draft, charge, 'release_charge');
}
