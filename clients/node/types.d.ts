// Written by `npm run docs` from the description of the API: change that instead.

export type Error = { error: { type: 'invalid_request_error' | 'authentication_error' | 'permission_error' | 'card_error' | 'idempotency_error' | 'rate_limit_error' | 'api_error'; code: 'parameter_missing' | 'parameter_unknown' | 'parameter_invalid' | 'resource_missing' | 'unrecognized_request_url' | 'api_version_invalid' | 'amount_too_small' | 'amount_too_large' | 'payment_method_unavailable' | 'payment_intent_unexpected_state' | 'payment_intent_busy' | 'charge_unexpected_state' | 'refund_unsupported_payment_method' | 'url_not_allowed' | 'webhook_endpoint_limit_reached' | 'webhook_endpoints_busy' | 'idempotency_key_missing' | 'invalid_request' | 'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'authentication_required' | 'secret_key_required' | 'live_mode_not_activated' | 'account_inactive' | 'test_mode_only' | 'permission_denied' | 'card_declined' | 'idempotency_key_reused' | 'idempotency_in_progress' | 'idempotency_error' | 'rate_limit_exceeded' | 'test_daily_cap_reached' | 'api_error'; decline_code: 'generic_decline' | 'insufficient_funds' | 'lost_card' | 'stolen_card' | 'expired_card' | 'incorrect_cvc' | 'processing_error' | 'do_not_honor' | 'transaction_not_allowed' | null; param: string | null; message: string; doc_url: string; request_id: string } };

export type PaymentIntent = { id: string; object: 'payment_intent'; created: number; livemode: boolean; amount: number; amount_received: number; currency: 'mad'; status: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded' | 'canceled'; payment_method_types: ('card' | 'cash')[]; latest_charge: string | null; customer: string | null; description: string | null; metadata: Record<string, string>; last_payment_error: PaymentError | null; next_action: NextAction | null; canceled_at: number | null; cancellation_reason: 'requested_by_customer' | 'abandoned' | 'duplicate' | 'fraudulent' | 'expired' | null; checkout_session: string | null };

export type PaymentError = { type: 'card_error' | 'invalid_request_error' | 'api_error'; code: 'card_declined' | 'cash_payment_refused' | 'payment_attempt_expired' | 'payment_attempt_canceled'; decline_code: 'generic_decline' | 'insufficient_funds' | 'lost_card' | 'stolen_card' | 'expired_card' | 'incorrect_cvc' | 'processing_error' | 'do_not_honor' | 'transaction_not_allowed' | null; message: string; charge: string };

export type NextAction = RedirectToUrl | CashDisplayDetails;

export type RedirectToUrl = { type: 'redirect_to_url'; redirect_to_url: { url: string; return_url: string | null } };

export type CashDisplayDetails = { type: 'cash_display_details'; cash_display_details: { number: string; hosted_voucher_url: string; expires_at: number } };

export type PaymentIntentList = { object: 'list'; url: string; has_more: boolean; data: PaymentIntent[] };

export type CheckoutSession = { id: string; object: 'checkout.session'; created: number; livemode: boolean; amount: number; currency: 'mad'; payment_method_types: ('card' | 'cash')[]; payment_intent: string; payment_status: 'unpaid' | 'paid'; status: 'open' | 'complete' | 'expired'; url: string | null; success_url: string; cancel_url: string | null; customer: string | null; client_reference_id: string | null; description: string | null; locale: 'en' | 'fr' | 'ar' | null; expires_at: number; metadata: Record<string, string> };

export type CheckoutSessionList = { object: 'list'; url: string; has_more: boolean; data: CheckoutSession[] };

export type Refund = { id: string; object: 'refund'; created: number; livemode: boolean; amount: number; currency: 'mad'; charge: string; payment_intent: string; reason: 'requested_by_customer' | 'duplicate' | 'fraudulent' | null; status: 'pending' | 'succeeded' | 'failed'; failure_reason: string | null; metadata: Record<string, string> };

export type RefundList = { object: 'list'; url: string; has_more: boolean; data: Refund[] };

export type ChargeList = { object: 'list'; url: string; has_more: boolean; data: Charge[] };

export type Charge = { id: string; object: 'charge'; created: number; livemode: boolean; amount: number; amount_refunded: number; currency: 'mad'; status: 'pending' | 'succeeded' | 'failed'; paid: boolean; refunded: boolean; failure_code: 'card_declined' | 'cash_payment_refused' | 'payment_attempt_expired' | 'payment_attempt_canceled' | null; failure_message: string | null; decline_code: 'generic_decline' | 'insufficient_funds' | 'lost_card' | 'stolen_card' | 'expired_card' | 'incorrect_cvc' | 'processing_error' | 'do_not_honor' | 'transaction_not_allowed' | null; payment_intent: string; payment_method_details: CardDetails | CashDetails; metadata: Record<string, string> };

export type CardDetails = { type: 'card'; card: { brand: string; last4: string; exp_month: number | null; exp_year: number | null } | null };

export type CashDetails = { type: 'cash'; cash: { number: string; agent: string | null } };

export type Customer = { id: string; object: 'customer'; created: number; livemode: boolean; email: string | null; name: string | null; phone: string | null; description: string | null; metadata: Record<string, string> };

export type CustomerList = { object: 'list'; url: string; has_more: boolean; data: Customer[] };

export type DeletedCustomer = { id: string; object: 'customer'; deleted: true };

export type ReviewList = { object: 'list'; url: string; has_more: boolean; data: Review[] };

export type Review = { id: string; object: 'review'; created: number; livemode: boolean; payment_intent: string; charge: string; open: boolean; reason: 'amount_mismatch' | 'late_payment'; amount_expected: number; amount_received: number; currency_received: string; closed_reason: 'approved' | 'refunded' | null };

export type EventList = { object: 'list'; url: string; has_more: boolean; data: Event[] };

export type Event = { id: string; object: 'event'; created: number; livemode: boolean; type: 'payment_intent.created' | 'payment_intent.requires_action' | 'payment_intent.processing' | 'payment_intent.succeeded' | 'payment_intent.payment_failed' | 'payment_intent.canceled' | 'charge.succeeded' | 'charge.failed' | 'charge.refunded' | 'checkout.session.completed' | 'checkout.session.expired' | 'refund.created' | 'refund.updated' | 'refund.failed' | 'review.opened' | 'review.closed'; api_version: '2026-11-01'; sample?: true; organization: string; data: { object: PaymentIntent | CheckoutSession | Charge | Refund | Review }; request: { id: string | null; idempotency_key: string | null }; pending_webhooks: number };

export type WebhookEndpoint = { id: string; object: 'webhook_endpoint'; created: number; livemode: boolean; url: string; enabled_events: ('*' | 'payment_intent.created' | 'payment_intent.requires_action' | 'payment_intent.processing' | 'payment_intent.succeeded' | 'payment_intent.payment_failed' | 'payment_intent.canceled' | 'charge.succeeded' | 'charge.failed' | 'charge.refunded' | 'checkout.session.completed' | 'checkout.session.expired' | 'refund.created' | 'refund.updated' | 'refund.failed' | 'review.opened' | 'review.closed' | 'payout.created' | 'payout.paid' | 'payout.failed' | 'balance.available' | 'account.updated')[]; status: 'enabled' | 'disabled'; metadata: Record<string, string>; api_version: '2026-11-01'; secret: string | null };

export type WebhookEndpointList = { object: 'list'; url: string; has_more: boolean; data: WebhookEndpoint[] };

export type DeletedWebhookEndpoint = { id: string; object: 'webhook_endpoint'; deleted: true };

export type Account = { id: string; object: 'account'; created: number; livemode: boolean; name: string; country: 'MA'; default_currency: 'mad'; payment_methods: { card: 'available' | 'unavailable'; cash: 'available' | 'unavailable' }; limits: { all: { per_minute: number; burst: number; source: 'default' | 'plan' | 'custom' }; writes: { per_minute: number; burst: number; source: 'default' | 'plan' | 'custom' }; payment_creation: { per_minute: number; burst: number; source: 'default' | 'plan' | 'custom' }; search: { per_minute: number; burst: number; source: 'default' | 'plan' | 'custom' } } };

export interface Routes {
  'POST /v1/payment_intents': { params: { amount: number; currency: 'mad'; payment_method_types?: ('card' | 'cash')[] | null; customer?: string | null; description?: string | null; metadata?: Record<string, string> | null }; answer: PaymentIntent; key: 'required' };
  'GET /v1/payment_intents': { params: { limit?: number; starting_after?: string; ending_before?: string; status?: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded' | 'canceled'; customer?: string; created?: number; 'created[gte]'?: number; 'created[gt]'?: number; 'created[lte]'?: number; 'created[lt]'?: number }; answer: PaymentIntentList; key: 'none' };
  'GET /v1/payment_intents/{id}': { params: { id: string }; answer: PaymentIntent; key: 'none' };
  'POST /v1/payment_intents/{id}': { params: { id: string; metadata?: Record<string, string> | null; description?: '' | string | null }; answer: PaymentIntent; key: 'optional' };
  'POST /v1/payment_intents/{id}/confirm': { params: { id: string; payment_method_type?: 'card' | 'cash' | null; return_url?: string | null }; answer: PaymentIntent; key: 'required' };
  'POST /v1/payment_intents/{id}/cancel': { params: { id: string; cancellation_reason?: 'requested_by_customer' | 'abandoned' | 'duplicate' | 'fraudulent' | null }; answer: PaymentIntent; key: 'optional' };
  'POST /v1/checkout/sessions': { params: { amount: number; currency: 'mad'; success_url: string; cancel_url?: string | null; payment_method_types?: ('card' | 'cash')[] | null; customer?: string | null; client_reference_id?: string | null; description?: string | null; locale?: 'en' | 'fr' | 'ar' | null; expires_at?: number | null; metadata?: Record<string, string> | null; payment_intent_data?: { description?: string | null; metadata?: Record<string, string> | null } | null }; answer: CheckoutSession; key: 'required' };
  'GET /v1/checkout/sessions': { params: { limit?: number; starting_after?: string; ending_before?: string }; answer: CheckoutSessionList; key: 'none' };
  'GET /v1/checkout/sessions/{id}': { params: { id: string }; answer: CheckoutSession; key: 'none' };
  'POST /v1/checkout/sessions/{id}/expire': { params: { id: string }; answer: CheckoutSession; key: 'optional' };
  'POST /v1/refunds': { params: { payment_intent?: string | null; charge?: string | null; amount?: number | null; reason?: 'requested_by_customer' | 'duplicate' | 'fraudulent' | null; metadata?: Record<string, string> | null }; answer: Refund; key: 'required' };
  'GET /v1/refunds': { params: { limit?: number; starting_after?: string; ending_before?: string; payment_intent?: string; status?: 'pending' | 'succeeded' | 'failed'; created?: number; 'created[gte]'?: number; 'created[gt]'?: number; 'created[lte]'?: number; 'created[lt]'?: number }; answer: RefundList; key: 'none' };
  'GET /v1/refunds/{id}': { params: { id: string }; answer: Refund; key: 'none' };
  'GET /v1/charges': { params: { limit?: number; starting_after?: string; ending_before?: string; payment_intent?: string; status?: 'pending' | 'succeeded' | 'failed'; created?: number; 'created[gte]'?: number; 'created[gt]'?: number; 'created[lte]'?: number; 'created[lt]'?: number }; answer: ChargeList; key: 'none' };
  'GET /v1/charges/{id}': { params: { id: string }; answer: Charge; key: 'none' };
  'POST /v1/customers': { params: { email?: string | null; name?: string | null; phone?: string | null; description?: string | null; metadata?: Record<string, string> | null }; answer: Customer; key: 'optional' };
  'GET /v1/customers': { params: { limit?: number; starting_after?: string; ending_before?: string; email?: string }; answer: CustomerList; key: 'none' };
  'POST /v1/customers/{id}': { params: { id: string; email?: '' | string | null; name?: '' | string | null; phone?: '' | string | null; description?: '' | string | null; metadata?: Record<string, string> | null }; answer: Customer; key: 'optional' };
  'GET /v1/customers/{id}': { params: { id: string }; answer: Customer | DeletedCustomer; key: 'none' };
  'DELETE /v1/customers/{id}': { params: { id: string }; answer: DeletedCustomer; key: 'none' };
  'GET /v1/reviews': { params: { limit?: number; starting_after?: string; ending_before?: string }; answer: ReviewList; key: 'none' };
  'GET /v1/reviews/{id}': { params: { id: string }; answer: Review; key: 'none' };
  'GET /v1/events': { params: { limit?: number; starting_after?: string; ending_before?: string; type?: 'payment_intent.created' | 'payment_intent.requires_action' | 'payment_intent.processing' | 'payment_intent.succeeded' | 'payment_intent.payment_failed' | 'payment_intent.canceled' | 'charge.succeeded' | 'charge.failed' | 'charge.refunded' | 'checkout.session.completed' | 'checkout.session.expired' | 'refund.created' | 'refund.updated' | 'refund.failed' | 'review.opened' | 'review.closed' | 'payout.created' | 'payout.paid' | 'payout.failed' | 'balance.available' | 'account.updated'; created?: number; 'created[gte]'?: number; 'created[gt]'?: number; 'created[lte]'?: number; 'created[lt]'?: number }; answer: EventList; key: 'none' };
  'GET /v1/events/{id}': { params: { id: string }; answer: Event; key: 'none' };
  'POST /v1/webhook_endpoints': { params: { url: string; enabled_events: ('*' | 'payment_intent.created' | 'payment_intent.requires_action' | 'payment_intent.processing' | 'payment_intent.succeeded' | 'payment_intent.payment_failed' | 'payment_intent.canceled' | 'charge.succeeded' | 'charge.failed' | 'charge.refunded' | 'checkout.session.completed' | 'checkout.session.expired' | 'refund.created' | 'refund.updated' | 'refund.failed' | 'review.opened' | 'review.closed' | 'payout.created' | 'payout.paid' | 'payout.failed' | 'balance.available' | 'account.updated')[]; metadata?: Record<string, string> | null; api_version?: string | null }; answer: WebhookEndpoint; key: 'optional' };
  'GET /v1/webhook_endpoints': { params: { limit?: number; starting_after?: string; ending_before?: string }; answer: WebhookEndpointList; key: 'none' };
  'POST /v1/webhook_endpoints/{id}': { params: { id: string; url?: string | null; enabled_events?: ('*' | 'payment_intent.created' | 'payment_intent.requires_action' | 'payment_intent.processing' | 'payment_intent.succeeded' | 'payment_intent.payment_failed' | 'payment_intent.canceled' | 'charge.succeeded' | 'charge.failed' | 'charge.refunded' | 'checkout.session.completed' | 'checkout.session.expired' | 'refund.created' | 'refund.updated' | 'refund.failed' | 'review.opened' | 'review.closed' | 'payout.created' | 'payout.paid' | 'payout.failed' | 'balance.available' | 'account.updated')[] | null; metadata?: Record<string, string> | null; disabled?: boolean | null }; answer: WebhookEndpoint; key: 'optional' };
  'GET /v1/webhook_endpoints/{id}': { params: { id: string }; answer: WebhookEndpoint; key: 'none' };
  'DELETE /v1/webhook_endpoints/{id}': { params: { id: string }; answer: DeletedWebhookEndpoint; key: 'none' };
  'GET /v1/account': { params: Record<string, never>; answer: Account; key: 'none' };
  'GET /v1/exports/payment_intents': { params: { format?: 'csv' | 'ndjson'; created?: number; 'created[gte]'?: number; 'created[gt]'?: number; 'created[lte]'?: number; 'created[lt]'?: number }; answer: string; key: 'none' };
  'GET /v1/exports/charges': { params: { format?: 'csv' | 'ndjson'; created?: number; 'created[gte]'?: number; 'created[gt]'?: number; 'created[lte]'?: number; 'created[lt]'?: number }; answer: string; key: 'none' };
  'GET /v1/exports/refunds': { params: { format?: 'csv' | 'ndjson'; created?: number; 'created[gte]'?: number; 'created[gt]'?: number; 'created[lte]'?: number; 'created[lt]'?: number }; answer: string; key: 'none' };
  'POST /v1/test_helpers/charges/{id}/complete': { params: { id: string; amount?: number | null }; answer: Charge; key: 'optional' };
  'POST /v1/test_helpers/charges/{id}/fail': { params: { id: string; decline_code?: 'generic_decline' | 'insufficient_funds' | 'lost_card' | 'stolen_card' | 'expired_card' | 'incorrect_cvc' | 'processing_error' | 'do_not_honor' | 'transaction_not_allowed' | null }; answer: Charge; key: 'optional' };
  'POST /v1/test_helpers/charges/{id}/expire': { params: { id: string }; answer: Charge; key: 'optional' };
  'POST /v1/test_helpers/cash_payments': { params: { number: string; amount: number }; answer: Charge; key: 'optional' };
  'POST /v1/test_helpers/refunds/{id}/succeed': { params: { id: string }; answer: Refund; key: 'optional' };
  'POST /v1/test_helpers/refunds/{id}/fail': { params: { id: string; failure_reason?: string | null }; answer: Refund; key: 'optional' };
  'GET /v1/test_helpers/events/stream': { params: Record<string, never>; answer: string; key: 'none' };
  'GET /v1/test_helpers/requests/stream': { params: { limit?: number; request?: string; status?: '2xx' | '4xx' | '5xx' | '200' | '400' | '401' | '402' | '403' | '404' | '405' | '409' | '413' | '415' | '422' | '429' | '500' | '503'; path?: string; object?: string; idempotency_key?: string }; answer: string; key: 'none' };
}
