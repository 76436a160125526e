// Texts of the API description that are in no other table: the meanings of the parameters, the
// groups of routes, and what an integrator must know before the first request. A parameter without
// a meaning does not compile.

import type { Operation, ParamsOf, StreamOperation } from '../routes/table.ts';
import type { EventType } from '../vocabulary.ts';

type ParameterName = { [O in Operation]: keyof ParamsOf<O> }[Operation];

const parameters: Record<ParameterName, string> = {
  amount: 'In centimes: 25000 is 250.00 MAD.',
  currency: 'The currency code, lowercase.',
  payment_method_types: 'How the customer can pay. The amount must reach the minimum of each method.',
  customer: 'Identifier of the customer.',
  description: 'What the payment is for: the customer sees it on the payment page.',
  metadata: 'Texts of your own, by key.',
  limit: 'How many objects to answer at most.',
  request: 'Only the request with this id.',
  path: 'Only requests whose path begins like this.',
  object: 'Only requests whose path names this object, or whose answer is this object.',
  idempotency_key: 'Only requests with this idempotency key.',
  starting_after:
    'Identifier of an object: the page starts just after it. Not together with `ending_before`.',
  ending_before: 'Identifier of an object: the page ends just before it. Not together with `starting_after`.',
  status: 'Only objects with this status.',
  created: 'Only objects created at this time, in Unix seconds.',
  'created[gte]': 'Only objects created at or after this time, in Unix seconds.',
  'created[gt]': 'Only objects created after this time, in Unix seconds.',
  'created[lte]': 'Only objects created at or before this time, in Unix seconds.',
  'created[lt]': 'Only objects created before this time, in Unix seconds.',
  payment_method_type: 'The method to pay with. May be left out when the payment intent takes only one.',
  return_url: 'Where the card page sends the customer afterwards: an `https` address in live mode.',
  cancellation_reason: 'Why the payment is canceled.',
  success_url:
    'Where the customer goes after paying: an `https` address in live mode. Arriving there proves no payment. `{CHECKOUT_SESSION_ID}` in it is replaced with the id of the session.',
  cancel_url:
    'Where the customer goes after giving up: an `https` address in live mode. `{CHECKOUT_SESSION_ID}` in it is replaced with the id of the session.',
  payment_intent_data:
    "What its payment intent gets for a description and metadata. The session's own are not handed on.",
  client_reference_id: 'Your own reference for the order or the cart.',
  locale: 'The language of the payment page. Without it, the one that the browser prefers.',
  expires_at:
    'When the session ends unpaid, in Unix seconds: 30 minutes to 24 hours from now, 24 hours by default.',
  payment_intent: 'Identifier of the payment intent.',
  charge: 'Identifier of the charge.',
  reason: 'Why the money is returned.',
  email: 'An e-mail address.',
  name: "The customer's name.",
  phone: "The customer's phone number.",
  type: 'Only events of this type.',
  url: 'An `https` address on your server, whose host resolves to public addresses only.',
  enabled_events: 'The event types to receive, or `["*"]` for all of them.',
  api_version:
    'The version of the events that the endpoint receives. Without it, the version of your account.',
  disabled: '`true` pauses deliveries, `false` resumes them.',
  format: 'The format of the export.',
  decline_code: "The bank's reason: `generic_decline` by default. For card attempts only.",
  number: 'The cash code that the customer shows to the agent.',
  failure_reason: 'Why the refund fails.',
};

const mergedMetadata =
  'Merged into what is there: a key sent is set, an empty text removes its key, others stay.';

/** The operations in which a parameter has another meaning than usual. */
const exceptions: { readonly [O in Operation]?: { readonly [N in keyof ParamsOf<O>]?: string } } = {
  list_payment_intents: { customer: 'Only payment intents of this customer.' },
  list_refunds: { payment_intent: 'Only refunds of this payment intent.' },
  list_charges: { payment_intent: 'Only charges of this payment intent.' },
  list_customers: { email: 'Only customers with exactly this e-mail address.' },
  create_refund: {
    payment_intent: 'The payment to refund. Send either this or `charge`.',
    charge: 'The charge to refund. Send either this or `payment_intent`.',
    amount: 'How much to return, in centimes. All that remains refundable by default.',
  },
  update_payment_intent: {
    metadata: mergedMetadata,
    description:
      'What the payment is for: the customer sees it on the payment page. An empty text removes it.',
  },
  create_customer: { description: 'A text for your own use.' },
  update_customer: {
    metadata: mergedMetadata,
    description: 'A text for your own use. An empty one removes what is there.',
  },
  update_webhook_endpoint: { metadata: mergedMetadata },
  complete_charge: {
    amount:
      "How much the customer pays, in centimes: the charge's amount by default. Any other amount opens a review.",
  },
  stream_requests: {
    limit: 'How many of the newest requests the stream begins with at most.',
    status: 'Only requests that were answered with this status, or with one of this class.',
  },
  pay_cash: {
    amount: 'How much cash the agent takes, in centimes. Any amount but the one due opens a review.',
  },
};

