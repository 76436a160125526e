// The routes of test mode that act for the customer and the payment network.

import { Type } from 'typebox';
import * as limits from '../limits.ts';
import { LoggedRequest } from './logged-request.ts';
import * as p from './parameters.ts';
import * as r from './resources.ts';
import { helper, params, type Route, streamed } from './route.ts';

const optional = Type.Optional;

/** Classes of statuses, and those that the API answers. */
const loggedStatuses = [
  ...['2xx', '4xx', '5xx', '200', '400', '401', '402', '403', '404'],
  ...['405', '409', '413', '415', '422', '429', '500', '503'],
];

export const testHelperRoutes = [
  {
    ...helper,
    operation: 'complete_charge',
    path: '/v1/test_helpers/charges/{id}/complete',
    params: params({ amount: optional(p.amount) }),
    result: r.Charge,
    refusals: ['resource_missing', 'charge_unexpected_state', 'payment_intent_busy'],
    summary: 'Test helper: the customer pays',
    description:
      'Stands in for the customer and the network: the pending charge succeeds, and with it its payment intent. With another `amount` a review is opened instead.',
  },
  {
    ...helper,
    operation: 'fail_charge',
    path: '/v1/test_helpers/charges/{id}/fail',
    params: params({ decline_code: optional(p.declineCode) }),
    result: r.Charge,
    refusals: ['resource_missing', 'charge_unexpected_state', 'payment_intent_busy'],
    summary: 'Test helper: the attempt is declined',
    description:
      'Stands in for the bank: the pending charge fails with the reason that you send, and the payment intent can be paid with another attempt.',
  },
  {
    ...helper,
    operation: 'expire_charge',
    path: '/v1/test_helpers/charges/{id}/expire',
    result: r.Charge,
    refusals: ['resource_missing', 'charge_unexpected_state', 'payment_intent_busy'],
    summary: 'Test helper: the attempt runs out of time',
    description: 'Lets the time of a pending charge run out at once, as if the customer had not paid.',
  },
  {
    ...helper,
    operation: 'pay_cash',
    path: '/v1/test_helpers/cash_payments',
    params: params({ number: p.shortText, amount: p.amount }),
    result: r.Charge,
    refusals: ['resource_missing'],
    summary: 'Test helper: an agent takes cash for a code',
    description:
      'Stands in for a payment agent who takes cash for a code. The exact amount in time pays; another amount, or a code that has ended, opens a review.',
  },
  {
    ...helper,
    operation: 'succeed_refund',
    path: '/v1/test_helpers/refunds/{id}/succeed',
    result: r.Refund,
    refusals: ['resource_missing', 'invalid_request'],
    summary: 'Test helper: the network makes the refund',
    description:
      'Stands in for the network: the pending refund succeeds at once. Without it, a test refund settles by itself after a minute.',
  },
  {
    ...helper,
    operation: 'fail_refund',
    path: '/v1/test_helpers/refunds/{id}/fail',
    params: params({ failure_reason: optional(p.failureReason) }),
    result: r.Refund,
    refusals: ['resource_missing', 'invalid_request'],
    summary: 'Test helper: the network refuses the refund',
    description: 'Stands in for the network: the pending refund fails, and its amount can be refunded again.',
  },
  {
    ...streamed,
    operation: 'stream_events',
    path: '/v1/test_helpers/events/stream',
    result: r.Event,
    summary: 'Test helper: events as they happen, as server-sent events',
    description:
      'Keeps the connection open and sends the events of test mode as they happen, as server-sent events. `payments listen` with a key reads it, so that events reach a program on your machine.',
  },
  {
    ...streamed,
    spends: 'search',
    operation: 'stream_requests',
    path: '/v1/test_helpers/requests/stream',
    params: params({
      limit: optional(Type.Integer({ minimum: 1, maximum: limits.listLimitMax, default: 50 })),
      request: optional(p.id),
      status: optional(Type.Enum([...loggedStatuses])),
      path: optional(p.shortText),
      object: optional(p.id),
      idempotency_key: optional(p.shortText),
    }),
    result: LoggedRequest,
    summary: 'Test helper: requests and their answers as they happen, as server-sent events',
    description:
      'Keeps the connection open and sends the requests of test mode with their answers, as server-sent events: first the newest that fit the filters, `limit` at most, then each as it is answered. `payments-cli logs` reads it.',
  },
] as const satisfies readonly Route[];
