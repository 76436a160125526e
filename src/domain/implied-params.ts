// Defaults that depend on the state: what leaving a parameter out stands for. They are filled in before a request is
// compared with an earlier one of the same idempotency key, because leaving a parameter out and sending its default
// is the same request. (A refund's amount, "all that remains", is no constant and stays out.)

import type { Params } from '../contract/validate.ts';
import type { View } from './state.ts';

/** Fills `params` in; `apiVersion` is the version that the request is in. */
export function fillImpliedParams(
  view: View,
  operation: string,
  id: string,
  params: Params,
  apiVersion: string,
): void {
  if (operation === 'create_webhook_endpoint' && params.api_version === undefined) {
    params.api_version = apiVersion;
  }
  if (operation === 'fail_charge' && params.decline_code === undefined) {
    if (view.get('charge', id)?.method === 'card') params.decline_code = 'generic_decline';
  }
  if (operation === 'confirm_payment_intent' && params.payment_method_type === undefined) {
    const types = view.get('payment_intent', id)?.payment_method_types;
    if (types?.length === 1) params.payment_method_type = types[0];
  }
}
