// The objects of the examples in the API description. They belong together: an order of 250.00 MAD
// is paid by card, one of 480.00 MAD with a cash code. All are of test mode, and fit their schemas.

import type { Static } from 'typebox';
import { burstOf } from '../../core/token-bucket.ts';
import { type IdKind, idPrefixes } from '../id-prefixes.ts';
import { defaultLimits } from '../limits.ts';
import { format } from '../messages/table.ts';
import type { LoggedRequest } from '../routes/logged-request.ts';
import type * as r from '../routes/resources.ts';
import { type EventType, type Language, newestApiVersion } from '../vocabulary.ts';

/** Ids of the right form whose last characters tell them apart. */
const id = (kind: IdKind, tail: string) => `${idPrefixes[kind]}_0VU2bRX31f${tail.padStart(19, '0')}`;

export const exampleIds = {
  payment_intent: id('payment_intent', 'Card'),
  cash_intent: id('payment_intent', 'Cash'),
  checkout_session: id('checkout_session', 'Visit'),
  customer: id('customer', 'Amina'),
  charge: id('charge', 'Card'),
  cash_charge: id('charge', 'Cash'),
  refund: id('refund', 'Part'),
  review: id('review', 'Short'),
  event: id('event', 'Paid'),
  webhook_endpoint: id('webhook_endpoint', 'Shop'),
  organization: id('organization', 'Shop'),
  request: id('request', 'First'),
} as const;

/** 2 November 2026, 10:00 in Casablanca. */
export const exampleMadeAt = 1_793_610_000;
const created = exampleMadeAt;
const common = { created, livemode: false } as const;
export const exampleKey = 'order-1042-attempt-1';

function paymentIntents(baseUrl: string, language: Language) {
  const intent: r.PaymentIntentResource = {
    id: exampleIds.payment_intent,
    object: 'payment_intent',
    ...common,
    amount: 25_000,
    amount_received: 0,
    currency: 'mad',
    status: 'requires_payment_method',
    payment_method_types: ['card'],
    latest_charge: null,
    customer: exampleIds.customer,
    description: 'Order 1042',
    metadata: { order_id: '1042' },
    last_payment_error: null,
    next_action: null,
    canceled_at: null,
    cancellation_reason: null,
    checkout_session: null,
  };
  const intentWithCardPage: r.PaymentIntentResource = {
    ...intent,
    status: 'requires_action',
    latest_charge: exampleIds.charge,
    next_action: {
      type: 'redirect_to_url',
      redirect_to_url: {
        url: `${baseUrl}/pay/${exampleIds.charge}`,
        return_url: 'https://shop.example/orders/1042',
      },
    },
  };
  const intentWithCashCode: r.PaymentIntentResource = {
    ...intent,
    id: exampleIds.cash_intent,
    amount: 48_000,
    status: 'requires_action',
    payment_method_types: ['cash'],
    latest_charge: exampleIds.cash_charge,
    description: 'Order 1043',
    metadata: { order_id: '1043' },
    next_action: {
      type: 'cash_display_details',
      cash_display_details: {
        number: '704182935516',
        hosted_voucher_url: `${baseUrl}/voucher/${exampleIds.cash_charge}`,
        expires_at: created + 3 * 24 * 3600,
      },
    },
  };
  return { intent, intentWithCardPage, intentWithCashCode, ...decidedIntents(intent, language) };
}

function decidedIntents(intent: r.PaymentIntentResource, language: Language) {
  const processing: r.PaymentIntentResource = {
    ...intent,
    status: 'processing',
    latest_charge: exampleIds.charge,
  };
  const paid: r.PaymentIntentResource = { ...processing, status: 'succeeded', amount_received: 25_000 };
  const declined: r.PaymentIntentResource = {
    ...intent,
    latest_charge: exampleIds.charge,
    last_payment_error: {
      type: 'card_error',
      code: 'card_declined',
      decline_code: 'insufficient_funds',
      message: format('card_declined.insufficient_funds', language, {}),
      charge: exampleIds.charge,
    },
  };
  const canceled: r.PaymentIntentResource = {
    ...intent,
    status: 'canceled',
    canceled_at: created + 600,
    cancellation_reason: 'requested_by_customer',
  };
  return { processing, paid, declined, canceled };
}

