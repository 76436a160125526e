// The resources of the API as schemas, which every answer and every event's `data.object` matches.
// The types that `present` returns are inferred from here. A field without a value is null, never
// absent. The schemas are open: a client must survive a field that it doesn't know.

import { type Static, type TSchema, Type } from 'typebox';
import { type IdKind, idPrefixes } from '../id-prefixes.ts';
import { type Bucket, bucketNames, buckets } from '../limits.ts';
import {
  apiVersions,
  cancellationReasons,
  chargeStatuses,
  closedReasons,
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

const nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const text = (description: string) => Type.String({ description });
const flag = (description: string) => Type.Boolean({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const choice = <const V extends string[]>(values: readonly [...V], description: string) =>
  Type.Enum([...values] as [...V], { description });
const seconds = (description: string) => Type.Integer({ description: `${description}, in Unix seconds.` });
const centimes = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description}, in centimes.` });
const metadata = Type.Record(Type.String(), Type.String(), { description: 'Texts of your own, by key.' });
const currency = choice(currencies, 'The currency code, lowercase.');

const idOf = (kind: IdKind, what: string) =>
  Type.String({
    pattern: `^${idPrefixes[kind]}_[0-9A-Za-z]{24,}$`,
    description: `Identifier of ${what}: starts with \`${idPrefixes[kind]}_\`.`,
  });

const objectName = <O extends string>(name: O) =>
  Type.Literal(name, { description: 'What kind of object this is.' });

const common = <O extends string>(kind: IdKind, object: O) => ({
  id: idOf(kind, 'the object'),
  object: objectName(object),
  created: seconds('When it was created'),
  livemode: flag('`true` in live mode, `false` in test mode.'),
});

/** Objects that a property tells apart: the name of that property goes into the API description. */
const oneOf = <T extends TSchema[]>(property: string, members: readonly [...T], description: string) =>
  Type.Union([...members] as [...T], { discriminator: { propertyName: property }, description });

export const RedirectToUrl = Type.Object({
  type: Type.Literal('redirect_to_url', { description: 'The customer has to visit a page.' }),
  redirect_to_url: Type.Object(
    {
      url: text('The card page: send the customer there.'),
      return_url: nullable(Type.String(), 'Where the card page sends the customer afterwards.'),
    },
    { description: 'The page, and where it leads afterwards.' },
  ),
});

export const CashDisplayDetails = Type.Object({
  type: Type.Literal('cash_display_details', { description: 'The customer has to pay a cash code.' }),
  cash_display_details: Type.Object(
    {
      number: text('The cash code that the customer shows to a payment agent.'),
      hosted_voucher_url: text('A page with the code, for the customer to show or print.'),
      expires_at: seconds('When the code stops working'),
    },
    { description: 'The code, and the page that shows it.' },
  ),
});

export const NextAction = oneOf(
  'type',
  [RedirectToUrl, CashDisplayDetails],
  'What the customer has to do for the payment to go on.',
);

export const PaymentError = Type.Object(
  {
    type: choice(['card_error', 'invalid_request_error', 'api_error'], 'The kind of error.'),
    code: choice(failureCodes, 'Why the attempt failed.'),
    decline_code: nullable(Type.Enum([...declineCodes]), "For a declined card, the bank's reason."),
    message: text('A text for people, in the language of the page or the request. It may change.'),
    charge: idOf('charge', 'the attempt that failed'),
  },
  { description: 'Why an attempt to pay failed.' },
);

export const PaymentIntent = Type.Object(
  {
    ...common('payment_intent', 'payment_intent'),
    amount: centimes('How much is to be paid'),
    amount_received: centimes('How much was paid'),
    currency,
    status: choice(
      paymentIntentStatuses,
      'Where the payment stands. Only `succeeded` means that the money was paid.',
    ),
    payment_method_types: Type.Array(Type.Enum([...paymentMethodTypes]), {
      description: 'How the customer can pay.',
    }),
    latest_charge: nullable(idOf('charge', 'a charge'), 'The latest attempt to pay.'),
    customer: nullable(idOf('customer', 'a customer'), 'Who pays.'),
    description: nullable(Type.String(), 'What the payment is for: the payment page shows it.'),
    metadata,
    last_payment_error: nullable(
      PaymentError,
      'Why the last failed attempt failed. It stays while another one is open, and is null once the payment has succeeded.',
    ),
    next_action: nullable(
      NextAction,
      'What the customer has to do now, while `status` is `requires_action`.',
    ),
    canceled_at: nullable(Type.Integer(), 'When it was canceled, in Unix seconds.'),
    cancellation_reason: nullable(
      Type.Enum([...cancellationReasons]),
      'Why it was canceled: the reason that was given, or `expired` if its checkout session expired.',
    ),
    checkout_session: nullable(
      idOf('checkout_session', 'a checkout session'),
      'The checkout session that the payment belongs to.',
    ),
  },
  { title: 'PaymentIntent', description: 'One payment, from creation to outcome.' },
);

