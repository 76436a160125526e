// What has to be there before a sample's own request, so that each sample runs by itself: the
// requests that make it, one after the other, and what each takes from its answer.

import { exampleIds } from '../../contract/openapi/examples.ts';
import { exampleRequests } from '../../contract/openapi/operations.ts';
import type { Operation } from '../../contract/routes/table.ts';

/**
 * A request before the sample's own one. In its path and body, `{name}` stands for what an earlier
 * one has taken.
 */
interface SampleStep {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | null;
  /** Null when nothing of its answer is needed. */
  readonly takes: Taken | null;
}

interface Taken {
  readonly name: string;
  /** Where it is in the answer. */
  readonly at: readonly (string | number)[];
  /** The value of the API description that it takes the place of. */
  readonly insteadOf: string;
}

const post = (path: string, body: SampleStep['body'], takes: SampleStep['takes']): SampleStep => ({
  method: 'POST',
  path,
  body,
  takes,
});
const newest = (path: string, name: string, insteadOf: string): SampleStep => ({
  method: 'GET',
  path,
  body: null,
  takes: { name, at: ['data', 0, 'id'], insteadOf },
});
const idOf = (name: keyof typeof exampleIds): Taken => ({ name, at: ['id'], insteadOf: exampleIds[name] });

const payment = post('/v1/payment_intents', { amount: 25_000, currency: 'mad' }, idOf('payment_intent'));
const attempt = post('/v1/payment_intents/{payment_intent}/confirm', null, {
  name: 'charge',
  at: ['latest_charge'],
  insteadOf: exampleIds.charge,
});
const completion = post('/v1/test_helpers/charges/{charge}/complete', null, null);
const refund = post('/v1/refunds', { payment_intent: '{payment_intent}' }, idOf('refund'));
const paid = [payment, attempt, completion];
const cashCode = [
  post(
    '/v1/payment_intents',
    { amount: 48_000, currency: 'mad', payment_method_types: ['cash'] },
    idOf('payment_intent'),
  ),
  post('/v1/payment_intents/{payment_intent}/confirm', null, {
    name: 'number',
    at: ['next_action', 'cash_display_details', 'number'],
    insteadOf: exampleRequests.pay_cash.number,
  }),
];
const otherAmount = post('/v1/test_helpers/cash_payments', { number: '{number}', amount: 40_000 }, null);
const { amount, currency, success_url } = exampleRequests.create_checkout_session;
const session = post('/v1/checkout/sessions', { amount, currency, success_url }, idOf('checkout_session'));
const customer = post('/v1/customers', { email: 'amina@shop.example' }, idOf('customer'));
const endpoint = post(
  '/v1/webhook_endpoints',
  { ...exampleRequests.create_webhook_endpoint },
  idOf('webhook_endpoint'),
);

const steps: { readonly [O in Operation]?: readonly SampleStep[] } = {
  retrieve_payment_intent: [payment],
  update_payment_intent: [payment],
  confirm_payment_intent: [payment],
  cancel_payment_intent: [payment],
  retrieve_checkout_session: [session],
  expire_checkout_session: [session],
  create_refund: paid,
  retrieve_refund: [...paid, refund],
  retrieve_charge: [payment, attempt],
  update_customer: [customer],
  retrieve_customer: [customer],
  delete_customer: [customer],
  retrieve_review: [...cashCode, otherAmount, newest('/v1/reviews', 'review', exampleIds.review)],
  retrieve_event: [payment, newest('/v1/events', 'event', exampleIds.event)],
  update_webhook_endpoint: [endpoint],
  retrieve_webhook_endpoint: [endpoint],
  delete_webhook_endpoint: [endpoint],
  complete_charge: [payment, attempt],
  fail_charge: [payment, attempt],
  expire_charge: [payment, attempt],
  pay_cash: cashCode,
  succeed_refund: [...paid, refund],
  fail_refund: [...paid, refund],
};

/** The steps before the request of an operation. */
export function stepsBefore(operation: string): readonly SampleStep[] {
  return steps[operation as Operation] ?? [];
}