function charges(language: Language) {
  const charge: r.ChargeResource = {
    id: exampleIds.charge,
    object: 'charge',
    ...common,
    amount: 25_000,
    amount_refunded: 0,
    currency: 'mad',
    status: 'succeeded',
    paid: true,
    refunded: false,
    failure_code: null,
    failure_message: null,
    decline_code: null,
    payment_intent: exampleIds.payment_intent,
    payment_method_details: {
      type: 'card',
      card: { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 },
    },
    metadata: {},
  };
  const chargeFailed: r.ChargeResource = {
    ...charge,
    status: 'failed',
    paid: false,
    failure_code: 'card_declined',
    failure_message: format('card_declined.insufficient_funds', language, {}),
    decline_code: 'insufficient_funds',
  };
  const chargeExpired: r.ChargeResource = {
    ...chargeFailed,
    failure_code: 'payment_attempt_expired',
    failure_message: format('failure.charge_expired', language, {}),
    decline_code: null,
    payment_method_details: { type: 'card', card: null },
  };
  const chargeInCash: r.ChargeResource = {
    ...charge,
    id: exampleIds.cash_charge,
    amount: 48_000,
    payment_intent: exampleIds.cash_intent,
    payment_method_details: { type: 'cash', cash: { number: '704182935516', agent: 'Agence Maarif' } },
  };
  const chargeRefunded: r.ChargeResource = { ...charge, amount_refunded: 10_000 };
  return { charge, chargeFailed, chargeExpired, chargeInCash, chargeRefunded };
}

function checkoutSessions(baseUrl: string) {
  const session: r.CheckoutSessionResource = {
    id: exampleIds.checkout_session,
    object: 'checkout.session',
    ...common,
    amount: 25_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    payment_intent: exampleIds.payment_intent,
    payment_status: 'unpaid',
    status: 'open',
    url: `${baseUrl}/checkout/${exampleIds.checkout_session}`,
    success_url: 'https://shop.example/orders/1042/thanks',
    cancel_url: 'https://shop.example/cart',
    customer: exampleIds.customer,
    client_reference_id: '1042',
    description: null,
    locale: 'fr',
    expires_at: created + 24 * 3600,
    metadata: { order_id: '1042' },
  };
  const sessionPaid: r.CheckoutSessionResource = {
    ...session,
    payment_status: 'paid',
    status: 'complete',
    url: null,
  };
  const sessionExpired: r.CheckoutSessionResource = { ...session, status: 'expired', url: null };
  return { session, sessionPaid, sessionExpired };
}

function refunds() {
  const refund: r.RefundResource = {
    id: exampleIds.refund,
    object: 'refund',
    ...common,
    amount: 10_000,
    currency: 'mad',
    charge: exampleIds.charge,
    payment_intent: exampleIds.payment_intent,
    reason: 'requested_by_customer',
    status: 'pending',
    failure_reason: null,
    metadata: {},
  };
  const refundSucceeded: r.RefundResource = { ...refund, status: 'succeeded' };
  const refundFailed: r.RefundResource = {
    ...refund,
    status: 'failed',
    failure_reason: 'card_account_closed',
  };
  return { refund, refundSucceeded, refundFailed };
}

function reviews() {
  const review: r.ReviewResource = {
    id: exampleIds.review,
    object: 'review',
    ...common,
    payment_intent: exampleIds.cash_intent,
    charge: exampleIds.cash_charge,
    open: true,
    reason: 'amount_mismatch',
    amount_expected: 48_000,
    amount_received: 40_000,
    currency_received: 'mad',
    closed_reason: null,
  };
  const reviewClosed: r.ReviewResource = { ...review, open: false, closed_reason: 'refunded' };
  return { review, reviewClosed };
}

/** Every example, with the service at `baseUrl`. */
export const exampleObjects = (baseUrl: string, language: Language = 'en') => ({
  ...paymentIntents(baseUrl, language),
  ...charges(language),
  ...checkoutSessions(baseUrl),
  ...refunds(),
  ...reviews(),
  customer: customer(),
  endpoint: endpoint(),
  account: account(),
});