/** The meaning of parameter `name` of an operation. */
export function meaningOf(operation: Operation, name: string): string {
  const own: Readonly<Record<string, string | undefined>> = exceptions[operation] ?? {};
  return own[name] ?? parameters[name as ParameterName];
}

/** What has happened when an event of each type is sent. */
export const eventMeanings: Readonly<Record<EventType, string>> = {
  'payment_intent.created': 'A payment intent was created.',
  'payment_intent.requires_action': 'A card page was opened or a cash code issued: the customer can pay.',
  'payment_intent.processing': 'The customer has paid, and the confirmation is on its way.',
  'payment_intent.succeeded': 'The payment is confirmed: deliver the order.',
  'payment_intent.payment_failed':
    'An attempt to pay has failed: declined, refused or out of time. Another one is possible.',
  'payment_intent.canceled': 'The payment intent was canceled and can no longer be paid.',
  'charge.succeeded': 'An attempt to pay has succeeded.',
  'charge.failed': 'An attempt to pay has failed, or was ended.',
  'charge.refunded': 'Money of a charge was returned, in full or in part.',
  'checkout.session.completed': 'A checkout session was paid.',
  'checkout.session.expired': 'A checkout session has ended unpaid.',
  'refund.created': 'A refund was created.',
  'refund.updated': 'The status of a refund has changed.',
  'refund.failed': 'The network has refused a refund: its amount can be refunded again.',
  'review.opened': 'Money has arrived that does not add up. Nothing is credited.',
  'review.closed': 'A review was closed.',
};

/** The groups of routes, by the first part of their path after the version. */
export const tags: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  payment_intents: {
    name: 'Payment intents',
    description: 'One payment, from creation to outcome.',
  },
  checkout: { name: 'Checkout sessions', description: 'A visit to the hosted payment page for one order.' },
  refunds: { name: 'Refunds', description: 'Money returned for a card payment, in full or in part.' },
  charges: { name: 'Charges', description: 'The attempts to pay a payment intent.' },
  customers: { name: 'Customers', description: "Who pays: groups one person's payments." },
  reviews: {
    name: 'Reviews',
    description:
      'Opened when something does not add up: another amount, or money after the end. Nothing is credited.',
  },
  events: { name: 'Events', description: 'What happened, with the object as it was at that moment.' },
  webhook_endpoints: {
    name: 'Webhook endpoints',
    description: 'Addresses on your server that receive events.',
  },
  account: { name: 'Account', description: 'Your organization, and its limits in this mode.' },
  exports: {
    name: 'Exports',
    description:
      "Everything of one kind, streamed as CSV or NDJSON. A CSV cell that begins with `=`, `+`, `-`, `@`, their full-width forms, a tab, a carriage return or NUL gets a leading `'`, so that no spreadsheet runs it as a formula, and one that holds `;` is quoted; NDJSON is exact.",
  },
  test_helpers: { name: 'Test helpers', description: 'Decide outcomes in test mode. Live keys are refused.' },
};

/** The object that an id in a path names, by the part of the path before it. */
export const pathIds: Readonly<Record<string, string>> = {
  payment_intents: 'payment intent',
  sessions: 'checkout session',
  refunds: 'refund',
  charges: 'charge',
  customers: 'customer',
  reviews: 'review',
  events: 'event',
  webhook_endpoints: 'webhook endpoint',
};

export const introduction = `Card payments and cash payments in Morocco.

**Modes.** A key belongs to test or live mode, and sees the objects of its mode only. In test mode no real money moves.

**Keys.** Send the secret key as a bearer token, or as the user name of HTTP Basic with an empty password.

**Amounts** are integers in centimes. **Times** are Unix seconds. A field without a value is \`null\`, never absent.

**Absence.** An optional parameter that is sent as \`null\` is the same as one that is not sent.

**Retries.** Send an \`Idempotency-Key\` and retry with the same key after no answer, a 409 that says to try again, a 429 (after \`Retry-After\`) or a 5xx, waiting longer each time. Don't retry other errors.

**Outcomes** reach you as signed webhooks. A customer who returns to your success page has not necessarily paid.

**Lists** are newest first; page through them with \`starting_after\` and \`has_more\`.

**Errors** have a stable \`code\` to branch on and a \`doc_url\` that explains it. An address or a method that this document doesn't have answers 404 \`unrecognized_request_url\`.`;

export const signatureMeaning =
  '`t=<Unix seconds>,v1=<hexadecimal>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole signing secret of the endpoint. While a rolled secret overlaps with the new one there is a `v1` for each. Refuse a delivery older than five minutes.';

export const streamMeaning =
  'Server-sent events. A comment every few seconds keeps the connection open. Send the last id as `Last-Event-ID` to go on after it. The stream ends when the service stops, the key no longer works, or an organization that has fewer needs its place. Wait a second before you reconnect.';

/** What the streams send, each in its order. */
export const streamed: Readonly<Record<StreamOperation, string>> = {
  stream_events:
    'First one of type `start`, whose data names the `organization` and the `secret` that `payments listen` signs with: it stays the same. Then each event, as a delivery has it; its id is that of the event.',
  stream_requests:
    'First the newest requests, the oldest of them first; then one of type `now`; then each request as it is answered. Where some were not kept, `missing` says how many.',
};
