// Refunds: money returned for a card payment. The amount of a pending refund can't be refunded
// again unless it fails.

import { refuse } from '../contract/errors/table.ts';
import type { ParamsOf } from '../contract/routes/table.ts';
import { defined } from '../core/assert.ts';
import { countInDay } from './day-totals.ts';
import { answered, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { type Caller, type Found, find } from './find.ts';
import { initialMetadata } from './metadata.ts';
import { newNetworkCall } from './network-call.ts';
import { presentCharge, presentRefund } from './present.ts';
import type { ChargeRecord, RefundRecord } from './record.ts';
import type { View } from './view.ts';

/** The amount of a charge less its pending and succeeded refunds, in centimes. */
export function refundable(charge: ChargeRecord): number {
  return charge.amount - charge.amount_refunded - charge.amount_refund_pending;
}

export function createRefund(draft: Draft, params: ParamsOf<'create_refund'>): Outcome {
  const found = paidCharge(draft.view, draft.context, params);
  if ('refusal' in found) return found;
  const charge = found.record;
  const remaining = refundable(charge);
  const amount = params.amount ?? remaining;
  if (amount > remaining || amount === 0) {
    return refused(refuse('amount_too_large', { param: 'amount', values: { remaining } }));
  }
  const { context } = draft;
  const refund = draft.put<RefundRecord>({
    kind: 'refund',
    id: context.newId('refund'),
    org: charge.org,
    livemode: charge.livemode,
    created: Math.floor(context.nowMs / 1000),
    amount,
    currency: charge.currency,
    charge: charge.id,
    payment_intent: charge.payment_intent,
    reason: params.reason ?? null,
    status: 'pending',
    failure_reason: null,
    settled_at_ms: null,
    metadata: initialMetadata(params.metadata),
  });
  draft.put<ChargeRecord>({ ...charge, amount_refund_pending: charge.amount_refund_pending + amount });
  draft.call({
    ...newNetworkCall(context, 'refund_charge'),
    payment_intent: charge.payment_intent,
    charge: charge.id,
    refund: refund.id,
    // The request is answered at once. The call names it for the events, but has no response to
    // store for it.
    request: context.request && {
      ...context.request,
      key_digest: null,
      fingerprint: null,
      resolved_defaults: null,
    },
  });
  const resource = presentRefund(refund);
  draft.emit('refund.created', resource);
  return answered(resource);
}

/** The succeeded card charge that is to be refunded. */
export function paidCharge(
  view: View,
  caller: Caller,
  params: Pick<ParamsOf<'create_refund'>, 'charge' | 'payment_intent'>,
): Found<'charge'> {
  if (params.charge !== undefined) return refundableCharge(view, caller, params.charge, 'charge');
  const id = defined(params.payment_intent, 'a refund names a charge or a payment intent');
  const found = find(view, caller, 'payment_intent', id, 'payment_intent');
  if ('refusal' in found) return found;
  const intent = found.record;
  if (intent.status !== 'succeeded') {
    const refusal = { param: 'payment_intent', values: { status: intent.status } };
    return { refusal: refuse('payment_intent_unexpected_state', refusal) };
  }
  const charge = defined(intent.latest_charge, 'a payment intent that succeeded has a charge');
  return refundableCharge(view, caller, charge, 'payment_intent');
}

function refundableCharge(view: View, caller: Caller, id: string, param: string): Found<'charge'> {
  const found = find(view, caller, 'charge', id, param);
  if ('refusal' in found) return found;
  const charge = found.record;
  if (charge.method === 'cash') return { refusal: refuse('refund_unsupported_payment_method', { param }) };
  if (charge.status === 'succeeded') return found;
  return { refusal: refuse('charge_unexpected_state', { param, values: { status: charge.status } }) };
}

/** The network made the refund. */
export function succeedRefund(draft: Draft, refund: RefundRecord): RefundRecord {
  const charge = draft.require('charge', refund.charge);
  const succeeded = draft.put<RefundRecord>({
    ...refund,
    status: 'succeeded',
    settled_at_ms: draft.context.nowMs,
  });
  countInDay(draft, succeeded);
  const refunded = draft.put<ChargeRecord>({
    ...charge,
    amount_refunded: charge.amount_refunded + refund.amount,
    amount_refund_pending: charge.amount_refund_pending - refund.amount,
  });
  draft.emit('refund.updated', presentRefund(succeeded));
  draft.emit('charge.refunded', presentCharge(refunded));
  return succeeded;
}

/** The network refused the refund: its amount can be refunded again. */
export function failRefund(draft: Draft, refund: RefundRecord, reason: string): RefundRecord {
  const charge = draft.require('charge', refund.charge);
  const failed = draft.put<RefundRecord>({
    ...refund,
    status: 'failed',
    failure_reason: reason,
    settled_at_ms: draft.context.nowMs,
  });
  draft.put<ChargeRecord>({ ...charge, amount_refund_pending: charge.amount_refund_pending - refund.amount });
  const resource = presentRefund(failed);
  draft.emit('refund.updated', resource);
  draft.emit('refund.failed', resource);
  return failed;
}

export function succeedRefundForTest(draft: Draft, _params: object, refund: RefundRecord): Outcome {
  return refuseUnlessPending(refund) ?? answered(presentRefund(succeedRefund(draft, refund)));
}

export function failRefundForTest(
  draft: Draft,
  params: ParamsOf<'fail_refund'>,
  refund: RefundRecord,
): Outcome {
  const reason = defined(params.failure_reason, 'failure_reason has a default');
  return refuseUnlessPending(refund) ?? answered(presentRefund(failRefund(draft, refund, reason)));
}

function refuseUnlessPending({ status }: RefundRecord): Outcome | null {
  if (status === 'pending') return null;
  const message = 'invalid_request.refund_state';
  return refused(refuse('invalid_request', { message, values: { status } }));
}