export type ExampleObjects = ReturnType<typeof exampleObjects>;

function customer(): r.CustomerResource {
  return {
    id: exampleIds.customer,
    object: 'customer',
    ...common,
    email: 'amina@shop.example',
    name: 'Amina El Idrissi',
    phone: '+212600000000',
    description: null,
    metadata: { loyalty: 'gold' },
  };
}

function endpoint(): r.WebhookEndpointResource {
  return {
    id: exampleIds.webhook_endpoint,
    object: 'webhook_endpoint',
    ...common,
    url: 'https://shop.example/webhooks',
    enabled_events: ['payment_intent.succeeded', 'payment_intent.payment_failed'],
    status: 'enabled',
    metadata: {},
    api_version: newestApiVersion,
    secret: null,
  };
}

function account(): r.AccountResource {
  const limit = (per_minute: number) =>
    ({ per_minute, burst: burstOf(per_minute), source: 'default' }) as const;
  const { all, writes, payment_creation, search } = defaultLimits.test;
  return {
    id: exampleIds.organization,
    object: 'account',
    ...common,
    name: 'Shop SARL',
    country: 'MA',
    default_currency: 'mad',
    payment_methods: { card: 'available', cash: 'available' },
    limits: {
      all: limit(all),
      writes: limit(writes),
      payment_creation: limit(payment_creation),
      search: limit(search),
    },
  };
}

/** Where a request lies in the logs. */
export const exampleRequestPlace = '1793620800000-17';

export const exampleLoggedRequest: LoggedRequest = {
  request: exampleIds.request,
  time: '2026-11-02T12:00:00.000Z',
  duration_ms: 4,
  status: 404,
  code: 'resource_missing',
  method: 'GET',
  path: '/v1/payment_intents/pi_1',
  query: '',
  idempotency_key: null,
  replayed: false,
  original_request: null,
  api_version: null,
  key: 'key_5nW8cYd2KqTf9LmR3xGhVb7Z',
  member: null,
  address: '203.0.113.7',
  object: 'pi_1',
  request_body: '',
  request_cut: false,
  answer_body: '{"error":{"code":"resource_missing"}}',
  answer_cut: false,
  masked: false,
};

type EventResource = Static<typeof r.Event>;

/** The object that an event of this type carries. */
export function exampleObjectOf(type: EventType, o: ExampleObjects): EventResource['data']['object'] {
  const byType: Record<EventType, EventResource['data']['object']> = {
    'payment_intent.created': o.intent,
    'payment_intent.requires_action': o.intentWithCashCode,
    'payment_intent.processing': o.processing,
    'payment_intent.succeeded': o.paid,
    'payment_intent.payment_failed': o.declined,
    'payment_intent.canceled': o.canceled,
    'charge.succeeded': o.charge,
    'charge.failed': o.chargeFailed,
    'charge.refunded': o.chargeRefunded,
    'checkout.session.completed': o.sessionPaid,
    'checkout.session.expired': o.sessionExpired,
    'refund.created': o.refund,
    'refund.updated': o.refundSucceeded,
    'refund.failed': o.refundFailed,
    'review.opened': o.review,
    'review.closed': o.reviewClosed,
  };
  return byType[type];
}

/** Events that an API request causes at once. Others have another cause. */
const requested: readonly EventType[] = [
  'payment_intent.created',
  'payment_intent.canceled',
  'refund.created',
];

/** The event of each type, as it is delivered. */
export function exampleEvent(type: EventType, o: ExampleObjects): EventResource {
  const byRequest = requested.includes(type);
  return {
    id: exampleIds.event,
    object: 'event',
    type,
    api_version: newestApiVersion,
    ...common,
    organization: exampleIds.organization,
    data: { object: exampleObjectOf(type, o) },
    request: byRequest
      ? { id: exampleIds.request, idempotency_key: exampleKey }
      : { id: null, idempotency_key: null },
    pending_webhooks: 1,
  };
}
