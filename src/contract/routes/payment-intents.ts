// The routes of payment intents.

import { Type } from 'typebox';
import { paymentIntentStatuses } from '../vocabulary.ts';
import * as p from './parameters.ts';
import * as r from './resources.ts';
import { command, list, params, query, type Route } from './route.ts';

const optional = Type.Optional;

export const paymentIntentRoutes = [
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
    description:
      'Creates a payment intent, which stands for one payment from now to its outcome. No money moves yet: confirm it, or use a checkout session, to let the customer pay. The event `payment_intent.created` tells of it.',
  },
  {
    ...query,
    operation: 'retrieve_payment_intent',
    path: '/v1/payment_intents/{id}',
    result: r.PaymentIntent,
    summary: 'Retrieve a payment intent',
    description:
      'Answers the payment intent as it is now. Read `status` to learn whether it is paid, and `last_payment_error` to learn why the last attempt failed.',
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
    summary: 'List payment intents',
    description:
      'Answers a page of your payment intents, newest first, filtered by status, customer or time of creation if you like.',
  },
  {
    ...command,
    operation: 'update_payment_intent',
    path: '/v1/payment_intents/{id}',
    idempotency: 'optional',
    params: params({
      metadata: optional(p.metadataChanges),
      description: optional(p.clearable(p.longText)),
    }),
    result: r.PaymentIntent,
    refusals: ['resource_missing', 'payment_intent_busy'],
    summary: 'Update a payment intent',
    description:
      'Changes the metadata or the description of a payment intent, at any time, also after the payment. What is not sent stays as it is, and no event tells of the change.',
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
    description:
      'Begins an attempt to pay: makes a pending charge, opens the card page or issues the cash code, and moves the payment intent to `requires_action`. `next_action` then says where to send the customer, or what to show. It asks a payment network, so it can take a while; `payment_intent.requires_action` tells of it.',
  },
  {
    ...command,
    operation: 'cancel_payment_intent',
    path: '/v1/payment_intents/{id}/cancel',
    idempotency: 'optional',
    params: params({ cancellation_reason: optional(p.cancellationReason) }),
    result: r.PaymentIntent,
    refusals: ['resource_missing', 'payment_intent_unexpected_state', 'payment_intent_busy'],
    summary: 'Cancel a payment intent',
    description:
      'Ends a payment intent for good, so that nobody can pay it any more. A pending charge fails. A payment intent that is processing, has succeeded or is canceled already is refused with `payment_intent_unexpected_state`. The event `payment_intent.canceled` tells of it.',
  },
] as const satisfies readonly Route[];
