// The fixed sets of values of the public API, which resources, parameters and records share.

export const modes = ['test', 'live'] as const;
export type Mode = (typeof modes)[number];

/** The name of a mode, which is the key in tables. Resources and records have `livemode`. */
export function modeOf(livemode: boolean): Mode {
  return livemode ? 'live' : 'test';
}

export const paymentMethodTypes = ['card', 'cash'] as const;
export type PaymentMethodType = (typeof paymentMethodTypes)[number];

/** What people call them. */
export const methodNames: Readonly<Record<PaymentMethodType, Readonly<Record<Language, string>>>> = {
  card: { en: 'card', fr: 'carte', ar: 'البطاقة' },
  cash: { en: 'cash', fr: 'espèces', ar: 'النقد' },
};

export const currencies = ['mad'] as const;
export type Currency = (typeof currencies)[number];

export const declineCodes = [
  'generic_decline',
  'insufficient_funds',
  'lost_card',
  'stolen_card',
  'expired_card',
  'incorrect_cvc',
  'processing_error',
  'do_not_honor',
  'transaction_not_allowed',
] as const;
export type DeclineCode = (typeof declineCodes)[number];

/** Why a charge failed. A declined card also has one of the codes above. */
export const failureCodes = [
  'card_declined',
  'cash_payment_refused',
  'payment_attempt_expired',
  'payment_attempt_canceled',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** Event types that are sent today. */
export const sentEventTypes = [
  'payment_intent.created',
  'payment_intent.requires_action',
  'payment_intent.processing',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.succeeded',
  'charge.failed',
  'charge.refunded',
  'checkout.session.completed',
  'checkout.session.expired',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'review.opened',
  'review.closed',
] as const;
export type EventType = (typeof sentEventTypes)[number];

/** Event types that endpoints can subscribe to, sent once payouts and balances reach the API. */
export const futureEventTypes = [
  'payout.created',
  'payout.paid',
  'payout.failed',
  'balance.available',
  'account.updated',
] as const;
export const eventTypes = [...sentEventTypes, ...futureEventTypes] as const;
/** What an endpoint can ask for. */
export type EnabledEvent = '*' | (typeof eventTypes)[number];

export const languages = ['en', 'fr', 'ar'] as const;
export type Language = (typeof languages)[number];

export const paymentIntentStatuses = [
  'requires_payment_method',
  'requires_action',
  'processing',
  'succeeded',
  'canceled',
] as const;
export const chargeStatuses = ['pending', 'succeeded', 'failed'] as const;
export const refundStatuses = ['pending', 'succeeded', 'failed'] as const;
export const refundReasons = ['requested_by_customer', 'duplicate', 'fraudulent'] as const;
export type RefundReason = (typeof refundReasons)[number];
/** The reasons that a merchant can give for canceling a payment. */
export const givenCancellationReasons = [
  'requested_by_customer',
  'abandoned',
  'duplicate',
  'fraudulent',
] as const;
/** Why a payment is canceled; `expired`: its checkout session expired. */
export const cancellationReasons = [...givenCancellationReasons, 'expired'] as const;
export type CancellationReason = (typeof cancellationReasons)[number];
/** What became of the money of a review that is closed. */
export const closedReasons = ['approved', 'refunded'] as const;
export type ClosedReason = (typeof closedReasons)[number];

/** The versions of the API, oldest first. */
export const apiVersions = ['2026-11-01'] as const;
export type ApiVersion = (typeof apiVersions)[number];
export const newestApiVersion: ApiVersion = apiVersions[apiVersions.length - 1]!;

/**
 * What a client without a valid key is asked for, in `WWW-Authenticate`: each of the two schemes
 * with its realm (RFC 6750, RFC 7617), because some clients send a password only when they are
 * asked like that.
 */
export const keyChallenges = 'Bearer realm="Payments API", Basic realm="Payments API"';
