// An example of each value that a message has, so that the errors page shows messages as an answer
// has them. A message without its values makes the page fail, and a test with it.

import { bodyBytesMax, bucketNames, defaultDailyCap, defaultLimits, headerBytesMax } from '../limits.ts';
import { format, type MessageKey, type Values } from '../messages/table.ts';
import { type Language, methodNames, newestApiVersion } from '../vocabulary.ts';

const id = '`pi_0VU2bRX31f000000000000000Card`';
const perMinute = defaultLimits.test.all;
const param = (name: string) => ({ param: `\`${name}\`` });

const values: { readonly [K in MessageKey]?: Values } = {
  parameter_missing: param('amount'),
  parameter_unknown: param('amuont'),
  parameter_invalid: param('amount'),
  'parameter_invalid.integer': { ...param('limit'), min: 1, max: 100 },
  'parameter_invalid.text': { ...param('description'), min: 1, max: 500 },
  'parameter_invalid.choice': { ...param('currency'), choices: '`mad`' },
  'parameter_invalid.boolean': param('disabled'),
  'parameter_invalid.list': { ...param('payment_method_types'), min: 1, max: 2 },
  'parameter_invalid.address': { ...param('success_url'), max: 2048 },
  'parameter_invalid.https': param('success_url'),
  'parameter_invalid.email': { ...param('email'), max: 254 },
  'parameter_invalid.metadata': { keys: 50, keyLength: 40, valueLength: 500 },
  'parameter_invalid.object': param('metadata'),
  'parameter_invalid.encoding': param('description'),
  'parameter_invalid.card_number': param('metadata.card'),
  'parameter_invalid.repeated': param('limit'),
  'parameter_invalid.exactly_one': { names: '`payment_intent`, `charge`' },
  'parameter_invalid.not_a_method': { ...param('payment_method_type'), choices: '`card`, `cash`' },
  'parameter_invalid.not_a_card': param('decline_code'),
  'parameter_invalid.idempotency_key': { max: 255 },
  'invalid_request.form': { json: '`{"amount":12000,"currency":"mad"}`' },
  'parameter_missing.method': param('payment_method_type'),
  resource_missing: { id },
  'resource_missing.in_test': { id },
  'resource_missing.in_live': { id },
  unrecognized_request_url: { method: '`GET', path: '/v1/payment_intent`' },
  api_version_invalid: { versions: newestApiVersion },
  'invalid_request.too_many_names': { max: 1000 },
  'invalid_request.body_too_large': { max: bodyBytesMax },
  'invalid_request.headers_too_large': { max: headerBytesMax },
  'invalid_request.header_repeated': { header: '`Authorization`' },
  'invalid_request.header': { header: '`Content-Length`' },
  amount_too_small: { minimum: 10_000, method: methodNames.cash },
  amount_too_large: { remaining: 15_000 },
  payment_method_unavailable: { method: methodNames.card },
  payment_intent_unexpected_state: { status: '`succeeded`' },
  'payment_intent_unexpected_state.charges': { method: methodNames.card },
  charge_unexpected_state: { status: '`succeeded`' },
  webhook_endpoint_limit_reached: { max: 16 },
  'invalid_request.refund_state': { status: '`succeeded`' },
  'invalid_request.session_state': { status: '`expired`' },
  'invalid_request.delivery_state': { status: '`disabled`' },
  rate_limit_exceeded: { bucket: bucketNames.all, limit: perMinute, wait: 2 },
  'rate_limit_exceeded.streams': { max: 4 },
  'rate_limit_exceeded.exports': { bucket: bucketNames.search, max: 4, wait: 2 },
  'rate_limit_exceeded.payment_link': { wait: 12 },
  'invalid_request.link_state': { state: 'paused' },
  'invalid_request.payment_links': { max: 100 },
  'rate_limit_exceeded.by_hand': { limit: 30, wait: 2 },
  'rate_limit_exceeded.resend_failed': { every: 60, wait: 25 },
  test_daily_cap_reached: { cap: defaultDailyCap.requests },
};

/** The message as an answer could have it. */
export function exampleMessage(key: MessageKey, language: Language): string {
  return format(key, language, values[key] ?? {});
}
