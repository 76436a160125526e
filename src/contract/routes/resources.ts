// The resources of the API as schemas, which every answer and every event's `data.object` matches. The types that `present`
// returns are inferred from here. A field without a value is null, never absent.

import { type Static, type TSchema, Type } from 'typebox';
import { type IdKind, idPrefixes } from '../id-prefixes.ts';
import { buckets } from '../limits.ts';
import {
  apiVersions,
  cancellationReasons,
  chargeStatuses,
  currencies,
  declineCodes,
  eventTypes,
  failureCodes,
  languages,
  paymentIntentStatuses,
  paymentMethodTypes,
  refundReasons,
  refundStatuses,
  sentEventTypes,
} from '../vocabulary.ts';

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const text = Type.String();
const seconds = Type.Integer({ description: 'Unix seconds' });
const centimes = Type.Integer({ minimum: 0, description: 'Centimes' });
const metadata = Type.Record(Type.String(), Type.String());
const closed = { additionalProperties: false } as const;

const idOf = (kind: IdKind) =>
  Type.String({
    pattern: `^${idPrefixes[kind]}_[0-9A-Za-z]{24,}$`,
    description: `Identifier that starts with ${idPrefixes[kind]}_`,
  });

const common = <O extends string>(kind: IdKind, object: O) => ({
  id: idOf(kind),
  object: Type.Literal(object),
  created: seconds,
  livemode: Type.Boolean(),
});

export const NextAction = Type.Union([
  Type.Object(
    {
      type: Type.Literal('redirect_to_url'),
      redirect_to_url: Type.Object({ url: text, return_url: nullable(text) }, closed),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('cash_display_details'),
      cash_display_details: Type.Object(
        { number: text, hosted_voucher_url: text, expires_at: seconds },
        closed,
      ),
    },
    closed,
  ),
]);

export const PaymentError = Type.Object(
  {
    type: Type.Enum(['card_error', 'invalid_request_error', 'api_error']),
    code: Type.Enum([...failureCodes]),
    decline_code: nullable(Type.Enum([...declineCodes])),
    message: text,
    charge: idOf('charge'),
  },
  closed,
);

export const PaymentIntent = Type.Object(
  {
    ...common('payment_intent', 'payment_intent'),
    amount: centimes,
    amount_received: centimes,
    currency: Type.Enum([...currencies]),
    status: Type.Enum([...paymentIntentStatuses]),
    payment_method_types: Type.Array(Type.Enum([...paymentMethodTypes])),
    latest_charge: nullable(idOf('charge')),
    customer: nullable(idOf('customer')),
    description: nullable(text),
    metadata,
    last_payment_error: nullable(PaymentError),
    next_action: nullable(NextAction),
    canceled_at: nullable(seconds),
    cancellation_reason: nullable(Type.Enum([...cancellationReasons])),
    checkout_session: nullable(idOf('checkout_session')),
  },
  { ...closed, title: 'PaymentIntent' },
);

export const CheckoutSession = Type.Object(
  {
    ...common('checkout_session', 'checkout.session'),
    amount: centimes,
    currency: Type.Enum([...currencies]),
    payment_method_types: Type.Array(Type.Enum([...paymentMethodTypes])),
    payment_intent: idOf('payment_intent'),
    payment_status: Type.Enum(['unpaid', 'paid']),
    status: Type.Enum(['open', 'complete', 'expired']),
    url: nullable(text),
    success_url: text,
    cancel_url: nullable(text),
    customer: nullable(idOf('customer')),
    client_reference_id: nullable(text),
    description: nullable(text),
    locale: nullable(Type.Enum([...languages])),
    expires_at: seconds,
    metadata,
  },
  { ...closed, title: 'CheckoutSession' },
);

export const Customer = Type.Object(
  {
    ...common('customer', 'customer'),
    email: nullable(text),
    name: nullable(text),
    phone: nullable(text),
    description: nullable(text),
    metadata,
  },
  { ...closed, title: 'Customer' },
);

const Card = Type.Object(
  { brand: text, last4: text, exp_month: Type.Integer(), exp_year: Type.Integer() },
  closed,
);

