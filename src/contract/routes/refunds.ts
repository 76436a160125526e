// The routes of refunds.

import { Type } from 'typebox';
import { refundStatuses } from '../vocabulary.ts';
import * as p from './parameters.ts';
import * as r from './resources.ts';
import { command, list, params, paymentListFilters, query, type Route } from './route.ts';

const optional = Type.Optional;

export const refundRoutes = [
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
    exactlyOne: ['payment_intent', 'charge'],
    result: r.Refund,
    refusals: [
      'resource_missing',
      'amount_too_large',
      'refund_unsupported_payment_method',
      'charge_unexpected_state',
      'payment_intent_unexpected_state',
    ],
    summary: 'Refund a card payment, in full or in part',
    description:
      "Returns money of a card payment to the customer, all of what remains or a part of it. The refund is `pending` until the network has made or refused it; `refund.updated` tells of the outcome. Several refunds of a charge can't exceed what was received. Cash can't be refunded.",
  },
  {
    ...list,
    operation: 'list_refunds',
    path: '/v1/refunds',
    params: params(paymentListFilters(refundStatuses)),
    result: r.listOf(r.Refund),
    summary: 'List refunds',
    description:
      'Answers a page of your refunds, newest first, filtered by payment intent, status or time of creation if you like.',
  },
  {
    ...query,
    operation: 'retrieve_refund',
    path: '/v1/refunds/{id}',
    result: r.Refund,
    summary: 'Retrieve a refund',
    description: 'Answers the refund as it is now. `status` says whether the network has made it.',
  },
] as const satisfies readonly Route[];
