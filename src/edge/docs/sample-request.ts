// What a sample sends: the request of an operation, and before it those that make what it needs, so
// that each sample runs by itself.

import { exampleIds } from '../../contract/openapi/examples.ts';
import { exampleRequests } from '../../contract/openapi/operations.ts';
import type { Operation } from '../../contract/routes/table.ts';

/** A request to show. In its path and its body, `{name}` stands for what a step has taken. */
export interface SampleRequest {
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  readonly idempotencyKey: string | null;
  /** JSON; null for a request without a body. */
  readonly body: unknown;
}

/** A request that is sent first, and what it takes from its answer. */
export interface PreparingRequest extends SampleRequest {
  readonly takes: {
    readonly name: string;
    /** Where it is in the answer. */
    readonly at: readonly (string | number)[];
    /** The value of the API description that it takes the place of. */
    readonly insteadOf: string;
  } | null;
}

type SampleStep = Omit<PreparingRequest, 'idempotencyKey'>;

export interface Sample {
  readonly steps: readonly PreparingRequest[];
  readonly request: SampleRequest;
  /** Whether the answer is text that comes piece by piece, as an export is, and not JSON. */
  readonly answersText: boolean;
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
const idOf = (name: keyof typeof exampleIds): SampleStep['takes'] => ({
  name,
  at: ['id'],
  insteadOf: exampleIds[name],
});

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

/** The sample of an operation with this example. Each request has its own idempotency key. */
export function prepared(operation: string, request: SampleRequest, answersText: boolean): Sample {
  const key = operation.replaceAll('_', '-');
  const before = steps[operation as Operation] ?? [];
  const named = (text: string) =>
    before.reduce(
      (said, { takes }) => (takes === null ? said : said.replaceAll(takes.insteadOf, `{${takes.name}}`)),
      text,
    );
  const body: unknown = request.body === null ? null : JSON.parse(named(JSON.stringify(request.body)));
  const idempotencyKey = request.idempotencyKey === null ? null : key;
  return {
    steps: before.map((step, i) => ({
      ...step,
      idempotencyKey: step.method === 'POST' ? `${key}-${i + 1}` : null,
    })),
    request: { ...request, path: named(request.path), idempotencyKey, body },
    answersText,
  };
}

/** The headers besides the key's, which each language reads from the environment. */
export function headersOf({ idempotencyKey, body }: SampleRequest): [name: string, value: string][] {
  const headers: [string, string][] = [];
  if (idempotencyKey !== null) headers.push(['Idempotency-Key', idempotencyKey]);
  if (body !== null) headers.push(['Content-Type', 'application/json']);
  return headers;
}

/** A text as pieces; every second one is the name of what a step has taken. */
export const piecesOf = (text: string): readonly string[] => text.split(/\{([a-z_]+)\}/);
