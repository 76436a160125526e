// The payment networks in each mode: the simulator in test mode; none in live mode until one is configured.

import type { Networks } from '../networks/network.ts';
import { createSimulator } from '../networks/simulator.ts';
import { systemTimers } from '../networks/timers.ts';
import type { Availability } from '../shard/account.ts';
import type { Config } from './config-schema.ts';

export function networksOf({ simulator }: Config): Networks {
  const test = createSimulator('test', {
    latencyMs: simulator.latencyMs,
    refundSettleMs: simulator.refundSettleMs,
    processingSettleMs: simulator.refundSettleMs,
    now: Date.now,
    timers: systemTimers,
  });
  return { test, live: { card: null, cash: null } };
}

/** The methods that have a network. */
export function availabilityOf({ test, live }: Networks): Availability {
  const available = ({ card, cash }: Networks['test']) => ({ card: card !== null, cash: cash !== null });
  return { test: available(test), live: available(live) };
}
