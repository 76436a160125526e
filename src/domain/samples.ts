// The objects of sample events, with which merchants try their receivers. They have the fields and
// the forms of real objects, but their ids belong to no object.

import type { EventType } from '../contract/vocabulary.ts';
import { declined } from './charges.ts';
import { deadlineAt } from './deadline.ts';
import type { Context } from './decision.ts';
import * as present from './present.ts';
import type {
  ChargeRecord,
  CheckoutSessionRecord,
  PaymentIntentRecord,
  RefundRecord,
  ReviewRecord,
} from './record.ts';

const amount = 20_000;
const halfAnHourMs = 1_800_000;

type IntentStatus = PaymentIntentRecord['status'];

/** The object that a sample event of this type carries. */
export function sampleObject(context: Context, type: EventType): object {
  const samples = new Samples(context);
  switch (type) {
    case 'payment_intent.created':
      return samples.intent('requires_payment_method', { latest_charge: null });
    case 'payment_intent.payment_failed':
      return samples.intent('requires_payment_method', { last_payment_error: samples.decline });
    case 'payment_intent.requires_action':
      return samples.intent('requires_action');
    case 'payment_intent.processing':
      return samples.intent('processing');
    case 'payment_intent.succeeded':
      return samples.intent('succeeded', { amount_received: amount });
    case 'payment_intent.canceled': {
      const canceled = { canceled_at: samples.common.created, cancellation_reason: 'abandoned' } as const;
      return samples.intent('canceled', canceled);
    }
    case 'charge.succeeded':
      return present.presentCharge(samples.charge);
    case 'charge.failed': {
      const { code: failure_code, message: failure_message, decline_code } = samples.decline;
      return present.presentCharge({
        ...samples.charge,
        status: 'failed',
        failure_code,
        failure_message,
        decline_code,
      });
    }
    case 'charge.refunded':
      return present.presentCharge({ ...samples.charge, amount_refunded: amount });
    case 'checkout.session.completed':
      return samples.session('complete');
    case 'checkout.session.expired':
      return samples.session('expired');
    case 'refund.created':
      return samples.refund('pending');
    case 'refund.updated':
      return samples.refund('succeeded');
    case 'refund.failed':
      return samples.refund('failed');
    case 'review.opened':
      return samples.review(true);
    case 'review.closed':
      return samples.review(false);
  }
}

class Samples {
  readonly #context: Context;
  readonly #ids: Readonly<Record<'intent' | 'charge' | 'session', string>>;

  constructor(context: Context) {
    this.#context = context;
    this.#ids = {
      intent: context.newId('payment_intent'),
      charge: context.newId('charge'),
      session: context.newId('checkout_session'),
    };
  }

  get common() {
    const { org, livemode, nowMs } = this.#context;
    return {
      org,
      livemode,
      created: Math.floor(nowMs / 1000),
      amount,
      currency: 'mad' as const,
      metadata: {},
    };
  }

  get decline() {
    return { ...declined('insufficient_funds', this.#context.language), charge: this.#ids.charge };
  }

  intent(status: IntentStatus, more: Partial<PaymentIntentRecord> = {}) {
    const intent: PaymentIntentRecord = {
      ...this.common,
      kind: 'payment_intent',
      id: this.#ids.intent,
      amount_received: 0,
      status,
      payment_method_types: ['card'],
      latest_charge: this.#ids.charge,
      customer: null,
      description: null,
      last_payment_error: null,
      return_url: null,
      canceled_at: null,
      cancellation_reason: null,
      checkout_session: null,
      network_call: null,
      ...more,
    };
    return present.presentPaymentIntent(intent, this.charge, this.#context.settings.baseUrl);
  }

  get charge(): ChargeRecord {
    return {
      ...this.common,
      kind: 'charge',
      id: this.#ids.charge,
      amount_refunded: 0,
      amount_refund_pending: 0,
      status: 'succeeded',
      method: 'card',
      payment_intent: this.#ids.intent,
      failure_code: null,
      failure_message: null,
      decline_code: null,
      card: { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034 },
      cash_number: null,
      cash_agent: null,
      receipts: [],
      challenge_token: null,
      authorization: null,
      settled_at_ms: this.#context.nowMs,
      ...deadlineAt(this.#context.nowMs + halfAnHourMs, this.#context),
    };
  }

  session(status: CheckoutSessionRecord['status']) {
    const session: CheckoutSessionRecord = {
      ...this.common,
      kind: 'checkout_session',
      id: this.#ids.session,
      payment_method_types: ['card'],
      payment_intent: this.#ids.intent,
      status,
      success_url: 'https://shop.example/thanks',
      cancel_url: null,
      customer: null,
      client_reference_id: null,
      description: null,
      locale: null,
      ...deadlineAt(this.#context.nowMs + halfAnHourMs, this.#context),
    };
    return present.presentCheckoutSession(session, this.#context.settings.baseUrl);
  }

  refund(status: RefundRecord['status']) {
    return present.presentRefund({
      ...this.common,
      kind: 'refund',
      id: this.#context.newId('refund'),
      charge: this.#ids.charge,
      payment_intent: this.#ids.intent,
      reason: 'requested_by_customer',
      status,
      failure_reason: status === 'failed' ? 'expired_card' : null,
      settled_at_ms: status === 'pending' ? null : this.#context.nowMs,
    });
  }

  review(open: boolean) {
    const review: ReviewRecord = {
      ...this.common,
      kind: 'review',
      id: this.#context.newId('review'),
      payment_intent: this.#ids.intent,
      charge: this.#ids.charge,
      open,
      reason: 'amount_mismatch',
      amount_expected: amount,
      amount_received: amount - 100,
      closed_reason: open ? null : 'approved',
    };
    return present.presentReview(review);
  }
}
