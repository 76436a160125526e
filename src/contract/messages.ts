// The texts of the API in English, French and Arabic, keyed by error code or by `code.variant` where one code has
// several precise reasons. `{name}` stands for a value. Messages may change; nobody should branch on them.

import type { Language } from './vocabulary.ts';

type Texts = Readonly<Record<Language, string>>;

export const messages = {
  parameter_missing: { en: 'The parameter {param} is required.' },
  parameter_unknown: { en: 'The parameter {param} is not one that this request takes.' },
  parameter_invalid: { en: 'The value of {param} is not valid.' },
  'parameter_invalid.integer': { en: '{param} must be an integer from {min} to {max}.' },
  'parameter_invalid.text': { en: '{param} must be a text of {min} to {max} characters.' },
  'parameter_invalid.choice': { en: '{param} must be one of: {choices}.' },
  'parameter_invalid.boolean': { en: '{param} must be true or false.' },
  'parameter_invalid.list': { en: '{param} must be a list of {min} to {max} different values.' },
  'parameter_invalid.object': { en: '{param} must be an object.' },
  'parameter_invalid.address': {
    en: '{param} must be a complete http or https address of at most {max} characters.',
  },
  'parameter_invalid.email': { en: '{param} must be an e-mail address of at most {max} characters.' },
  'parameter_invalid.metadata': {
    en: 'metadata takes at most {keys} keys of 1 to {keyLength} characters; values are texts of at most {valueLength} characters.',
  },
  'parameter_invalid.encoding': { en: '{param} holds characters that are not valid Unicode.' },
  'parameter_invalid.card_number': {
    en: '{param} looks like a card number. Card numbers never travel through the API: the customer types them on the payment page.',
  },
  'parameter_invalid.cursors': { en: 'Send either starting_after or ending_before, not both.' },
  'parameter_invalid.repeated': { en: 'The parameter {param} is sent more than once.' },
  'parameter_invalid.exactly_one': { en: 'Send exactly one of: {names}.' },
  'parameter_invalid.expires_at': {
    en: 'expires_at must be a Unix time from 30 minutes to 24 hours from now.',
  },
  'parameter_invalid.not_a_method': {
    en: '{param} must be one of the payment methods of this payment intent: {choices}.',
  },
  'parameter_invalid.idempotency_key': {
    en: 'The Idempotency-Key header takes 1 to {max} printable ASCII characters.',
  },
  'parameter_missing.method': {
    en: 'This payment intent takes several payment methods: name one in {param}.',
  },
  resource_missing: { en: 'There is no object with the id {id}.' },
  'resource_missing.in_test': {
    en: 'There is no object with the id {id} in live mode; it exists in test mode, and this request used a live key.',
  },
  'resource_missing.in_live': {
    en: 'There is no object with the id {id} in test mode; it exists in live mode, and this request used a test key.',
  },
  unrecognized_request_url: { en: 'There is no route for {method} {path}.' },
  api_version_invalid: { en: 'This API version does not exist. Valid versions: {versions}.' },
  amount_too_small: { en: 'The amount is below the minimum of {minimum} centimes for payments by {method}.' },
  amount_too_large: { en: 'The amount exceeds what remains refundable: {remaining} centimes.' },
  payment_method_unavailable: { en: 'Payments by {method} are not available to this account in this mode.' },
  payment_intent_unexpected_state: {
    en: 'The status of this payment intent is {status}, which does not allow this action.',
  },
  payment_intent_busy: {
    en: 'Another request is confirming or changing this payment. Nothing was changed; send the request again.',
  },
  charge_unexpected_state: { en: 'The status of this charge is {status}, which does not allow this action.' },
  refund_unsupported_payment_method: { en: 'Cash payments cannot be refunded.' },
  url_not_allowed: {
    en: 'This webhook address is not allowed: it must use https, carry no user name or password, and name a host that resolves to public addresses only.',
  },
  webhook_endpoint_limit_reached: {
    en: 'There are already {max} webhook endpoints in this mode. Delete one before creating another.',
  },
  webhook_endpoints_busy: {
    en: 'Another change to the webhook endpoints is under way. Nothing was changed; send the request again.',
  },
  idempotency_key_missing: {
    en: 'This request needs an Idempotency-Key header, so that it can be retried safely.',
  },
  invalid_request: { en: 'The request is not valid.' },
  'invalid_request.json': { en: 'The body is not valid JSON.' },
  'invalid_request.not_an_object': { en: 'The body must be a JSON object.' },
  'invalid_request.content_type': { en: 'Send the body as application/json.' },
  'invalid_request.duplicate_name': { en: 'An object in the body has the same name twice.' },
  'invalid_request.body_too_large': { en: 'The body is larger than {max} bytes.' },
  'invalid_request.headers_too_large': { en: 'The headers are larger than {max} bytes.' },
  'invalid_request.header_repeated': {
    en: 'The header {header} is sent more than once, or more than one way.',
  },
  'invalid_request.path': { en: 'The address is not well formed.' },
  'invalid_request.too_slow': { en: 'The request took too long to arrive.' },
  'invalid_request.refund_state': {
    en: 'The status of this refund is {status}, which does not allow this action.',
  },
  'invalid_request.session_state': {
    en: 'The status of this checkout session is {status}, which does not allow this action.',
  },
  'invalid_request.charge_not_paid': { en: 'This charge has not been paid, so there is nothing to refund.' },
  'invalid_request.review_state': { en: 'This review is already closed.' },
  'invalid_request.not_a_cash_charge': { en: 'This charge is not a cash payment.' },
  'invalid_request.delivery_state': { en: 'This delivery cannot be sent again: its endpoint is {status}.' },
  api_key_missing: {
    en: 'No API key was sent. Send your secret key as a bearer token, or as the user name of HTTP Basic with an empty password.',
  },
  api_key_invalid: { en: 'This API key does not exist.' },
  api_key_revoked: { en: 'This API key was revoked.' },
  api_key_expired: { en: 'This API key was rolled and no longer works. Use the key that replaced it.' },
  authentication_required: {
    en: 'The Authorization header must be “Bearer” with an API key, or “Basic” with the key as the user name and an empty password.',
  },
  secret_key_required: { en: 'This request needs a secret key; a publishable key was sent.' },
  live_mode_not_activated: { en: 'Live mode is not activated for this account yet. Test keys work.' },
  account_inactive: { en: 'This account is suspended or closed.' },
  test_mode_only: { en: 'Test helpers work with test keys only.' },
  permission_denied: { en: 'This API key is not allowed to do this.' },
  card_declined: { en: 'The card was declined.' },
  'card_declined.generic_decline': { en: 'The card was declined by its bank.' },
  'card_declined.insufficient_funds': { en: 'The card was declined: insufficient funds.' },
  'card_declined.lost_card': { en: 'The card was declined: it was reported lost.' },
  'card_declined.stolen_card': { en: 'The card was declined: it was reported stolen.' },
  'card_declined.expired_card': { en: 'The card was declined: it has expired.' },
  'card_declined.incorrect_cvc': { en: 'The card was declined: the security code is wrong.' },
  'card_declined.processing_error': {
    en: 'The card could not be processed. Try again, or use another card.',
  },
  'card_declined.do_not_honor': { en: 'The card was declined by its bank, which gave no reason.' },
  'card_declined.transaction_not_allowed': {
    en: 'The card was declined: its bank does not allow this payment.',
  },
  'failure.attempt_expired': { en: 'The customer did not pay in time.' },
  'failure.attempt_canceled': { en: 'The payment was canceled before the customer paid.' },
  idempotency_key_reused: {
    en: 'This Idempotency-Key was already used for another request. Use a new key for a new request.',
  },
  idempotency_in_progress: {
    en: 'The first request with this Idempotency-Key is still running. Send it again in a moment.',
  },
  idempotency_error: { en: 'The Idempotency-Key was refused.' },
  rate_limit_exceeded: {
    en: 'Too many requests: the limit “{bucket}” is {limit} per minute. Try again in {wait} s.',
  },
  test_daily_cap_reached: {
    en: 'The daily cap of test mode, {cap} a day, is reached until midnight, Morocco time.',
  },
  api_error: {
    en: 'Something went wrong on our side. Send the request again with the same Idempotency-Key.',
  },
  'api_error.unavailable': {
    en: 'The service is recovering. Send the request again in a moment, with the same Idempotency-Key.',
  },
  'api_error.timeout': {
    en: 'The answer took too long. Send the request again with the same Idempotency-Key.',
  },
} as const satisfies Record<string, Pick<Texts, 'en'>>;

export type MessageKey = keyof typeof messages;

/** The text of `key` in `language`, with its placeholders filled in. */
export function format(
  key: MessageKey,
  language: Language,
  values: Readonly<Record<string, string | number>>,
): string {
  const texts: Partial<Texts> = messages[key];
  const text = texts[language] ?? messages[key].en;
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}