export const CheckoutSession = Type.Object(
  {
    ...common('checkout_session', 'checkout.session'),
    amount: centimes('How much is to be paid'),
    currency,
    payment_method_types: Type.Array(Type.Enum([...paymentMethodTypes]), {
      description: 'The methods that the customer can choose from.',
    }),
    payment_intent: idOf('payment_intent', 'the payment intent that the session pays'),
    payment_status: choice(['unpaid', 'paid'], 'Whether the order is paid.'),
    status: choice(['open', 'complete', 'expired'], '`complete` when paid, `expired` when it ended unpaid.'),
    url: nullable(Type.String(), 'The payment page: send the customer there. `null` once no longer open.'),
    success_url: text('Where the customer goes after paying.'),
    cancel_url: nullable(Type.String(), 'Where the customer goes after giving up.'),
    customer: nullable(idOf('customer', 'a customer'), 'Who pays.'),
    client_reference_id: nullable(Type.String(), 'Your own reference for the order or the cart.'),
    description: nullable(Type.String(), 'What the payment is for: the payment page shows it.'),
    locale: nullable(
      Type.Enum([...languages]),
      'The language of the page; `null`: what the browser prefers.',
    ),
    expires_at: seconds('When the session ends unless it is paid'),
    metadata,
  },
  { title: 'CheckoutSession', description: 'A visit to the hosted payment page for one order.' },
);

export const Customer = Type.Object(
  {
    ...common('customer', 'customer'),
    email: nullable(Type.String(), 'The e-mail address.'),
    name: nullable(Type.String(), 'The name.'),
    phone: nullable(Type.String(), 'The telephone number.'),
    description: nullable(Type.String(), 'A text of yours.'),
    metadata,
  },
  { title: 'Customer', description: "Who pays: groups one person's payments." },
);

const Card = Type.Object(
  {
    brand: text('The brand, such as `visa`.'),
    last4: text('The last four digits of the number.'),
    exp_month: nullable(
      Type.Integer(),
      'The month in which the card expires, 1 to 12, if the network tells it.',
    ),
    exp_year: nullable(
      Type.Integer(),
      'The year in which the card expires, four digits, if the network tells it.',
    ),
  },
  { description: 'The card, without its number.' },
);

export const CardDetails = Type.Object({
  type: Type.Literal('card', { description: 'Paid by card.' }),
  card: nullable(Card, 'The card; `null` until the customer has typed one.'),
});

export const CashDetails = Type.Object({
  type: Type.Literal('cash', { description: 'Paid in cash.' }),
  cash: Type.Object(
    {
      number: text('The cash code.'),
      agent: nullable(Type.String(), 'The agent that took the cash.'),
    },
    { description: 'The code, and who took the cash.' },
  ),
});

export const Charge = Type.Object(
  {
    ...common('charge', 'charge'),
    amount: centimes('How much this attempt is for'),
    amount_refunded: centimes('How much of it was returned'),
    currency,
    status: choice(chargeStatuses, 'The outcome of the attempt. A refund does not change it.'),
    paid: flag('`true` when the attempt succeeded.'),
    refunded: flag('`true` only when the charge is refunded in full.'),
    failure_code: nullable(Type.Enum([...failureCodes]), 'Why the attempt failed.'),
    failure_message: nullable(Type.String(), 'The same as a text for people.'),
    decline_code: nullable(
      Type.Enum([...declineCodes]),
      "For a declined card, the bank's reason. While the charge is `pending`, that of the last card: the customer can try another one on the network's page.",
    ),
    payment_intent: idOf('payment_intent', 'the payment intent that it pays'),
    payment_method_details: oneOf('type', [CardDetails, CashDetails], 'What the customer paid with.'),
    metadata,
  },
  { title: 'Charge', description: 'One attempt to pay a payment intent.' },
);

export const Refund = Type.Object(
  {
    ...common('refund', 'refund'),
    amount: centimes('How much is returned'),
    currency,
    charge: idOf('charge', 'the charge that is refunded'),
    payment_intent: idOf('payment_intent', 'the payment that is refunded'),
    reason: nullable(Type.Enum([...refundReasons]), 'Why the money is returned.'),
    status: choice(refundStatuses, '`pending` until the network has made or refused the refund.'),
    failure_reason: nullable(Type.String(), 'Why the refund failed.'),
    metadata,
  },
  { title: 'Refund', description: 'Money returned for a card payment, in full or in part.' },
);

