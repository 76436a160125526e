// An example of each value that a message has, so that the errors page shows messages as an answer
// has them. A message without its values makes the page fail, and a test with it.

import * as limits from '../limits.ts';
import { format, type MessageKey, type Values } from '../messages/table.ts';
import { type Language, methodNames, newestApiVersion } from '../vocabulary.ts';

const id = '`pi_0VU2bRX31f000000000000000Card`';
const perMinute = limits.defaultLimits.test.all;
const param = (name: string) => ({ param: `\`${name}\`` });

const values: { readonly [K in MessageKey]?: Values } = {
  parameter_missing: param('amount'),
  parameter_unknown: param('amuont'),
  parameter_invalid: param('amount'),
  'parameter_invalid.integer': { ...param('limit'), min: 1, max: limits.listLimitMax },
  'parameter_invalid.text': { ...param('description'), min: 1, max: limits.descriptionCharactersMax },
  'parameter_invalid.choice': { ...param('currency'), choices: '`mad`' },
  'parameter_invalid.boolean': param('disabled'),
  'parameter_invalid.list': { ...param('payment_method_types'), min: 1, max: 2 },
  'parameter_invalid.address': { ...param('success_url'), max: limits.urlCharactersMax },
  'parameter_invalid.https': param('success_url'),
  'parameter_invalid.email': { ...param('email'), max: limits.textCharactersMax },
  'parameter_invalid.metadata': {
    keys: limits.metadataKeysMax,
    keyLength: limits.metadataKeyCharactersMax,
    valueLength: limits.metadataValueCharactersMax,
  },
  'parameter_invalid.object': param('payment_intent_data'),
  'parameter_invalid.encoding': param('description'),
  'parameter_invalid.percent_encoding': param('created[gte]'),
  'parameter_invalid.card_number': param('metadata.card'),
  'parameter_invalid.repeated': param('limit'),
  'parameter_invalid.exactly_one': { names: '`payment_intent`, `charge`' },
  'parameter_invalid.not_a_method': { ...param('payment_method_type'), choices: '`card`, `cash`' },
  'parameter_invalid.not_a_card': param('decline_code'),
  'parameter_invalid.idempotency_key': { max: limits.idempotencyKeyCharactersMax },
  'invalid_request.form': { json: '`{"amount":12000,"currency":"mad"}`' },
  'parameter_missing.method': param('payment_method_type'),
  resource_missing: { kind: 'payment_intent', id },
  'resource_missing.in_test': { kind: 'payment_intent', id },
  'resource_missing.in_live': { kind: 'payment_intent', id },
  unrecognized_request_url: { method: '`GET', path: '/v1/payment_intent`' },
  api_version_invalid: { versions: newestApiVersion },
  'invalid_request.too_many_names': { max: limits.bodyNamesMax },
  'invalid_request.body_too_large': { max: limits.bodyBytesMax },
  'invalid_request.headers_too_large': { max: limits.headerBytesMax },
  'invalid_request.header_repeated': { header: '`Authorization`' },
  'invalid_request.header': { header: '`Content-Length`' },
  amount_too_small: { minimum: limits.methodAmountMin.cash, method: methodNames.cash },
  amount_too_large: { remaining: 15_000 },
  payment_method_unavailable: { method: methodNames.card },
  payment_intent_unexpected_state: { status: '`succeeded`' },
  'payment_intent_unexpected_state.charges': { method: methodNames.card },
  charge_unexpected_state: { status: '`succeeded`' },
  webhook_endpoint_limit_reached: { max: limits.webhookEndpointsMax },
  'invalid_request.refund_state': { status: '`succeeded`' },
  'invalid_request.session_state': { status: '`expired`' },
  'invalid_request.delivery_state': { status: '`disabled`' },
  rate_limit_exceeded: { bucket: limits.bucketNames.all, limit: perMinute, wait: 2 },
  'rate_limit_exceeded.streams': { max: limits.eventStreamsAtOnceMax },
  'rate_limit_exceeded.exports': { bucket: limits.bucketNames.search, max: limits.exportsAtOnceMax, wait: 2 },
  'rate_limit_exceeded.payment_link': { wait: 12 },
  'invalid_request.link_state': { state: 'paused' },
  'invalid_request.payment_links': { max: limits.paymentLinksMax },
  'rate_limit_exceeded.by_hand': { limit: limits.sentByHandPerMinuteMax, wait: 2 },
  'rate_limit_exceeded.resend_failed': { every: limits.resendFailedIntervalMs / 60_000, wait: 25 },
  test_daily_cap_reached: { cap: limits.defaultDailyCap.requests },
};

/** The message as an answer could have it. */
export function exampleMessage(key: MessageKey, language: Language): string {
  return format(key, language, values[key] ?? {});
}
