// For each operation, error code and event type of the contract, the test that fails when it breaks. `coverage.test.ts`
// fails when one has no row, or when a row names a test that does not exist. `npm run docs` writes the table to
// docs/coverage.md.

import type { ErrorCode } from '../src/contract/errors/table.ts';
import type { EventType, futureEventTypes } from '../src/contract/vocabulary.ts';

export interface Proof {
  /** Below test/. */
  readonly file: string;
  readonly test: string;
  /** Why no request is answered with the code, or why no event has the type. */
  readonly reason?: string;
}

const by =
  (file: string) =>
  (test: string, reason?: string): Proof => ({ file, test, ...(reason !== undefined && { reason }) });

const cards = by('journeys/card-payments.ts');
const cash = by('journeys/cash-payments.ts');
const sessions = by('journeys/checkout-sessions.ts');
const refunds = by('journeys/refunds.ts');
const customers = by('journeys/customers.ts');
const lists = by('journeys/lists.ts');
const modes = by('journeys/modes.ts');
const restarts = by('journeys/restarts.test.ts');
const gates = by('edge/gates.test.ts');
const webhooks = by('main/webhooks.test.ts');
const eventStream = by('main/event-stream.test.ts');
const itself = by('coverage.test.ts');

const cardPayment = cards('a card payment, from its creation to the way back to the shop');
const declined = 'declined, then paid: each attempt is a charge, and the reason is in last_payment_error';
const canceled = cards('canceled while the customer is at the card page');
const helpers = cards('helpers stand for the customer: complete, fail, expire, each only once');
const tooLittle = cards('too little for its method, or no method named, is refused');
const voucher = cash('a voucher is shown, printed and paid at an agent; it cannot be refunded');
const review = cash(
  'another amount opens a review, which an operator closes as approved; the code can still be paid',
);
const session = sessions('a session paid by card at the second try');
const expired = sessions(
  'a session that the merchant expires takes its payment with it, and its page says so',
);
const refund = refunds('refunds in part, up to the centime');
const failedRefund = refunds('a refund that fails makes its amount refundable again');
const customer = customers('a customer: created, changed in part, listed, deleted');
const endpointTitle = 'a webhook endpoint: created, changed, paused, listed, deleted';
const endpoint = customers(endpointTitle);
const filters = lists('every filter of every list shows what has the value, and nothing else');
const cursors = lists('every list by cursors, forward and back, shows every object once');
const exported = lists('exports hold what the lists show, as NDJSON and as CSV');
const otherMode = modes('what exists in the other mode is missing in this one, and the message says so');
const busy = restarts(
  'while the network is asked: its key is in progress, other changes are busy, and neither is kept',
);
const killed = restarts(
  'killed twice while networks are asked: each payment is made once, and its key has the answer',
);

/** By method and path. */
export const operations: Readonly<Record<string, Proof>> = {
  'POST /v1/payment_intents': cardPayment,
  'GET /v1/payment_intents/{id}': cardPayment,
  'GET /v1/payment_intents': filters,
  'POST /v1/payment_intents/{id}': cards('description and metadata change at any time, and nobody is told'),
  'POST /v1/payment_intents/{id}/confirm': cardPayment,
  'POST /v1/payment_intents/{id}/cancel': canceled,
  'POST /v1/checkout/sessions': sessions('a session lives from 30 minutes to 24 hours'),
  'GET /v1/checkout/sessions': cursors,
  'GET /v1/checkout/sessions/{id}': session,
  'POST /v1/checkout/sessions/{id}/expire': expired,
  'POST /v1/refunds': refund,
  'GET /v1/refunds': filters,
  'GET /v1/refunds/{id}': failedRefund,
  'GET /v1/charges': filters,
  'GET /v1/charges/{id}': cardPayment,
  'POST /v1/customers': customer,
  'POST /v1/customers/{id}': customer,
  'GET /v1/customers': filters,
  'GET /v1/customers/{id}': customer,
  'DELETE /v1/customers/{id}': customer,
  'GET /v1/reviews': review,
  'GET /v1/reviews/{id}': review,
  'GET /v1/events': filters,
  'GET /v1/events/{id}': cardPayment,
  'POST /v1/webhook_endpoints': endpoint,
  'POST /v1/webhook_endpoints/{id}': endpoint,
  'GET /v1/webhook_endpoints': endpoint,
  'GET /v1/webhook_endpoints/{id}': endpoint,
  'DELETE /v1/webhook_endpoints/{id}': endpoint,
  'GET /v1/account': modes('the account says what it may do in each mode'),
  'GET /v1/exports/payment_intents': exported,
  'GET /v1/exports/charges': exported,
  'GET /v1/exports/refunds': exported,
  'POST /v1/test_helpers/charges/{id}/complete': helpers,
  'POST /v1/test_helpers/charges/{id}/fail': helpers,
  'POST /v1/test_helpers/charges/{id}/expire': helpers,
  'POST /v1/test_helpers/cash_payments': voucher,
  'POST /v1/test_helpers/refunds/{id}/succeed': refund,
  'POST /v1/test_helpers/refunds/{id}/fail': failedRefund,
  'GET /v1/test_helpers/events/stream': eventStream(
    'the stream starts with its position and a secret, and goes on after Last-Event-ID',
  ),
  'GET /v1/test_helpers/requests/stream': eventStream(
    'the requests/stream sends the newest requests that fit, then each as it is answered, and goes on after a position',
  ),
};

