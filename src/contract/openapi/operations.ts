// The example request and the example answer of each operation, for the API description. Both are
// typed by the route's row, so a new route without an example does not compile.

import type { Static } from 'typebox';
import type { ExportOperation, Operation, ParamsOf, RouteOf } from '../routes/table.ts';
import { type ExampleObjects, exampleEvent, exampleIds, exampleLoggedRequest } from './examples.ts';

type Requests = { readonly [O in Operation]: ParamsOf<O> };
type Answers = {
  readonly [O in Exclude<Operation, ExportOperation>]: Static<RouteOf<O>['result']>;
} & { readonly [O in ExportOperation]: readonly Static<RouteOf<O>['result']>[] };

export const exampleSecret = 'svc_whsec_5Zr1uYw8Q3nBq7LtXc2Va9KsEd4Gh6Jm';

const since = { 'created[gte]': 1_793_577_600 } as const;
const page = { limit: 20 } as const;

/** The body of a POST, the query string of a GET. */
export const exampleRequests: Requests = {
  create_payment_intent: {
    amount: 25_000,
    currency: 'mad',
    payment_method_types: ['card'],
    customer: exampleIds.customer,
    description: 'Order 1042',
    metadata: { order_id: '1042' },
  },
  retrieve_payment_intent: {},
  list_payment_intents: {
    ...page,
    starting_after: exampleIds.payment_intent,
    status: 'succeeded',
    customer: exampleIds.customer,
    ...since,
  },
  update_payment_intent: { description: 'Order 1042, gift wrapped', metadata: { gift: 'yes' } },
  confirm_payment_intent: { payment_method_type: 'card', return_url: 'https://shop.example/orders/1042' },
  cancel_payment_intent: { cancellation_reason: 'requested_by_customer' },
  create_checkout_session: {
    amount: 25_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    success_url: 'https://shop.example/orders/1042/thanks',
    cancel_url: 'https://shop.example/cart',
    customer: exampleIds.customer,
    client_reference_id: '1042',
    locale: 'fr',
    metadata: { order_id: '1042' },
    payment_intent_data: { description: 'Order 1042', metadata: { order_id: '1042' } },
  },
  list_checkout_sessions: { ...page, starting_after: exampleIds.checkout_session },
  retrieve_checkout_session: {},
  expire_checkout_session: {},
  create_refund: {
    payment_intent: exampleIds.payment_intent,
    amount: 10_000,
    reason: 'requested_by_customer',
  },
  list_refunds: { ...page, payment_intent: exampleIds.payment_intent, status: 'pending' },
  retrieve_refund: {},
  list_charges: { ...page, payment_intent: exampleIds.payment_intent, status: 'succeeded' },
  retrieve_charge: {},
  create_customer: {
    email: 'amina@shop.example',
    name: 'Amina El Idrissi',
    phone: '+212600000000',
    metadata: { loyalty: 'gold' },
  },
  update_customer: { phone: '+212600000000', metadata: { loyalty: 'gold', newsletter: '' } },
  list_customers: { ...page, email: 'amina@shop.example' },
  retrieve_customer: {},
  delete_customer: {},
  list_reviews: { ...page, starting_after: exampleIds.review },
  retrieve_review: {},
  list_events: { ...page, type: 'payment_intent.succeeded', ...since },
  retrieve_event: {},
  create_webhook_endpoint: {
    url: 'https://example.com/webhooks',
    enabled_events: ['payment_intent.succeeded', 'payment_intent.payment_failed'],
  },
  update_webhook_endpoint: { disabled: true },
  list_webhook_endpoints: { ...page, starting_after: exampleIds.webhook_endpoint },
  retrieve_webhook_endpoint: {},
  delete_webhook_endpoint: {},
  retrieve_account: {},
  export_payment_intents: { format: 'ndjson', ...since },
  export_charges: { format: 'ndjson', ...since },
  export_refunds: { format: 'ndjson', ...since },
  complete_charge: { amount: 25_000 },
  fail_charge: { decline_code: 'insufficient_funds' },
  expire_charge: {},
  pay_cash: { number: '704182935516', amount: 48_000 },
  succeed_refund: {},
  stream_events: {},
  stream_requests: { limit: 20, status: '4xx' },
  fail_refund: { failure_reason: 'card_account_closed' },
};

const list = <T>(url: string, item: T) => ({ object: 'list' as const, url, has_more: false, data: [item] });

/** The answer of each operation. The answer of an export is its list of rows. */
export function exampleAnswers(o: ExampleObjects): Answers {
  const event = exampleEvent('payment_intent.succeeded', o);
  return {
    create_payment_intent: o.intent,
    retrieve_payment_intent: o.paid,
    list_payment_intents: list('/v1/payment_intents', o.paid),
    update_payment_intent: {
      ...o.intent,
      description: 'Order 1042, gift wrapped',
      metadata: { order_id: '1042', gift: 'yes' },
    },
    confirm_payment_intent: o.intentWithCardPage,
    cancel_payment_intent: o.canceled,
    create_checkout_session: o.session,
    list_checkout_sessions: list('/v1/checkout/sessions', o.session),
    retrieve_checkout_session: o.sessionPaid,
    expire_checkout_session: o.sessionExpired,
    create_refund: o.refund,
    list_refunds: list('/v1/refunds', o.refund),
    retrieve_refund: o.refundSucceeded,
    list_charges: list('/v1/charges', o.charge),
    retrieve_charge: o.charge,
    create_customer: o.customer,
    update_customer: o.customer,
    list_customers: list('/v1/customers', o.customer),
    retrieve_customer: o.customer,
    delete_customer: { id: exampleIds.customer, object: 'customer', deleted: true },
    list_reviews: list('/v1/reviews', o.review),
    retrieve_review: o.reviewClosed,
    list_events: list('/v1/events', event),
    retrieve_event: event,
    create_webhook_endpoint: { ...o.endpoint, secret: exampleSecret },
    update_webhook_endpoint: { ...o.endpoint, status: 'disabled' },
    list_webhook_endpoints: list('/v1/webhook_endpoints', o.endpoint),
    retrieve_webhook_endpoint: o.endpoint,
    delete_webhook_endpoint: { id: exampleIds.webhook_endpoint, object: 'webhook_endpoint', deleted: true },
    retrieve_account: o.account,
    export_payment_intents: [o.paid, o.intentWithCashCode],
    export_charges: [o.charge, o.chargeInCash],
    export_refunds: [o.refundSucceeded],
    complete_charge: o.charge,
    fail_charge: o.chargeFailed,
    expire_charge: o.chargeExpired,
    pay_cash: o.chargeInCash,
    succeed_refund: o.refundSucceeded,
    fail_refund: o.refundFailed,
    stream_events: event,
    stream_requests: exampleLoggedRequest,
  };
}
