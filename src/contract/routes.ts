// THE table of routes. The router, the validation of parameters, the rate-limit buckets, the idempotency rules, the
// union of operations that the domain must decide and the OpenAPI document derive from it. To add a route, add a row
// here; it compiles once the domain has a decider or a query of that name.

import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { ErrorCode } from './errors.ts';
import type { Bucket } from './limits.ts';
import * as p from './parameters.ts';
import * as r from './resources.ts';
import { chargeStatuses, eventTypes, paymentIntentStatuses, refundStatuses } from './vocabulary.ts';

export interface Route {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `{id}` stands for one path segment. */
  readonly path: string;
  /** What happens: a command changes state, a query reads, an export streams. */
  readonly kind: 'command' | 'query' | 'export';
  readonly idempotency: 'required' | 'optional' | 'ignored';
  /** The bucket that is spent besides `all` and, for commands, `writes`; `filter` means `search` if the list is filtered. */
  readonly spends: Bucket | 'filter' | null;
  /** Test helpers refuse live keys. */
  readonly testOnly?: true;
  /** Body of a POST, query string of a GET. */
  readonly params: TObject;
  readonly result: TSchema;
  /** Refusals on the merits, for the documentation; the common ones are not repeated. */
  readonly refusals: readonly ErrorCode[];
  readonly summary: string;
}

const none = Type.Object({}, { additionalProperties: false });
const params = <T extends Parameters<typeof Type.Object>[0]>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });
const optional = Type.Optional;

const command = { kind: 'command', method: 'POST', spends: null } as const;
const query = { kind: 'query', method: 'GET', idempotency: 'ignored', spends: null, params: none } as const;
const list = { ...query, spends: 'filter' } as const;
const exported = { kind: 'export', method: 'GET', idempotency: 'ignored', spends: 'search' } as const;
const helper = { ...command, idempotency: 'optional', testOnly: true } as const;

const exportParams = params({
  format: optional(Type.Enum(['csv', 'ndjson'], { default: 'csv' })),
  ...p.created,
});
const attemptFilters = (statuses: readonly string[]) => ({
  ...p.page,
  payment_intent: optional(p.id),
  status: optional(Type.Enum([...statuses])),
  ...p.created,
});
const customerFields = {
  email: optional(p.email),
  name: optional(p.shortText),
  phone: optional(p.shortText),
  description: optional(p.longText),
};

