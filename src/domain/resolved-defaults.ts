// Defaults that depend on the state, such as the amount of a refund. A request without a parameter
// is the same as one with its default. So a request is compared with an earlier one of the same
// idempotency key after its defaults are filled in, and these are the ones of the earlier request,
// because the state may have changed since.

import type { Params } from '../contract/routes/parsed-params.ts';
import type { CommandOperation } from '../contract/routes/table.ts';
import { hasName } from '../core/tables.ts';
import { defaultDecline } from './charges.ts';
import { defaultEnd } from './checkout-sessions.ts';
import { type Caller, find } from './find.ts';
import { defaultMethod } from './payment-intents.ts';
import type { ResolvedDefaults } from './record.ts';
import { paidCharge, refundable } from './refunds.ts';
import type { View } from './view.ts';

/** What defaults may depend on besides the state. */
interface DefaultsContext extends Caller {
  readonly nowMs: number;
  readonly apiVersion: string;
}

/**
 * `params` may be anything: they are validated later. Null when there is nothing that a default
 * could depend on.
 */
type Resolve = (view: View, context: DefaultsContext, params: Params, id: string) => ResolvedDefaults | null;

const resolvers: { readonly [O in CommandOperation]?: Resolve } = {
  create_webhook_endpoint: (_view, { apiVersion }) => ({ api_version: apiVersion }),
  create_checkout_session: (_view, { nowMs }) => ({ expires_at: defaultEnd(nowMs) }),
  confirm_payment_intent(view, context, _params, id) {
    const found = find(view, context, 'payment_intent', id);
    const method = 'record' in found && defaultMethod(found.record);
    return method ? { payment_method_type: method } : null;
  },
  create_refund(view, context, params) {
    const { payment_intent, charge } = params;
    const named = charge === undefined ? { payment_intent } : { charge };
    if (!isNamed(named)) return null;
    const found = paidCharge(view, context, named);
    const amount = 'record' in found ? refundable(found.record) : 0;
    return amount > 0 ? { amount } : null;
  },
  complete_charge(view, context, _params, id) {
    const found = find(view, context, 'charge', id);
    return 'record' in found ? { amount: found.record.amount } : null;
  },
  fail_charge(view, context, _params, id) {
    const found = find(view, context, 'charge', id);
    return 'record' in found && found.record.method === 'card' ? { decline_code: defaultDecline } : null;
  },
};

/** Whether the names of objects are texts: what they are was not looked at yet. */
function isNamed<N extends string>(named: Partial<Record<N, unknown>>): named is Partial<Record<N, string>> {
  return Object.values(named).every((name) => typeof name === 'string');
}

/**
 * The function that resolves the defaults of an operation; undefined when none of them depend on
 * the state.
 */
export function defaultsResolver(operation: string): Resolve | undefined {
  return hasName(resolvers, operation) ? resolvers[operation] : undefined;
}
