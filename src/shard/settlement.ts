// The command that applies the outcome of a call to a payment network, as the networks' runner gives it to the shard.

import { causes } from '../domain/cause.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';

export function settlementOf(call: string, outcome: NetworkOutcome) {
  const params = { call, outcome };
  return {
    kind: 'command',
    operation: 'settle_network_call',
    id: call,
    params,
    language: 'en',
    cause: causes.network,
  } as const;
}
