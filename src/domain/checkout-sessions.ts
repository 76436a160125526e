// A checkout session is one visit to the hosted payment page, for one payment intent.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import { sessionSecondsMax, sessionSecondsMin } from '../contract/limits.ts';
import type { ParamsOf } from '../contract/routes/table.ts';
import { methodNames, type PaymentMethodType } from '../contract/vocabulary.ts';
import { deadlineAt } from './deadline.ts';
import { answered, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { initialMetadata } from './metadata.ts';
import { cancelIntent, openCharge, openIntent, refusePayment, refusePlainHttp } from './payment-intents.ts';
import { changeable } from './payment-state.ts';
import { presentCheckoutSession } from './present.ts';
import type { CheckoutSessionRecord } from './record.ts';

/** The end of a session whose request names none, Unix seconds. */
export function defaultEnd(nowMs: number): number {
  return Math.floor(nowMs / 1000) + sessionSecondsMax;
}

export function createCheckoutSession(draft: Draft, params: ParamsOf<'create_checkout_session'>): Outcome {
  const opened = openSession(draft, params);
  if ('refusal' in opened) return opened;
  return answered(presentCheckoutSession(opened.session, draft.context.settings.baseUrl));
}

/** Creates a session with its payment intent, whoever asks for it. */
export function openSession(
  draft: Draft,
  params: ParamsOf<'create_checkout_session'>,
): { readonly session: CheckoutSessionRecord } | { readonly refusal: Refusal } {
  const { context } = draft;
  const nowSeconds = Math.floor(context.nowMs / 1000);
  const expiresAt = params.expires_at ?? defaultEnd(context.nowMs);
  if (expiresAt < nowSeconds + sessionSecondsMin || expiresAt > nowSeconds + sessionSecondsMax) {
    const message = 'parameter_invalid.expires_at';
    return { refusal: refuse('parameter_invalid', { param: 'expires_at', message }) };
  }
  const { success_url, cancel_url } = params;
  const refusal = refusePlainHttp(context, { success_url, cancel_url }) ?? refusePayment(draft, params);
  if (refusal !== null) return { refusal };
  const id = context.newId('checkout_session');
  const { amount, currency, payment_method_types, customer, payment_intent_data } = params;
  // The session has its own description and metadata; those of its intent are in
  // `payment_intent_data`.
  const payment = { amount, currency, payment_method_types, customer, ...payment_intent_data };
  const { intent } = openIntent(draft, payment, id);
  const session = draft.put<CheckoutSessionRecord>({
    kind: 'checkout_session',
    id,
    org: context.org,
    livemode: context.livemode,
    created: nowSeconds,
    amount: params.amount,
    currency: params.currency,
    payment_method_types: intent.payment_method_types,
    payment_intent: intent.id,
    status: 'open',
    success_url,
    cancel_url: cancel_url ?? null,
    customer: params.customer ?? null,
    client_reference_id: params.client_reference_id ?? null,
    description: params.description ?? null,
    locale: params.locale ?? null,
    ...deadlineAt(expiresAt * 1000, context),
    metadata: initialMetadata(params.metadata),
  });
  return { session };
}

export function expireCheckoutSession(
  draft: Draft,
  _params: object,
  session: CheckoutSessionRecord,
): Outcome {
  if (session.status !== 'open') return notOpen(session);
  const intent = draft.require('payment_intent', session.payment_intent);
  const refusal = changeable(intent, ['requires_payment_method', 'requires_action']);
  if (refusal !== null) return refused(refusal);
  cancelIntent(draft, intent, 'expired');
  return answered(
    presentCheckoutSession(draft.require('checkout_session', session.id), draft.context.settings.baseUrl),
  );
}

/** The customer chose how to pay on the checkout page. */
export function chooseMethod(
  draft: Draft,
  params: { method: PaymentMethodType },
  session: CheckoutSessionRecord,
): Outcome {
  if (session.status !== 'open') return notOpen(session);
  const intent = draft.require('payment_intent', session.payment_intent);
  if (!intent.payment_method_types.includes(params.method)) {
    return refused(refuse('payment_method_unavailable', { values: { method: methodNames[params.method] } }));
  }
  return openCharge(draft, intent, params.method, null);
}

function notOpen({ status }: CheckoutSessionRecord): Outcome {
  const message = 'invalid_request.session_state';
  return refused(refuse('invalid_request', { message, values: { status } }));
}
