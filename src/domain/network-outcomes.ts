// Outcomes of calls to payment networks. The record of a call is written before the call is made
// and removed when its final outcome is applied, so an outcome that arrives twice, late, or after a
// crash changes the payment once.

import { networkUnavailable } from '../contract/errors/table.ts';
import type { DeclineCode } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import { chargeOpened, declined, failCharge, succeedCharge } from './charges.ts';
import type { Outcome } from './decision.ts';
import type { Draft } from './draft.ts';
import { type ReportedMoney, receiveDecline, receiveMoney, reviewPartTaken } from './received-money.ts';
import type { NetworkCallRecord, PaymentIntentRecord } from './record.ts';
import { failRefund, succeedRefund } from './refunds.ts';
import { openReview } from './reviews.ts';

/** How a payment network answered a call. */
export type NetworkOutcome =
  /** The card page is open, the cash code is issued, the card is charged, or the refund is made. */
  | { readonly result: 'done' }
  /** The network's own page is open, and the network can be asked what became of it. */
  | { readonly result: 'awaited' }
  /** The customer has paid on the network's page. */
  | { readonly result: 'paid'; readonly money: ReportedMoney }
  /**
   * The network has taken the order; `done`, `declined` or `failed` follows by notification.
   * `refusal`: it refuses the order for now, for this reason, and is sent it again later.
   */
  | { readonly result: 'accepted'; readonly refusal?: string }
  | { readonly result: 'declined'; readonly decline_code: DeclineCode }
  /** `taken`: the centimes that the network took all the same, of a capture. */
  | { readonly result: 'failed'; readonly reason: string; readonly taken?: number };

const nothing: Outcome = { body: '{}' };

/** Applies an outcome. Its answer goes to the request that waits for the call. */
export function applyOutcome(draft: Draft, params: { call: string; outcome: NetworkOutcome }): Outcome {
  const call = draft.get('network_call', params.call);
  if (call === undefined) return nothing;
  const { outcome } = params;
  if (outcome.result === 'accepted') return acceptNetworkCall(draft, call);
  draft.remove(call);
  switch (call.action) {
    case 'open_card_page':
    case 'issue_cash_code':
      return applyOpening(draft, call, outcome);
    case 'authorize_card':
      return applyAuthorization(draft, call, outcome);
    case 'await_card_payment':
      return applyAwaited(draft, call, outcome);
    case 'capture_charge':
      return applyCapture(draft, call, outcome);
    case 'refund_charge':
      return applyRefund(draft, call, outcome);
    case 'release_charge':
    case 'cancel_cash_code':
      // Whether that could still be done or not: what was taken instead is in the network's
      // statement, and what was paid with the code is reported, and opens a review.
      return nothing;
  }
}

/**
 * The call is answered, but its final outcome follows, so the record stays and the intent is no
 * longer busy. While its charge is being opened it stays busy: a second charge could be paid as
 * well.
 */
function acceptNetworkCall(draft: Draft, call: NetworkCallRecord): Outcome {
  if (isOpening(call)) return { waiterRefused: networkUnavailable };
  if (call.accepted) return nothing;
  draft.put<NetworkCallRecord>({ ...call, accepted: true });
  freeIntent(draft, call);
  return { body: JSON.stringify({ status: 'processing' }) };
}

function isOpening({ action }: NetworkCallRecord): boolean {
  return action === 'open_card_page' || action === 'issue_cash_code';
}

function freeIntent(draft: Draft, call: NetworkCallRecord): void {
  const intent = draft.get('payment_intent', call.payment_intent);
  if (intent?.network_call === call.id) draft.put<PaymentIntentRecord>({ ...intent, network_call: null });
}

/**
 * A charge exists only once its network has opened it. Until then there is nothing for the customer
 * to do.
 */
function applyOpening(draft: Draft, call: NetworkCallRecord, outcome: NetworkOutcome): Outcome {
  const { result } = outcome;
  if (result === 'done' || result === 'awaited') return chargeOpened(draft, call, result === 'awaited');
  freeIntent(draft, call);
  return { waiterRefused: networkUnavailable };
}

function applyAuthorization(draft: Draft, call: NetworkCallRecord, outcome: NetworkOutcome): Outcome {
  const charge = draft.require('charge', call.charge);
  freeIntent(draft, call);
  if (outcome.result === 'done') {
    // The charge has failed meanwhile, but the money is real, so a person has to look at it.
    if (charge.status === 'failed') openReview(draft, charge, 'late_payment', charge);
    if (charge.status === 'pending') succeedCharge(draft, charge);
    return { body: JSON.stringify({ status: 'succeeded' }) };
  }
  if (charge.status !== 'pending') return nothing;
  const code = outcome.result === 'declined' ? outcome.decline_code : 'processing_error';
  failCharge(draft, charge, declined(code, draft.context.language));
  return { body: JSON.stringify({ status: 'failed' }) };
}

/**
 * The network was asked what became of its page. When the customer can pay there no longer, the
 * charge fails by itself.
 */
function applyAwaited(draft: Draft, { charge }: NetworkCallRecord, outcome: NetworkOutcome): Outcome {
  const id = defined(charge, 'a page that is awaited has a charge');
  if (outcome.result === 'paid') return receiveMoney(draft, outcome.money, id);
  if (outcome.result !== 'declined') return nothing;
  return receiveDecline(draft, { ...outcome, mayTryAgain: false }, id);
}

/** Money that was credited and that the network does not hand out: a person has to look at it. */
function applyCapture(draft: Draft, call: NetworkCallRecord, outcome: NetworkOutcome): Outcome {
  if (outcome.result === 'done') return nothing;
  const taken = outcome.result === 'failed' ? (outcome.taken ?? 0) : 0;
  reviewPartTaken(draft, draft.require('charge', call.charge), taken);
  return nothing;
}

function applyRefund(draft: Draft, call: NetworkCallRecord, outcome: NetworkOutcome): Outcome {
  const refund = draft.require('refund', call.refund);
  if (refund.status !== 'pending') return nothing;
  if (outcome.result === 'done') succeedRefund(draft, refund);
  else failRefund(draft, refund, outcome.result === 'failed' ? outcome.reason : 'declined');
  return nothing;
}
