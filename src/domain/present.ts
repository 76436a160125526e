// The one mapping from records to the resources that answers and events show.

import { cardPath, checkoutPath, voucherPath } from '../contract/page-paths.ts';
import type {
  ChargeResource,
  CheckoutSessionResource,
  CustomerResource,
  PaymentIntentResource,
  RefundResource,
  ReviewResource,
  WebhookEndpointResource,
} from '../contract/routes/resources.ts';
import { defined } from '../core/assert.ts';
import type {
  ChargeRecord,
  CheckoutSessionRecord,
  CustomerRecord,
  PaymentIntentRecord,
  RefundRecord,
  ReviewRecord,
  WebhookEndpointRecord,
} from './record.ts';

/** `charge` is the latest one. It is needed in status `requires_action` only. */
export function presentPaymentIntent(
  intent: PaymentIntentRecord,
  charge: ChargeRecord | undefined,
  baseUrl: string,
): PaymentIntentResource {
  return {
    id: intent.id,
    object: 'payment_intent',
    created: intent.created,
    livemode: intent.livemode,
    amount: intent.amount,
    amount_received: intent.amount_received,
    currency: intent.currency,
    status: intent.status,
    payment_method_types: [...intent.payment_method_types],
    latest_charge: intent.latest_charge,
    customer: intent.customer,
    description: intent.description,
    metadata: intent.metadata,
    last_payment_error: intent.last_payment_error,
    next_action: intent.status === 'requires_action' ? nextAction(intent, charge, baseUrl) : null,
    canceled_at: intent.canceled_at,
    cancellation_reason: intent.cancellation_reason,
    checkout_session: intent.checkout_session,
  };
}

function cashNumberOf({ cash_number }: ChargeRecord): string {
  return defined(cash_number, 'a charge by cash has a cash code');
}

function nextAction(
  intent: PaymentIntentRecord,
  charge: ChargeRecord | undefined,
  baseUrl: string,
): PaymentIntentResource['next_action'] {
  if (charge === undefined) return null;
  if (charge.method === 'card') {
    return {
      type: 'redirect_to_url',
      redirect_to_url: { url: `${baseUrl}${cardPath(charge.id)}`, return_url: intent.return_url },
    };
  }
  return {
    type: 'cash_display_details',
    cash_display_details: {
      number: cashNumberOf(charge),
      hosted_voucher_url: `${baseUrl}${voucherPath(charge.id)}`,
      expires_at: Math.floor(charge.expires_at_ms / 1000),
    },
  };
}

export function presentCheckoutSession(
  session: CheckoutSessionRecord,
  baseUrl: string,
): CheckoutSessionResource {
  return {
    id: session.id,
    object: 'checkout.session',
    created: session.created,
    livemode: session.livemode,
    amount: session.amount,
    currency: session.currency,
    payment_method_types: [...session.payment_method_types],
    payment_intent: session.payment_intent,
    payment_status: session.status === 'complete' ? 'paid' : 'unpaid',
    status: session.status,
    url: session.status === 'open' ? `${baseUrl}${checkoutPath(session.id)}` : null,
    success_url: session.success_url,
    cancel_url: session.cancel_url,
    customer: session.customer,
    client_reference_id: session.client_reference_id,
    description: session.description,
    locale: session.locale,
    expires_at: Math.floor(session.expires_at_ms / 1000),
    metadata: session.metadata,
  };
}

export function presentCustomer(
  customer: CustomerRecord,
): CustomerResource | { id: string; object: 'customer'; deleted: true } {
  if (customer.deleted) return { id: customer.id, object: 'customer', deleted: true };
  return {
    id: customer.id,
    object: 'customer',
    created: customer.created,
    livemode: customer.livemode,
    email: customer.email,
    name: customer.name,
    phone: customer.phone,
    description: customer.description,
    metadata: customer.metadata,
  };
}

export function presentCharge(charge: ChargeRecord): ChargeResource {
  return {
    id: charge.id,
    object: 'charge',
    created: charge.created,
    livemode: charge.livemode,
    amount: charge.amount,
    amount_refunded: charge.amount_refunded,
    currency: charge.currency,
    status: charge.status,
    paid: charge.status === 'succeeded',
    refunded: charge.status === 'succeeded' && charge.amount_refunded === charge.amount,
    failure_code: charge.failure_code,
    failure_message: charge.failure_message,
    decline_code: charge.decline_code,
    payment_intent: charge.payment_intent,
    payment_method_details:
      charge.method === 'card'
        ? { type: 'card', card: charge.card }
        : { type: 'cash', cash: { number: cashNumberOf(charge), agent: charge.cash_agent } },
    metadata: charge.metadata,
  };
}

export function presentRefund(refund: RefundRecord): RefundResource {
  return {
    id: refund.id,
    object: 'refund',
    created: refund.created,
    livemode: refund.livemode,
    amount: refund.amount,
    currency: refund.currency,
    charge: refund.charge,
    payment_intent: refund.payment_intent,
    reason: refund.reason,
    status: refund.status,
    failure_reason: refund.failure_reason,
    metadata: refund.metadata,
  };
}

export function presentReview(review: ReviewRecord): ReviewResource {
  return {
    id: review.id,
    object: 'review',
    created: review.created,
    livemode: review.livemode,
    payment_intent: review.payment_intent,
    charge: review.charge,
    open: review.open,
    reason: review.reason,
    amount_expected: review.amount_expected,
    amount_received: review.amount_received,
    currency_received: review.currency_received,
    closed_reason: review.closed_reason,
  };
}

/** `secret` is shown in the answer that creates the endpoint only; elsewhere it is null. */
export function presentWebhookEndpoint(
  endpoint: WebhookEndpointRecord,
  secret: string | null = null,
): WebhookEndpointResource {
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    created: endpoint.created,
    livemode: endpoint.livemode,
    url: endpoint.url,
    enabled_events: [...endpoint.enabled_events],
    status: endpoint.status === 'enabled' ? 'enabled' : 'disabled',
    metadata: endpoint.metadata,
    api_version: endpoint.api_version,
    secret,
  };
}
