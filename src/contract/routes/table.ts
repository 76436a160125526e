// THE table of routes. The router, the validation of parameters, the rate-limit buckets, the
// idempotency rules, the union of operations that the domain must decide, and the OpenAPI document
// derive from it. docs/ARCHITECTURE.md says how to add a route.

import { type Static, Type } from 'typebox';
import { chargeStatuses, eventTypes } from '../vocabulary.ts';
import { checkoutSessionRoutes } from './checkout-sessions.ts';
import { customerRoutes } from './customers.ts';
import * as p from './parameters.ts';
import { paymentIntentRoutes } from './payment-intents.ts';
import { refundRoutes } from './refunds.ts';
import * as r from './resources.ts';
import { exportOf, list, params, paymentListFilters, query, type Route } from './route.ts';
import { testHelperRoutes } from './test-helpers.ts';
import { webhookEndpointRoutes } from './webhook-endpoints.ts';

const optional = Type.Optional;

const routes = [
  ...paymentIntentRoutes,
  ...checkoutSessionRoutes,
  ...refundRoutes,
  {
    ...list,
    operation: 'list_charges',
    path: '/v1/charges',
    params: params(paymentListFilters(chargeStatuses)),
    result: r.listOf(r.Charge),
    summary: 'List charges',
    description:
      'Answers a page of your charges, newest first: each attempt to pay is one. Filter by payment intent, status or time of creation if you like.',
  },
  {
    ...query,
    operation: 'retrieve_charge',
    path: '/v1/charges/{id}',
    result: r.Charge,
    summary: 'Retrieve a charge',
    description: 'Answers the charge as it is now, with the card or the cash code that was used.',
  },
  ...customerRoutes,
  {
    ...list,
    operation: 'list_reviews',
    path: '/v1/reviews',
    result: r.listOf(r.Review),
    summary: 'List reviews',
    description: 'Answers a page of your reviews, newest first. One that is open waits for a decision.',
  },
  {
    ...query,
    operation: 'retrieve_review',
    path: '/v1/reviews/{id}',
    result: r.Review,
    summary: 'Retrieve a review',
    description: 'Answers the review as it is now, with what was expected and what arrived.',
  },
  {
    ...list,
    operation: 'list_events',
    path: '/v1/events',
    params: params({ ...p.page, type: optional(Type.Enum([...eventTypes])), ...p.created }),
    result: r.listOf(r.Event),
    summary: 'List events',
    description:
      'Answers a page of your events, newest first, filtered by type or time if you like. Use it to catch up when your server has missed deliveries.',
  },
  {
    ...query,
    operation: 'retrieve_event',
    path: '/v1/events/{id}',
    result: r.Event,
    summary: 'Retrieve an event',
    description: 'Answers the event as it was delivered, with the object as it was when the event happened.',
  },
  ...webhookEndpointRoutes,
  {
    ...query,
    operation: 'retrieve_account',
    path: '/v1/account',
    result: r.Account,
    refusals: [],
    summary: 'Retrieve the account that the key belongs to',
    description:
      'Answers your organization: the payment methods that it can use in this mode, and its rate limits. Handy to check a key.',
  },
  exportOf('payment_intents', r.PaymentIntent),
  exportOf('charges', r.Charge),
  exportOf('refunds', r.Refund),
  ...testHelperRoutes,
] as const satisfies readonly Route[];

type Row = (typeof routes)[number];
export type Operation = Row['operation'];
export type RouteOf<O extends Operation> = Extract<Row, { operation: O }>;
/** The parameters of an operation, as they are after validation. */
export type ParamsOf<O extends Operation> = Static<RouteOf<O>['params']>;
export type CommandOperation = Extract<Row, { kind: 'command' }>['operation'];
export type QueryOperation = Extract<Row, { kind: 'query' }>['operation'];
export type StreamOperation = Extract<Row, { kind: 'stream' }>['operation'];
export type ExportOperation = Extract<Row, { kind: 'export' }>['operation'];

/** A row of the table. */
export interface TableRoute extends Route {
  readonly operation: Operation;
}

/** The table as a list of rows of one type. The position of a row is the route's number. */
export const routeTable: readonly TableRoute[] = routes;
