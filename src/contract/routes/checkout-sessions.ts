// The routes of checkout sessions.

import { Type } from 'typebox';
import * as p from './parameters.ts';
import * as r from './resources.ts';
import { command, list, params, query, type Route } from './route.ts';

const optional = Type.Optional;

export const checkoutSessionRoutes = [
  {
    ...command,
    operation: 'create_checkout_session',
    path: '/v1/checkout/sessions',
    idempotency: 'required',
    spends: 'payment_creation',
    params: params({
      amount: p.amount,
      currency: p.currency,
      success_url: p.addressWithSession,
      cancel_url: optional(p.addressWithSession),
      payment_method_types: optional(p.paymentMethodList),
      customer: optional(p.id),
      client_reference_id: optional(p.shortText),
      description: optional(p.longText),
      locale: optional(p.locale),
      expires_at: optional(p.timestamp),
      metadata: optional(p.metadata),
      payment_intent_data: optional(p.paymentIntentData),
    }),
    result: r.CheckoutSession,
    refusals: ['amount_too_small', 'payment_method_unavailable', 'resource_missing'],
    summary: 'Create a checkout session: a visit to the hosted payment page',
    description:
      'Creates a checkout session and its payment intent. Send the customer to the `url` of the answer: there they choose a payment method and pay. Learn the outcome from the event `checkout.session.completed`, not from the customer coming back.',
  },
  {
    ...list,
    operation: 'list_checkout_sessions',
    path: '/v1/checkout/sessions',
    result: r.listOf(r.CheckoutSession),
    summary: 'List checkout sessions',
    description: 'Answers a page of your checkout sessions, newest first.',
  },
  {
    ...query,
    operation: 'retrieve_checkout_session',
    path: '/v1/checkout/sessions/{id}',
    result: r.CheckoutSession,
    summary: 'Retrieve a checkout session',
    description: 'Answers the checkout session as it is now. `payment_status` says whether it is paid.',
  },
  {
    ...command,
    operation: 'expire_checkout_session',
    path: '/v1/checkout/sessions/{id}/expire',
    idempotency: 'optional',
    result: r.CheckoutSession,
    refusals: [
      'resource_missing',
      'invalid_request',
      'payment_intent_busy',
      'payment_intent_unexpected_state',
    ],
    summary: 'Expire an open checkout session',
    description:
      'Ends an open checkout session at once, and cancels its payment intent. The page then tells the customer that it has expired. The event `checkout.session.expired` tells of it.',
  },
] as const satisfies readonly Route[];