export const Review = Type.Object(
  {
    ...common('review', 'review'),
    payment_intent: idOf('payment_intent', 'the payment'),
    charge: idOf('charge', 'the attempt that the money came for'),
    open: flag('`true` until the review is closed.'),
    reason: choice(
      ['amount_mismatch', 'late_payment'],
      'What does not add up: another amount or currency, or money that came after the end of the attempt or was reported for another one before.',
    ),
    amount_expected: centimes('How much was asked for'),
    amount_received: centimes('How much arrived'),
    currency_received: Type.String({
      description:
        'The currency of what arrived: `mad`, another one as the network calls it, or `xxx` when it is not known.',
    }),
    closed_reason: nullable(
      Type.Enum([...closedReasons]),
      'How it was closed: the money was taken as payment, or given back.',
    ),
  },
  { title: 'Review', description: 'Money that does not add up. Nothing is credited until it is closed.' },
);

export const WebhookEndpoint = Type.Object(
  {
    ...common('webhook_endpoint', 'webhook_endpoint'),
    url: text('The address on your server that receives the events.'),
    enabled_events: Type.Array(Type.Enum(['*', ...eventTypes]), {
      description: 'The types of the events that it receives, or `["*"]` for all of them.',
    }),
    status: choice(['enabled', 'disabled'], 'A disabled endpoint receives nothing.'),
    metadata,
    api_version: choice(apiVersions, 'The version of the events that it receives.'),
    secret: nullable(
      Type.String(),
      'The secret that signs its deliveries: only in the answer that creates the endpoint, else `null`.',
    ),
  },
  { title: 'WebhookEndpoint', description: 'An address on your server that receives events.' },
);

export const Event = Type.Object(
  {
    ...common('event', 'event'),
    type: choice(sentEventTypes, 'What happened. Ignore the types that you do not know.'),
    api_version: choice(apiVersions, 'The version of the API that `data.object` is of.'),
    sample: Type.Optional(
      Type.Literal(true, {
        description:
          'Only in a sample, which the dashboard sends to try your server with: its object was made up, and nothing happened.',
      }),
    ),
    organization: idOf('organization', 'your organization'),
    data: Type.Object(
      {
        object: oneOf(
          'object',
          [PaymentIntent, CheckoutSession, Charge, Refund, Review],
          'The object as it was when the event happened.',
        ),
      },
      { description: 'What the event is about.' },
    ),
    request: Type.Object(
      {
        id: nullable(idOf('request', 'a request'), 'The request; `null` when no request caused the event.'),
        idempotency_key: nullable(Type.String(), 'The `Idempotency-Key` of that request.'),
      },
      { description: 'The API request that caused the event, if one did.' },
    ),
    pending_webhooks: count('How many endpoints have not received it yet.'),
  },
  { title: 'Event', description: 'What happened, with the object as it was at that moment.' },
);

const limitOf = (bucket: Bucket) =>
  Type.Object(
    {
      per_minute: Type.Integer({ description: 'Requests that the bucket lets through each minute.' }),
      burst: Type.Integer({ description: 'Requests that may come on top of that at once.' }),
      source: choice(['default', 'plan', 'custom'], 'Where the limit comes from.'),
    },
    { description: `The limit of ${bucketNames[bucket].en}.` },
  );

const availabilityOf = (method: string) =>
  choice(['available', 'unavailable'], `Whether ${method} can be taken in this mode.`);

export const Account = Type.Object(
  {
    ...common('organization', 'account'),
    name: text("The organization's name, which customers see."),
    country: Type.Literal('MA', { description: 'The country code.' }),
    default_currency: Type.Literal('mad', { description: 'The currency of its payments.' }),
    payment_methods: Type.Object(
      { card: availabilityOf('card payments'), cash: availabilityOf('cash payments') },
      { description: 'Which methods can be used in this mode.' },
    ),
    limits: Type.Object(
      Object.fromEntries(buckets.map((bucket) => [bucket, limitOf(bucket)])) as Record<
        Bucket,
        ReturnType<typeof limitOf>
      >,
      { description: 'The rate limits in this mode, by bucket.' },
    ),
  },
  { title: 'Account', description: 'Your organization, and its limits in this mode.' },
);

export const deletedOf = <K extends IdKind>(object: K) =>
  Type.Object(
    {
      id: idOf(object, 'the object that was deleted'),
      object: objectName(object),
      deleted: Type.Literal(true, { description: 'The object is gone.' }),
    },
    { description: 'What is left of a deleted object.' },
  );

export const listOf = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      object: objectName('list'),
      url: text('The address of the list.'),
      has_more: flag('Whether there are more objects behind this page.'),
      data: Type.Array(item, { description: 'The objects of this page, newest first.' }),
    },
    { description: 'A page of a list.' },
  );

export type PaymentIntentResource = Static<typeof PaymentIntent>;
export type CheckoutSessionResource = Static<typeof CheckoutSession>;
export type CustomerResource = Static<typeof Customer>;
export type ChargeResource = Static<typeof Charge>;
export type RefundResource = Static<typeof Refund>;
export type ReviewResource = Static<typeof Review>;
export type WebhookEndpointResource = Static<typeof WebhookEndpoint>;
export type AccountResource = Static<typeof Account>;
