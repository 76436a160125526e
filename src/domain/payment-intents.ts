// Payment intents: create, update, confirm, cancel. What happens to a charge after the confirmation
// is in charges.ts.

import { networkUnavailable, type Refusal, refuse } from '../contract/errors/table.ts';
import { methodAmountMin } from '../contract/limits.ts';
import type { ParamsOf } from '../contract/routes/table.ts';
import { type CancellationReason, methodNames, type PaymentMethodType } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import { newCashNumber } from './cash-codes.ts';
import { methodsLeft } from './charge-limits.ts';
import { giveUpCharge } from './charges.ts';
import { answered, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { find, missing } from './find.ts';
import { changedMetadata, changedText, initialMetadata } from './metadata.ts';
import { newNetworkCall } from './network-call.ts';
import { changeable } from './payment-state.ts';
import { presentPaymentIntent } from './present.ts';
import { presentIntent } from './query.ts';
import type { PaymentIntentRecord } from './record.ts';
import { expireSession } from './session-progress.ts';

type CreateParams = ParamsOf<'create_payment_intent'>;

/**
 * Why a payment intent or a checkout session can't be created with these parameters; null when it
 * can.
 */
export function refusePayment(
  draft: Draft,
  params: { amount: number; payment_method_types?: PaymentMethodType[]; customer?: string },
): Refusal | null {
  const methods = methodsOf(params);
  for (const method of methods) {
    const minimum = methodAmountMin[method];
    if (params.amount < minimum) {
      return refuse('amount_too_small', {
        param: 'amount',
        values: { minimum, method: methodNames[method] },
      });
    }
  }
  for (const method of methods) {
    if (!draft.context.account.methods[method]) {
      return refuse('payment_method_unavailable', {
        param: 'payment_method_types',
        values: { method: methodNames[method] },
      });
    }
  }
  if (params.customer === undefined) return null;
  const found = find(draft.view, draft.context, 'customer', params.customer, 'customer');
  if ('refusal' in found) return found.refusal;
  return found.record.deleted ? missing('customer', params.customer, null, 'customer') : null;
}

/** The methods of a payment that is created. The route has filled in its default. */
export function methodsOf({ payment_method_types }: { payment_method_types?: PaymentMethodType[] }) {
  return defined(payment_method_types, 'payment_method_types has a default');
}

/** In live mode customers are sent back to a merchant over https only. */
export function refusePlainHttp(
  { livemode }: Draft['context'],
  addresses: Readonly<Record<string, string | undefined>>,
): Refusal | null {
  if (!livemode) return null;
  const param = Object.keys(addresses).find((name) => /^http:/i.test(addresses[name] ?? ''));
  if (param === undefined) return null;
  return refuse('parameter_invalid', { param, message: 'parameter_invalid.https' });
}

/**
 * Creates an intent and its event. Returns the intent, also as the JSON text that the event
 * carries.
 */
export function openIntent(
  draft: Draft,
  params: Pick<CreateParams, 'amount' | 'currency' | 'customer' | 'description' | 'metadata'> & {
    payment_method_types?: PaymentMethodType[];
  },
  session: string | null,
): { readonly intent: PaymentIntentRecord; readonly json: string } {
  const { context } = draft;
  const intent: PaymentIntentRecord = {
    kind: 'payment_intent',
    id: context.newId('payment_intent'),
    org: context.org,
    livemode: context.livemode,
    created: Math.floor(context.nowMs / 1000),
    amount: params.amount,
    amount_received: 0,
    currency: params.currency,
    status: 'requires_payment_method',
    payment_method_types: methodsOf(params),
    latest_charge: null,
    customer: params.customer ?? null,
    description: params.description ?? null,
    metadata: initialMetadata(params.metadata),
    last_payment_error: null,
    return_url: null,
    canceled_at: null,
    cancellation_reason: null,
    checkout_session: session,
    network_call: null,
  };
  draft.put(intent);
  const json = JSON.stringify(presentPaymentIntent(intent, undefined, context.settings.baseUrl));
  draft.emit('payment_intent.created', json);
  return { intent, json };
}

export function createPaymentIntent(draft: Draft, params: CreateParams): Outcome {
  const refusal = refusePayment(draft, params);
  if (refusal !== null) return refused(refusal);
  return { body: openIntent(draft, params, null).json };
}

/**
 * Description and metadata can be changed in every state, but not while a network call is under
 * way.
 */
export function updatePaymentIntent(
  draft: Draft,
  params: ParamsOf<'update_payment_intent'>,
  before: PaymentIntentRecord,
): Outcome {
  if (before.network_call !== null) return refused(refuse('payment_intent_busy'));
  const changed = changedMetadata(before.metadata, params.metadata);
  if ('refusal' in changed) return changed;
  const description = changedText(params.description, before.description);
  const updated = draft.put<PaymentIntentRecord>({ ...before, ...changed, description });
  return answered(presentIntent(updated, draft.view, draft.context));
}

export function confirmPaymentIntent(
  draft: Draft,
  params: ParamsOf<'confirm_payment_intent'>,
  intent: PaymentIntentRecord,
): Outcome {
  const { return_url } = params;
  const invalid = refusePlainHttp(draft.context, { return_url });
  if (invalid !== null) return refused(invalid);
  const method = methodOf(intent, params.payment_method_type);
  if (typeof method !== 'string') return refused(method);
  return openCharge(draft, intent, method, return_url ?? null);
}

/** The method of a confirmation that names none: the intent's only one, if it has only one. */
export function defaultMethod({
  payment_method_types: types,
}: PaymentIntentRecord): PaymentMethodType | undefined {
  return types.length === 1 ? types[0] : undefined;
}

function methodOf(
  intent: PaymentIntentRecord,
  asked: PaymentMethodType | undefined,
): PaymentMethodType | Refusal {
  const types = intent.payment_method_types;
  const method = asked ?? defaultMethod(intent);
  const param = 'payment_method_type';
  if (method === undefined)
    return refuse('parameter_missing', { param, message: 'parameter_missing.method' });
  if (types.includes(method)) return method;
  const values = { choices: types.join(', ') };
  return refuse('parameter_invalid', { param, message: 'parameter_invalid.not_a_method', values });
}

/**
 * Asks the network to open a card page or to issue a cash code. The request is answered when the
 * network has done so.
 */
export function openCharge(
  draft: Draft,
  intent: PaymentIntentRecord,
  method: PaymentMethodType,
  returnUrl: string | null,
): Outcome {
  const { context } = draft;
  const refusal = changeable(intent, ['requires_payment_method']);
  if (refusal !== null) return refused(refusal);
  if (!context.account.methods[method]) {
    return refused(
      refuse('payment_method_unavailable', {
        param: 'payment_method_type',
        values: { method: methodNames[method] },
      }),
    );
  }
  if (!methodsLeft(draft.view, intent).includes(method)) {
    const param = 'payment_method_type';
    const message = 'payment_intent_unexpected_state.charges';
    return refused(
      refuse('payment_intent_unexpected_state', { param, message, values: { method: methodNames[method] } }),
    );
  }
  const cashNumber = method === 'cash' ? newCashNumber(draft) : null;
  if (method === 'cash' && cashNumber === null) return refused(networkUnavailable);
  const call = draft.call({
    ...newNetworkCall(context, method === 'card' ? 'open_card_page' : 'issue_cash_code'),
    payment_intent: intent.id,
    cash_number: cashNumber,
    return_url: returnUrl,
  });
  draft.put<PaymentIntentRecord>({ ...intent, network_call: call.id });
  return { waitsFor: call };
}

/** A payment intent can be canceled while it has one of these statuses. */
export const cancelableStatuses: readonly PaymentIntentRecord['status'][] = [
  'requires_payment_method',
  'requires_action',
];

export function cancelPaymentIntent(
  draft: Draft,
  params: ParamsOf<'cancel_payment_intent'>,
  intent: PaymentIntentRecord,
): Outcome {
  const refusal = changeable(intent, cancelableStatuses);
  if (refusal !== null) return refused(refusal);
  const canceled = cancelIntent(draft, intent, params.cancellation_reason ?? null);
  return answered(presentPaymentIntent(canceled, undefined, draft.context.settings.baseUrl));
}

/**
 * Cancels an intent that is `changeable`. Its pending charge fails, and its open checkout session
 * expires.
 */
export function cancelIntent(
  draft: Draft,
  intent: PaymentIntentRecord,
  reason: CancellationReason | null,
): PaymentIntentRecord {
  const { context } = draft;
  const charge = intent.latest_charge === null ? undefined : draft.get('charge', intent.latest_charge);
  if (charge?.status === 'pending') giveUpCharge(draft, charge);
  const canceled = draft.put<PaymentIntentRecord>({
    ...intent,
    status: 'canceled',
    canceled_at: Math.floor(context.nowMs / 1000),
    cancellation_reason: reason,
  });
  draft.emit('payment_intent.canceled', presentPaymentIntent(canceled, undefined, context.settings.baseUrl));
  expireSession(draft, canceled);
  return canceled;
}