export const routes = [
  {
    ...command,
    operation: 'create_payment_intent',
    path: '/v1/payment_intents',
    idempotency: 'required',
    spends: 'payment_creation',
    params: params({
      amount: p.amount,
      currency: p.currency,
      payment_method_types: optional(p.paymentMethodList),
      customer: optional(p.id),
      description: optional(p.longText),
      metadata: optional(p.metadata),
    }),
    result: r.PaymentIntent,
    refusals: ['amount_too_small', 'payment_method_unavailable', 'resource_missing'],
    summary: 'Create a payment intent',
  },
  {
    ...query,
    operation: 'retrieve_payment_intent',
    path: '/v1/payment_intents/{id}',
    result: r.PaymentIntent,
    refusals: ['resource_missing'],
    summary: 'Retrieve a payment intent',
  },
  {
    ...list,
    operation: 'list_payment_intents',
    path: '/v1/payment_intents',
    params: params({
      ...p.page,
      status: optional(Type.Enum([...paymentIntentStatuses])),
      customer: optional(p.id),
      ...p.created,
    }),
    result: r.listOf(r.PaymentIntent),
    refusals: ['resource_missing'],
    summary: 'List payment intents',
  },
  {
    ...command,
    operation: 'confirm_payment_intent',
    path: '/v1/payment_intents/{id}/confirm',
    idempotency: 'required',
    params: params({ payment_method_type: optional(p.paymentMethodType), return_url: optional(p.address) }),
    result: r.PaymentIntent,
    refusals: [
      'parameter_missing',
      'resource_missing',
      'payment_intent_unexpected_state',
      'payment_intent_busy',
      'payment_method_unavailable',
    ],
    summary: 'Confirm a payment intent: open the card page or issue the cash code',
  },
  {
    ...command,
    operation: 'cancel_payment_intent',
    path: '/v1/payment_intents/{id}/cancel',
    idempotency: 'required',
    params: params({ cancellation_reason: optional(p.cancellationReason) }),
    result: r.PaymentIntent,
    refusals: ['resource_missing', 'payment_intent_unexpected_state', 'payment_intent_busy'],
    summary: 'Cancel a payment intent',
  },
  {
    ...command,
    operation: 'create_checkout_session',
    path: '/v1/checkout/sessions',
    idempotency: 'required',
    spends: 'payment_creation',
    params: params({
      amount: p.amount,
      currency: p.currency,
      success_url: p.address,
      cancel_url: optional(p.address),
      payment_method_types: optional(p.paymentMethodList),
      customer: optional(p.id),
      client_reference_id: optional(p.shortText),
      locale: optional(p.locale),
      expires_at: optional(p.timestamp),
      metadata: optional(p.metadata),
    }),
    result: r.CheckoutSession,
    refusals: ['amount_too_small', 'payment_method_unavailable', 'resource_missing'],
    summary: 'Create a checkout session: a visit to the hosted payment page',
  },
  {
    ...list,
    operation: 'list_checkout_sessions',
    path: '/v1/checkout/sessions',
    params: params({ ...p.page }),
    result: r.listOf(r.CheckoutSession),
    refusals: ['resource_missing'],
    summary: 'List checkout sessions',
  },
  {
    ...query,
    operation: 'retrieve_checkout_session',
    path: '/v1/checkout/sessions/{id}',
    result: r.CheckoutSession,
    refusals: ['resource_missing'],
    summary: 'Retrieve a checkout session',
  },
  {
    ...command,
    operation: 'expire_checkout_session',
    path: '/v1/checkout/sessions/{id}/expire',
    idempotency: 'optional',
    params: none,
    result: r.CheckoutSession,
    refusals: [
      'resource_missing',
      'invalid_request',
      'payment_intent_busy',
      'payment_intent_unexpected_state',
    ],
    summary: 'Expire an open checkout session',
  },
  {
    ...command,
    operation: 'create_refund',
    path: '/v1/refunds',
    idempotency: 'required',
    params: params({
      payment_intent: optional(p.id),
      charge: optional(p.id),
      amount: optional(p.amount),
      reason: optional(p.refundReason),
      metadata: optional(p.metadata),
    }),
    result: r.Refund,
    refusals: [
      'parameter_missing',
      'resource_missing',
      'amount_too_large',
      'refund_unsupported_payment_method',
      'charge_unexpected_state',
      'payment_intent_unexpected_state',
    ],
    summary: 'Refund a card payment, in full or in part',
  },
  {
    ...list,
    operation: 'list_refunds',
    path: '/v1/refunds',
    params: params(attemptFilters(refundStatuses)),
    result: r.listOf(r.Refund),
    refusals: ['resource_missing'],
    summary: 'List refunds',
  },
  {
    ...query,
    operation: 'retrieve_refund',
    path: '/v1/refunds/{id}',
    result: r.Refund,
    refusals: ['resource_missing'],
    summary: 'Retrieve a refund',
  },
  {
    ...list,
    operation: 'list_charges',
    path: '/v1/charges',
    params: params(attemptFilters(chargeStatuses)),
    result: r.listOf(r.Charge),
    refusals: ['resource_missing'],
    summary: 'List charges',
  },
  {
    ...query,
    operation: 'retrieve_charge',
    path: '/v1/charges/{id}',
    result: r.Charge,
    refusals: ['resource_missing'],
    summary: 'Retrieve a charge',
  },
  {
    ...command,
    operation: 'create_customer',
    path: '/v1/customers',
    idempotency: 'optional',
    params: params({ ...customerFields, metadata: optional(p.metadata) }),
    result: r.Customer,
    refusals: [],
    summary: 'Create a customer',
  },
  {
    ...command,
    operation: 'update_customer',
    path: '/v1/customers/{id}',
    idempotency: 'optional',
    params: params({ ...customerFields, metadata: optional(p.metadataChanges) }),
    result: r.Customer,
    refusals: ['resource_missing'],
    summary: 'Update a customer',
  },
  {
    ...list,
    operation: 'list_customers',
    path: '/v1/customers',
    params: params({ ...p.page, email: optional(p.email) }),
    result: r.listOf(r.Customer),
    refusals: ['resource_missing'],
    summary: 'List customers',
  },
  {
    ...query,
    operation: 'retrieve_customer',
    path: '/v1/customers/{id}',
    result: Type.Union([r.Customer, r.deletedOf('cus', 'customer')]),
    refusals: ['resource_missing'],
    summary: 'Retrieve a customer',
  },
  {
    ...command,
    method: 'DELETE',
    operation: 'delete_customer',
    path: '/v1/customers/{id}',
    idempotency: 'ignored',
    params: none,
    result: r.deletedOf('cus', 'customer'),
    refusals: ['resource_missing'],
    summary: 'Delete a customer',
  },
  {
    ...list,
    operation: 'list_reviews',
    path: '/v1/reviews',
    params: params({ ...p.page }),
    result: r.listOf(r.Review),
    refusals: ['resource_missing'],
    summary: 'List reviews',
  },
  {
    ...query,
    operation: 'retrieve_review',
    path: '/v1/reviews/{id}',
    result: r.Review,
    refusals: ['resource_missing'],
    summary: 'Retrieve a review',
  },
  {
    ...list,
    operation: 'list_events',
    path: '/v1/events',
    params: params({ ...p.page, type: optional(Type.Enum([...eventTypes])), ...p.created }),
    result: r.listOf(r.Event),
    refusals: ['resource_missing'],
    summary: 'List events',
  },
  {
    ...query,
    operation: 'retrieve_event',
    path: '/v1/events/{id}',
    result: r.Event,
    refusals: ['resource_missing'],
    summary: 'Retrieve an event',
  },
  {
    ...command,
    operation: 'create_webhook_endpoint',
    path: '/v1/webhook_endpoints',
    idempotency: 'optional',
    params: params({
      url: p.webhookAddress,
      enabled_events: p.enabledEvents,
      metadata: optional(p.metadata),
      api_version: optional(p.shortText),
    }),
    result: r.WebhookEndpoint,
    refusals: [
      'url_not_allowed',
      'webhook_endpoint_limit_reached',
      'webhook_endpoints_busy',
      'api_version_invalid',
    ],
    summary: 'Create a webhook endpoint',
  },
  {
    ...command,
    operation: 'update_webhook_endpoint',
    path: '/v1/webhook_endpoints/{id}',
    idempotency: 'optional',
    params: params({
      url: optional(p.webhookAddress),
      enabled_events: optional(p.enabledEvents),
      metadata: optional(p.metadataChanges),
      disabled: optional(Type.Boolean()),
    }),
    result: r.WebhookEndpoint,
    refusals: ['resource_missing', 'url_not_allowed', 'webhook_endpoints_busy'],
    summary: 'Update a webhook endpoint',
  },
  {
    ...list,
    operation: 'list_webhook_endpoints',
    path: '/v1/webhook_endpoints',
    params: params({ ...p.page }),
    result: r.listOf(r.WebhookEndpoint),
    refusals: ['resource_missing'],
    summary: 'List webhook endpoints',
  },
  {
    ...query,
    operation: 'retrieve_webhook_endpoint',
    path: '/v1/webhook_endpoints/{id}',
    result: r.WebhookEndpoint,
    refusals: ['resource_missing'],
    summary: 'Retrieve a webhook endpoint',
  },
  {
    ...command,
    method: 'DELETE',
    operation: 'delete_webhook_endpoint',
    path: '/v1/webhook_endpoints/{id}',
    idempotency: 'ignored',
    params: none,
    result: r.deletedOf('we', 'webhook_endpoint'),
    refusals: ['resource_missing', 'webhook_endpoints_busy'],
    summary: 'Delete a webhook endpoint',
  },
  {
    ...query,
    operation: 'retrieve_account',
    path: '/v1/account',
    result: r.Account,
    refusals: [],
    summary: 'Retrieve the account that the key belongs to',
  },
  {
    ...exported,
    operation: 'export_payment_intents',
    path: '/v1/exports/payment_intents',
    params: exportParams,
    result: r.PaymentIntent,
    refusals: [],
    summary: 'Export payment intents as CSV or NDJSON',
  },
  {
    ...exported,
    operation: 'export_charges',
    path: '/v1/exports/charges',
    params: exportParams,
    result: r.Charge,
    refusals: [],
    summary: 'Export charges as CSV or NDJSON',
  },
  {
    ...exported,
    operation: 'export_refunds',
    path: '/v1/exports/refunds',
    params: exportParams,
    result: r.Refund,
    refusals: [],
    summary: 'Export refunds as CSV or NDJSON',
  },
  {
    ...helper,
    operation: 'complete_charge',
    path: '/v1/test_helpers/charges/{id}/complete',
    params: params({ amount: optional(p.amount) }),
    result: r.Charge,
    refusals: ['resource_missing', 'charge_unexpected_state', 'payment_intent_busy'],
    summary: 'Test helper: the customer pays',
  },
  {
    ...helper,
    operation: 'fail_charge',
    path: '/v1/test_helpers/charges/{id}/fail',
    params: params({ decline_code: optional(p.declineCode) }),
    result: r.Charge,
    refusals: ['resource_missing', 'charge_unexpected_state', 'payment_intent_busy'],
    summary: 'Test helper: the attempt is declined',
  },
  {
    ...helper,
    operation: 'expire_charge',
    path: '/v1/test_helpers/charges/{id}/expire',
    params: none,
    result: r.Charge,
    refusals: ['resource_missing', 'charge_unexpected_state', 'payment_intent_busy'],
    summary: 'Test helper: the attempt runs out of time',
  },
  {
    ...helper,
    operation: 'pay_cash',
    path: '/v1/test_helpers/cash_payments',
    params: params({ number: p.shortText, amount: p.amount }),
    result: r.Charge,
    refusals: ['resource_missing', 'payment_intent_busy'],
    summary: 'Test helper: an agent takes cash for a code',
  },
  {
    ...helper,
    operation: 'succeed_refund',
    path: '/v1/test_helpers/refunds/{id}/succeed',
    params: none,
    result: r.Refund,
    refusals: ['resource_missing', 'invalid_request'],
    summary: 'Test helper: the network makes the refund',
  },
  {
    ...helper,
    operation: 'fail_refund',
    path: '/v1/test_helpers/refunds/{id}/fail',
    params: params({ failure_reason: optional(p.shortText) }),
    result: r.Refund,
    refusals: ['resource_missing', 'invalid_request'],
    summary: 'Test helper: the network refuses the refund',
  },
] as const satisfies readonly Route[];

type Row = (typeof routes)[number];
export type Operation = Row['operation'];
export type RouteOf<O extends Operation> = Extract<Row, { operation: O }>;
/** The parameters of an operation, as they are after validation. */
export type ParamsOf<O extends Operation> = Static<RouteOf<O>['params']>;
export type CommandOperation = Extract<Row, { kind: 'command' }>['operation'];
export type QueryOperation = Extract<Row, { kind: 'query' }>['operation'];
export type ExportOperation = Extract<Row, { kind: 'export' }>['operation'];

/** The table in its general shape, for those who walk it. The position of a row is the route's number. */
export const routeTable: readonly Route[] = routes;
