// The addresses of names that were resolved lately: a resolution costs three times what the rest of
// a delivery does. They are used for as long as a connection may stay idle, so a name that changes
// its addresses is noticed as soon with them as without. A failure is not remembered.

import type { MonotonicClock } from '../core/clock.ts';
import type { Resolve } from './resolver.ts';

/** An entry takes some hundred bytes. */
const namesMax = 4096;

interface Asked {
  readonly atMs: number;
  readonly addresses: Promise<string[]>;
}

/**
 * Resolves a name again `forMs` after it was asked for. Those who ask meanwhile have the same
 * answer.
 */
export function rememberAddresses(resolve: Resolve, forMs: number, monotonic: MonotonicClock): Resolve {
  const known = new Map<string, Asked>();
  const ask = (host: string, atMs: number): Asked => {
    const asked = { atMs, addresses: resolve(host) };
    asked.addresses.catch(() => {
      if (known.get(host) === asked) known.delete(host);
    });
    if (known.size >= namesMax) known.clear();
    known.set(host, asked);
    return asked;
  };
  return (host) => {
    const nowMs = monotonic();
    const asked = known.get(host);
    const isFresh = asked !== undefined && nowMs - asked.atMs < forMs;
    return (isFresh ? asked : ask(host, nowMs)).addresses;
  };
}
