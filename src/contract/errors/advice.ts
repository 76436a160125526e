// What a developer should do about each error, for the errors page. The object has every code as a key, so a new code
// without advice does not compile. Backquotes mark code.

import type { ErrorCode, ErrorType } from './table.ts';

/** What the codes of a type have in common. */
export const typeMeanings: Record<ErrorType, string> = {
  invalid_request_error: 'The request is wrong, or the state of the object does not allow it.',
  authentication_error: 'No API key was sent, or one that does not work.',
  permission_error: 'The API key works, but may not do this.',
  card_error: 'A card was declined.',
  idempotency_error: 'The idempotency key cannot be used for this request, or not yet.',
  rate_limit_error: 'Too many requests were sent. Nothing was done.',
  api_error: 'The service failed or is not available. Try again with the same idempotency key.',
};

export const errorAdvice: Record<ErrorCode, string> = {
  parameter_missing: 'Add the parameter that `param` names and send the request again, with the same key.',
  parameter_unknown:
    'Remove or rename the parameter that `param` names. Parameters that a route does not take are refused, so that a misspelt one is never ignored.',
  parameter_invalid:
    'Correct the value that `param` names. A text that looks like a card number is refused too: let the customer type the card on the payment page.',
  resource_missing:
    'Check the identifier, and that the key is of the mode and the organization that the object belongs to: test keys see test objects only.',
  unrecognized_request_url:
    'Check the method and the address: every route starts with `/v1`, and an address with a final slash is another address.',
  api_version_invalid:
    'Name one of the versions that the message lists in `X-Service-Version` or `api_version`, or leave it out to use the version of your account.',
  amount_too_small:
    'Ask for at least the minimum of every payment method that you offer, or offer fewer methods. Amounts are in centimes.',
  amount_too_large:
    'Retrieve the charge, and refund at most what was received less the refunds that are pending or succeeded.',
  payment_method_unavailable:
    'Offer only methods that `payment_methods` of `GET /v1/account` shows as available in this mode.',
  payment_intent_unexpected_state:
    'Retrieve the payment intent and act on its `status`. When it has succeeded, there is nothing left to do; when it is canceled, create a new one.',
  payment_intent_busy: 'Wait a moment and send the same request again, with the same `Idempotency-Key`.',
  charge_unexpected_state:
    'Retrieve the charge and act on its `status`. Only a pending charge can be decided.',
  refund_unsupported_payment_method: 'Return the money to the customer another way, such as a bank transfer.',
  url_not_allowed:
    'Use an `https` address without user name and password, whose host resolves to public addresses only. To receive test events on your own machine, use `payments listen`, which needs no address. With a `Retry-After`, the host did not resolve just now: check its DNS records and send the same request again.',
  webhook_endpoint_limit_reached:
    'Delete an endpoint that is no longer used, or let one endpoint receive more events.',
  webhook_endpoints_busy: 'Wait a moment and send the same request again. Change endpoints one at a time.',
  idempotency_key_missing:
    'Send an `Idempotency-Key` header of your own making, such as a UUID: a new one for each payment or refund, the same one for each retry.',
  invalid_request:
    'Read the message: it says what is wrong. Sending the same request again gives the same answer.',
  api_key_missing: 'Send your secret key, as `Authorization: Bearer` or as the user name of HTTP Basic.',
  api_key_invalid:
    'Check that the whole key was copied, without spaces, and that the password of HTTP Basic is empty.',
  api_key_revoked: 'Use another key of your account, and find out why this one was revoked.',
  api_key_expired: 'Use the key that replaced this one when it was rolled.',
  authentication_required:
    'Send the key in one of the two forms: `Bearer`, or `Basic` with an empty password.',
  secret_key_required:
    'Send the request from your server, with a secret key. Never put a secret key in a page or an app.',
  live_mode_not_activated: 'Use a test key until your account is activated.',
  account_inactive: 'Ask the operator of the service why the account is suspended or closed.',
  test_mode_only: 'Call test helpers with a test key. Nothing simulates an outcome in live mode.',
  permission_denied: 'Use a key that is allowed to do this.',
  card_declined:
    'Ask the customer to try another card or to contact their bank. `decline_code` gives the reason; do not tell a stolen card from a generic decline on the page.',
  idempotency_key_reused: 'Use a new key for a new request, or send exactly the first request again.',
  idempotency_in_progress:
    'Wait a moment and send the same request again, with the same key: it then gets the answer of the first one.',
  idempotency_error: 'Use a new key for the request, once you know that the first one did nothing.',
  rate_limit_exceeded:
    'Wait for as many seconds as `Retry-After` says, then send the same request again, with the same key. Spread bursts, and watch `RateLimit-Remaining`.',
  test_daily_cap_reached:
    'Stop for today: `Retry-After` is then minutes or hours. Live mode has no daily cap.',
  api_error:
    'Send the same request again, with the same `Idempotency-Key`, waiting longer each time. If it goes on, report the `Request-Id`.',
};
