// Reviews: money that is not what was asked for, or that comes too late.

import type { RecordOf } from '../../../src/domain/record.ts';
import { showReview } from './resources.ts';
import { type Expected, refuse, type Turn } from './turn.ts';

type Review = RecordOf<'review'>;

export function openReview(
  turn: Turn,
  { id: charge, payment_intent, amount }: RecordOf<'charge'>,
  reason: Review['reason'],
  received: { amount: number; currency: string },
): Review {
  const review = turn.put<Review>({
    ...turn.fresh('review'),
    ...{ payment_intent, charge, open: true, reason },
    ...{ amount_expected: amount, amount_received: received.amount, currency_received: received.currency },
    closed_reason: null,
  });
  turn.emit('review.opened', showReview(review));
  return review;
}

export function closeReview(turn: Turn, { as }: { as: 'approved' | 'refunded' }, id: string): Expected {
  const before = turn.get('review', id);
  if (before === undefined || !turn.isOwn(before)) return refuse('resource_missing');
  if (!before.open) return refuse('invalid_request');
  const closed = turn.change('review', id, { open: false, closed_reason: as });
  const charge = turn.the('charge', closed.charge);
  const isHeld = charge.method === 'card' && charge.status === 'failed' && charge.receipts.length > 0;
  if (as === 'refunded' && isHeld)
    turn.call('release_charge', { payment_intent: charge.payment_intent, charge: charge.id });
  turn.emit('review.closed', showReview(closed));
  return { answer: showReview(closed) };
}
