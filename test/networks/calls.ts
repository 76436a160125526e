// Network calls and payments on a network's page for tests: each is complete, and a test changes what it needs.

import type { NetworkCall } from '../../src/domain/network-call.ts';
import type { HostedPayment } from '../../src/networks/network.ts';

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

export function hostedPayment(changes: Partial<HostedPayment> = {}): HostedPayment {
  return {
    org: 'org_1',
    livemode: true,
    paymentIntent: 'pi_1',
    charge: 'ch_1',
    amount: 25_000,
    currency: 'mad',
    language: 'fr',
    expiresAtMs: startMs + 60_000,
    customer: { name: 'Zoé', email: 'zoe@example.ma' },
    description: null,
    paidUrl: 'https://pay.test/paid',
    unpaidUrl: 'https://pay.test/unpaid',
    callbackUrl: 'https://pay.test/networks/cmi/org_1/live',
    ...changes,
  };
}