export const Charge = Type.Object(
  {
    ...common('charge', 'charge'),
    amount: centimes,
    amount_refunded: centimes,
    currency: Type.Enum([...currencies]),
    status: Type.Enum([...chargeStatuses]),
    paid: Type.Boolean(),
    refunded: Type.Boolean({ description: 'True only when the charge is refunded in full' }),
    failure_code: nullable(Type.Enum([...failureCodes])),
    failure_message: nullable(text),
    decline_code: nullable(Type.Enum([...declineCodes])),
    payment_intent: idOf('payment_intent'),
    payment_method_details: Type.Union([
      Type.Object({ type: Type.Literal('card'), card: nullable(Card) }, closed),
      Type.Object(
        { type: Type.Literal('cash'), cash: Type.Object({ number: text, agent: nullable(text) }, closed) },
        closed,
      ),
    ]),
    metadata,
  },
  { ...closed, title: 'Charge' },
);

export const Refund = Type.Object(
  {
    ...common('refund', 'refund'),
    amount: centimes,
    currency: Type.Enum([...currencies]),
    charge: idOf('charge'),
    payment_intent: idOf('payment_intent'),
    reason: nullable(Type.Enum([...refundReasons])),
    status: Type.Enum([...refundStatuses]),
    failure_reason: nullable(text),
    metadata,
  },
  { ...closed, title: 'Refund' },
);

export const Review = Type.Object(
  {
    ...common('review', 'review'),
    payment_intent: idOf('payment_intent'),
    charge: idOf('charge'),
    open: Type.Boolean(),
    reason: Type.Enum(['amount_mismatch', 'late_payment']),
    amount_expected: centimes,
    amount_received: centimes,
    closed_reason: nullable(Type.Enum(['approved', 'refunded'])),
  },
  { ...closed, title: 'Review' },
);

export const WebhookEndpoint = Type.Object(
  {
    ...common('webhook_endpoint', 'webhook_endpoint'),
    url: text,
    enabled_events: Type.Array(Type.Enum(['*', ...eventTypes])),
    status: Type.Enum(['enabled', 'disabled']),
    metadata,
    api_version: Type.Enum([...apiVersions]),
    secret: nullable(
      Type.String({ description: 'The signing secret: only in the answer that creates the endpoint' }),
    ),
  },
  { ...closed, title: 'WebhookEndpoint' },
);

export const Event = Type.Object(
  {
    ...common('event', 'event'),
    type: Type.Enum([...sentEventTypes]),
    api_version: Type.Enum([...apiVersions]),
    organization: idOf('organization'),
    data: Type.Object(
      { object: Type.Union([PaymentIntent, CheckoutSession, Charge, Refund, Review]) },
      closed,
    ),
    request: Type.Object({ id: nullable(idOf('request')), idempotency_key: nullable(text) }, closed),
    pending_webhooks: Type.Integer({ minimum: 0 }),
  },
  { ...closed, title: 'Event' },
);

const BucketLimit = Type.Object(
  { per_minute: Type.Integer(), burst: Type.Integer(), source: Type.Enum(['default', 'plan', 'custom']) },
  closed,
);

export const Account = Type.Object(
  {
    ...common('organization', 'account'),
    name: text,
    country: Type.Literal('MA'),
    default_currency: Type.Literal('mad'),
    payment_methods: Type.Object(
      { card: Type.Enum(['available', 'unavailable']), cash: Type.Enum(['available', 'unavailable']) },
      closed,
    ),
    limits: Type.Object(
      Object.fromEntries(buckets.map((bucket) => [bucket, BucketLimit])) as Record<
        (typeof buckets)[number],
        typeof BucketLimit
      >,
      closed,
    ),
  },
  { ...closed, title: 'Account' },
);

export const deletedOf = <K extends IdKind>(object: K) =>
  Type.Object({ id: idOf(object), object: Type.Literal(object), deleted: Type.Literal(true) }, closed);

export const listOf = <T extends TSchema>(item: T) =>
  Type.Object(
    { object: Type.Literal('list'), url: text, has_more: Type.Boolean(), data: Type.Array(item) },
    closed,
  );

export type PaymentIntentResource = Static<typeof PaymentIntent>;
export type CheckoutSessionResource = Static<typeof CheckoutSession>;
export type CustomerResource = Static<typeof Customer>;
export type ChargeResource = Static<typeof Charge>;
export type RefundResource = Static<typeof Refund>;
export type ReviewResource = Static<typeof Review>;
export type WebhookEndpointResource = Static<typeof WebhookEndpoint>;
export type AccountResource = Static<typeof Account>;
