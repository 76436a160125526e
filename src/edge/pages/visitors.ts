// Visitors: how many pages one address may open. An address has a token bucket; the buckets of the addresses seen last
// are kept, a bounded number of them. An IPv6 visitor counts by network (/64), which is what one customer is given.

import ipaddr from 'ipaddr.js';
import type { MonotonicClock } from '../../core/clock.ts';
import { createBucket, retryAfterSeconds, spendFromAll, type TokenBucket } from '../../core/token-bucket.ts';

export interface Visitors {
  /** Counts a visit: null when it may go on, else the seconds to wait. */
  admit(remoteAddress: string, forwardedFor: string): number | null;
}

export interface VisitorOptions {
  readonly visitsPerMinute: number;
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Addresses remembered at most; one that was forgotten starts anew. */
  readonly visitorsMax: number;
  readonly monotonic: MonotonicClock;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Throws when a trusted proxy is neither an address nor a network. */
export function createVisitors(options: VisitorOptions): Visitors {
  const { visitsPerMinute, visitorsMax, monotonic } = options;
  const trusted = options.trustedProxies.map(readNetwork);
  const isTrusted = (address: Address) =>
    trusted.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
  /** In the order of their last visit. */
  const buckets = new Map<string, TokenBucket>();

  /** The last address that a trusted proxy vouches for. */
  function visitorOf(remoteAddress: string, forwardedFor: string): string {
    let visitor = readAddress(remoteAddress);
    if (visitor === null) return remoteAddress;
    const hops = forwardedFor.split(',');
    while (hops.length > 0 && isTrusted(visitor)) {
      const before = readAddress(hops.pop()!.trim());
      if (before === null) break;
      visitor = before;
    }
    if (visitor.kind() === 'ipv4') return visitor.toString();
    return `${(visitor as ipaddr.IPv6).parts
      .slice(0, 4)
      .map((part) => part.toString(16))
      .join(':')}::/64`;
  }

  return {
    admit(remoteAddress, forwardedFor) {
      const visitor = visitorOf(remoteAddress, forwardedFor);
      const nowMs = monotonic();
      const bucket = buckets.get(visitor) ?? createBucket(visitsPerMinute, nowMs);
      buckets.delete(visitor);
      buckets.set(visitor, bucket);
      if (buckets.size > visitorsMax) buckets.delete(buckets.keys().next().value!);
      return spendFromAll([bucket], nowMs) === null ? null : retryAfterSeconds(bucket, nowMs);
    },
  };
}

/** An address, with an IPv4 one that is dressed as IPv6 undressed; null for anything else. */
function readAddress(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}

function readNetwork(text: string): [Address, number] {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = readAddress(text);
  if (address === null)
    throw new Error(`a trusted proxy is an address or a network such as 10.0.0.0/8, not ${text}`);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
