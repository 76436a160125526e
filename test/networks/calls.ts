// Network calls for tests: a complete call, of which each test changes what it needs.

import type { NetworkCall } from '../../src/domain/network-call.ts';

export const startMs = Date.UTC(2026, 10, 2, 12);

export function call(changes: Partial<NetworkCall> = {}): NetworkCall {
  return {
    id: 'op_1',
    org: 'org_1',
    paymentIntent: 'pi_1',
    charge: null,
    chargeEndsAtMs: null,
    action: 'authorize_card',
    livemode: false,
    startedAtMs: startMs,
    amount: 5000,
    currency: 'mad',
    token: 'sim_now_succeeds',
    authorization: null,
    card: null,
    cash: null,
    ...changes,
  };
}
