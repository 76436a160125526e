// The routes of test mode that act for the customer and the payment network.

import { Type } from 'typebox';
import * as p from './parameters.ts';
import * as r from './resources.ts';
import type { Route } from './route.ts';
import { helper, none, params, streamed } from './row-parts.ts';

const optional = Type.Optional;

export const testHelperRoutes = [
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
    refusals: ['resource_missing'],
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
    params: params({ failure_reason: optional(p.failureReason) }),
    result: r.Refund,
    refusals: ['resource_missing', 'invalid_request'],
    summary: 'Test helper: the network refuses the refund',
  },
  {
    ...streamed,
    operation: 'stream_events',
    path: '/v1/test_helpers/events/stream',
    result: r.Event,
    refusals: [],
    summary: 'Test helper: events as they happen, as server-sent events',
  },
] as const satisfies readonly Route[];