const unprecise = 'Every refusal of its kind has a more precise code; it is kept for those to come.';
const noAnswer = itself(
  'what no request is answered with is refused nowhere, and everything else somewhere',
  unprecise,
);

export const codes: Readonly<Record<ErrorCode, Proof>> = {
  parameter_missing: tooLittle,
  parameter_unknown: gates('then an unknown parameter: parameter_unknown'),
  parameter_invalid: customers('a card number is taken nowhere'),
  resource_missing: otherMode,
  unrecognized_request_url: gates('then a trailing slash: unrecognized_request_url'),
  api_version_invalid: gates('then a version that does not exist: api_version_invalid'),
  amount_too_small: tooLittle,
  amount_too_large: refund,
  payment_method_unavailable: modes('live mode without a network takes no payment, and no test helper'),
  payment_intent_unexpected_state: canceled,
  payment_intent_busy: busy,
  charge_unexpected_state: helpers,
  refund_unsupported_payment_method: voucher,
  url_not_allowed: webhooks(
    'production guards stay up: addresses inside the network are refused, at creation and on update',
  ),
  webhook_endpoint_limit_reached: webhooks(
    'may have 16 endpoints; a replay of their creation shows no secret',
  ),
  webhook_endpoints_busy: webhooks('two changes that meet during a slow look-up: one is told to come again'),
  idempotency_key_missing: gates('then no idempotency key: idempotency_key_missing'),
  invalid_request: expired,
  api_key_missing: gates('then no key: api_key_missing'),
  api_key_invalid: gates('then a key that does not exist: api_key_invalid'),
  api_key_revoked: gates('then a revoked key: api_key_revoked'),
  api_key_expired: gates('then an expired key: api_key_expired'),
  authentication_required: gates('then another scheme: authentication_required'),
  secret_key_required: gates('then a publishable key: secret_key_required'),
  live_mode_not_activated: gates('then live mode before activation: live_mode_not_activated'),
  account_inactive: gates('then a suspended account: account_inactive'),
  test_mode_only: gates('then a live key for a test helper: test_mode_only'),
  permission_denied: noAnswer,
  card_declined: cards(
    declined,
    'No request charges a card: the customer types it on the hosted page. The code is in `last_payment_error` and in `failure_code`.',
  ),
  idempotency_key_reused: gates('then an idempotency key of another request: idempotency_key_reused'),
  idempotency_in_progress: busy,
  idempotency_error: noAnswer,
  rate_limit_exceeded: gates('then a rate limit: rate_limit_exceeded'),
  test_daily_cap_reached: gates('then the daily cap: test_daily_cap_reached'),
  api_error: killed,
};

const notYet = customers(
  endpointTitle,
  'An endpoint can subscribe to it; it is sent once payouts and balances reach the API.',
);

export const events: Readonly<Record<EventType | (typeof futureEventTypes)[number], Proof>> = {
  'payment_intent.created': cardPayment,
  'payment_intent.requires_action': cardPayment,
  'payment_intent.processing': cardPayment,
  'payment_intent.succeeded': cardPayment,
  'payment_intent.payment_failed': cards(declined),
  'payment_intent.canceled': canceled,
  'charge.succeeded': cardPayment,
  'charge.failed': cards(declined),
  'charge.refunded': refund,
  'checkout.session.completed': session,
  'checkout.session.expired': expired,
  'refund.created': refund,
  'refund.updated': refund,
  'refund.failed': failedRefund,
  'review.opened': review,
  'review.closed': review,
  'payout.created': notYet,
  'payout.paid': notYet,
  'payout.failed': notYet,
  'balance.available': notYet,
  'account.updated': notYet,
};

function section(title: string, column: string, rows: Readonly<Record<string, Proof>>): string {
  const lines = Object.entries(rows).map(([name, { file, test, reason }]) => {
    return `| \`${name}\` | [${file}](../test/${file}) | ${test} | ${reason ?? ''} |`;
  });
  const head = [`| ${column} | file | test | not answered or sent, because |`, '|---|---|---|---|'];
  return [`## ${title}`, '', ...head, ...lines, ''].join('\n');
}

/** The table as a page of docs/. */
export function coverageMarkdown(): string {
  return [
    '# What proves the contract',
    '',
    'For each operation, error code and event type, a test that fails when it no longer holds. Most of them run against',
    'the service in a process of its own, over HTTP. Written by `npm run docs` from `test/coverage.ts`; a test fails when',
    'a row is missing or names a test that does not exist.',
    '',
    section('Operations', 'operation', operations),
    section('Error codes', 'code', codes),
    section('Event types', 'type', events),
  ].join('\n');
}
