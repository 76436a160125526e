<?php
// Written by `npm run docs` from the description of the API: change that instead.

declare(strict_types=1);

namespace Payments;

/**
 * @phpstan-type Error array{error: array{type: 'invalid_request_error' | 'authentication_error' | 'permission_error' | 'card_error' | 'idempotency_error' | 'rate_limit_error' | 'api_error', code: 'parameter_missing' | 'parameter_unknown' | 'parameter_invalid' | 'resource_missing' | 'unrecognized_request_url' | 'api_version_invalid' | 'amount_too_small' | 'amount_too_large' | 'payment_method_unavailable' | 'payment_intent_unexpected_state' | 'payment_intent_busy' | 'charge_unexpected_state' | 'refund_unsupported_payment_method' | 'url_not_allowed' | 'webhook_endpoint_limit_reached' | 'webhook_endpoints_busy' | 'idempotency_key_missing' | 'invalid_request' | 'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'authentication_required' | 'secret_key_required' | 'live_mode_not_activated' | 'account_inactive' | 'test_mode_only' | 'permission_denied' | 'card_declined' | 'idempotency_key_reused' | 'idempotency_in_progress' | 'idempotency_error' | 'rate_limit_exceeded' | 'test_daily_cap_reached' | 'api_error', decline_code: 'generic_decline' | 'insufficient_funds' | 'lost_card' | 'stolen_card' | 'expired_card' | 'incorrect_cvc' | 'processing_error' | 'do_not_honor' | 'transaction_not_allowed' | null, param: string | null, message: string, doc_url: string, request_id: string}}
 * @phpstan-type PaymentIntent array{id: string, object: 'payment_intent', created: int, livemode: bool, amount: int, amount_received: int, currency: 'mad', status: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded' | 'canceled', payment_method_types: list<'card' | 'cash'>, latest_charge: string | null, customer: string | null, description: string | null, metadata: array<string, string>, last_payment_error: PaymentError | null, next_action: NextAction | null, canceled_at: int | null, cancellation_reason: 'requested_by_customer' | 'abandoned' | 'duplicate' | 'fraudulent' | 'expired' | null, checkout_session: string | null}
 * @phpstan-type PaymentError array{type: 'card_error' | 'invalid_request_error' | 'api_error', code: 'card_declined' | 'cash_payment_refused' | 'payment_attempt_expired' | 'payment_attempt_canceled', decline_code: 'generic_decline' | 'insufficient_funds' | 'lost_card' | 'stolen_card' | 'expired_card' | 'incorrect_cvc' | 'processing_error' | 'do_not_honor' | 'transaction_not_allowed' | null, message: string, charge: string}
 * @phpstan-type NextAction RedirectToUrl | CashDisplayDetails
 * @phpstan-type RedirectToUrl array{type: 'redirect_to_url', redirect_to_url: array{url: string, return_url: string | null}}
 * @phpstan-type CashDisplayDetails array{type: 'cash_display_details', cash_display_details: array{number: string, hosted_voucher_url: string, expires_at: int}}
 * @phpstan-type PaymentIntentList array{object: 'list', url: string, has_more: bool, data: list<PaymentIntent>}
 * @phpstan-type CheckoutSession array{id: string, object: 'checkout.session', created: int, livemode: bool, amount: int, currency: 'mad', payment_method_types: list<'card' | 'cash'>, payment_intent: string, payment_status: 'unpaid' | 'paid', status: 'open' | 'complete' | 'expired', url: string | null, success_url: string, cancel_url: string | null, customer: string | null, client_reference_id: string | null, description: string | null, locale: 'en' | 'fr' | 'ar' | null, expires_at: int, metadata: array<string, string>}
 * @phpstan-type CheckoutSessionList array{object: 'list', url: string, has_more: bool, data: list<CheckoutSession>}
 * @phpstan-type Refund array{id: string, object: 'refund', created: int, livemode: bool, amount: int, currency: 'mad', charge: string, payment_intent: string, reason: 'requested_by_customer' | 'duplicate' | 'fraudulent' | null, status: 'pending' | 'succeeded' | 'failed', failure_reason: string | null, metadata: array<string, string>}
 * @phpstan-type RefundList array{object: 'list', url: string, has_more: bool, data: list<Refund>}
 * @phpstan-type ChargeList array{object: 'list', url: string, has_more: bool, data: list<Charge>}
 * @phpstan-type Charge array{id: string, object: 'charge', created: int, livemode: bool, amount: int, amount_refunded: int, currency: 'mad', status: 'pending' | 'succeeded' | 'failed', paid: bool, refunded: bool, failure_code: 'card_declined' | 'cash_payment_refused' | 'payment_attempt_expired' | 'payment_attempt_canceled' | null, failure_message: string | null, decline_code: 'generic_decline' | 'insufficient_funds' | 'lost_card' | 'stolen_card' | 'expired_card' | 'incorrect_cvc' | 'processing_error' | 'do_not_honor' | 'transaction_not_allowed' | null, payment_intent: string, payment_method_details: CardDetails | CashDetails, metadata: array<string, string>}
 * @phpstan-type CardDetails array{type: 'card', card: array{brand: string, last4: string, exp_month: int | null, exp_year: int | null} | null}
 * @phpstan-type CashDetails array{type: 'cash', cash: array{number: string, agent: string | null}}
 * @phpstan-type Customer array{id: string, object: 'customer', created: int, livemode: bool, email: string | null, name: string | null, phone: string | null, description: string | null, metadata: array<string, string>}
 * @phpstan-type CustomerList array{object: 'list', url: string, has_more: bool, data: list<Customer>}
 * @phpstan-type DeletedCustomer array{id: string, object: 'customer', deleted: true}
 * @phpstan-type ReviewList array{object: 'list', url: string, has_more: bool, data: list<Review>}
 * @phpstan-type Review array{id: string, object: 'review', created: int, livemode: bool, payment_intent: string, charge: string, open: bool, reason: 'amount_mismatch' | 'late_payment', amount_expected: int, amount_received: int, currency_received: string, closed_reason: 'approved' | 'refunded' | null}
 * @phpstan-type EventList array{object: 'list', url: string, has_more: bool, data: list<Event>}
 * @phpstan-type Event array{id: string, object: 'event', created: int, livemode: bool, type: 'payment_intent.created' | 'payment_intent.requires_action' | 'payment_intent.processing' | 'payment_intent.succeeded' | 'payment_intent.payment_failed' | 'payment_intent.canceled' | 'charge.succeeded' | 'charge.failed' | 'charge.refunded' | 'checkout.session.completed' | 'checkout.session.expired' | 'refund.created' | 'refund.updated' | 'refund.failed' | 'review.opened' | 'review.closed', api_version: '2026-11-01', sample?: true, organization: string, data: array{object: PaymentIntent | CheckoutSession | Charge | Refund | Review}, request: array{id: string | null, idempotency_key: string | null}, pending_webhooks: int}
 * @phpstan-type WebhookEndpoint array{id: string, object: 'webhook_endpoint', created: int, livemode: bool, url: string, enabled_events: list<'*' | 'payment_intent.created' | 'payment_intent.requires_action' | 'payment_intent.processing' | 'payment_intent.succeeded' | 'payment_intent.payment_failed' | 'payment_intent.canceled' | 'charge.succeeded' | 'charge.failed' | 'charge.refunded' | 'checkout.session.completed' | 'checkout.session.expired' | 'refund.created' | 'refund.updated' | 'refund.failed' | 'review.opened' | 'review.closed' | 'payout.created' | 'payout.paid' | 'payout.failed' | 'balance.available' | 'account.updated'>, status: 'enabled' | 'disabled', metadata: array<string, string>, api_version: '2026-11-01', secret: string | null}
 * @phpstan-type WebhookEndpointList array{object: 'list', url: string, has_more: bool, data: list<WebhookEndpoint>}
 * @phpstan-type DeletedWebhookEndpoint array{id: string, object: 'webhook_endpoint', deleted: true}
 * @phpstan-type Account array{id: string, object: 'account', created: int, livemode: bool, name: string, country: 'MA', default_currency: 'mad', payment_methods: array{card: 'available' | 'unavailable', cash: 'available' | 'unavailable'}, limits: array{all: array{per_minute: int, burst: int, source: 'default' | 'plan' | 'custom'}, writes: array{per_minute: int, burst: int, source: 'default' | 'plan' | 'custom'}, payment_creation: array{per_minute: int, burst: int, source: 'default' | 'plan' | 'custom'}, search: array{per_minute: int, burst: int, source: 'default' | 'plan' | 'custom'}}}
 */
final class Types
{
    /** The routes that refuse a request without an idempotency key. */
    public const KEY_REQUIRED = [
        'POST /v1/payment_intents',
        'POST /v1/payment_intents/{id}/confirm',
        'POST /v1/checkout/sessions',
        'POST /v1/refunds',
    ];
}
