// Limits the visits from one address with a token bucket. The buckets of the latest addresses are in memory, a bounded
// number of them. IPv6 addresses count by network (/64), because one customer has a whole one.

import type ipaddr from 'ipaddr.js';
import type { MonotonicClock } from '../../core/clock.ts';
import { KeyedBuckets } from '../../core/keyed-buckets.ts';
import { createClientAddress } from '../client-address.ts';

export interface Visitors {
  /** Counts a visit. Null when it is admitted, else the seconds to wait. */
  admit(remoteAddress: string, forwardedFor: string): number | null;
  /** A visit that was admitted does not count after all. */
  giveBack(remoteAddress: string, forwardedFor: string): void;
}

export interface VisitorOptions {
  readonly visitsPerMinute: number;
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** The most addresses in memory. One that was dropped starts with a full bucket. */
  readonly visitorsMax: number;
  readonly monotonic: MonotonicClock;
}

/** Whose visits count together. Throws when a trusted proxy is neither an address nor a network. */
export function createVisitorOf(
  trustedProxies: readonly string[],
): (remoteAddress: string, forwardedFor: string) => string {
  const clientAddress = createClientAddress(trustedProxies);
  return (remoteAddress, forwardedFor) => {
    const visitor = clientAddress(remoteAddress, forwardedFor);
    if (visitor === null) return remoteAddress;
    if (visitor.kind() === 'ipv4') return visitor.toString();
    return `${(visitor as ipaddr.IPv6).parts
      .slice(0, 4)
      .map((part) => part.toString(16))
      .join(':')}::/64`;
  };
}

/** Limits what comes from an address for an organization, and, more loosely, what comes from it for all. */
export interface Callers {
  admit(remoteAddress: string, forwardedFor: string, org: string): number | null;
  giveBack(remoteAddress: string, forwardedFor: string, org: string): void;
}

/**
 * So many times as much as for one organization comes from an address for all: a network has one address, and what is wrong with one
 * organization must not hold up the others.
 */
const organizationsPerCaller = 20;

/** Throws when a trusted proxy is neither an address nor a network. */
export function createCallers(options: VisitorOptions): Callers {
  const { visitsPerMinute, visitorsMax: keysMax, monotonic } = options;
  const forOne = new KeyedBuckets({ count: visitsPerMinute, windowMs: 60_000, keysMax });
  const count = visitsPerMinute * organizationsPerCaller;
  const forAll = new KeyedBuckets({ count, windowMs: 60_000, keysMax });
  const visitorOf = createVisitorOf(options.trustedProxies);
  const keyOf = (visitor: string, org: string) => `${visitor} ${org}`;

  return {
    admit(remoteAddress, forwardedFor, org) {
      const visitor = visitorOf(remoteAddress, forwardedFor);
      const waitSeconds = forOne.spend(keyOf(visitor, org), monotonic());
      return waitSeconds ?? forAll.spend(visitor, monotonic());
    },
    giveBack(remoteAddress, forwardedFor, org) {
      const visitor = visitorOf(remoteAddress, forwardedFor);
      forOne.giveBack(keyOf(visitor, org));
      forAll.giveBack(visitor);
    },
  };
}

/** Throws when a trusted proxy is neither an address nor a network. */
export function createVisitors(options: VisitorOptions): Visitors {
  const { visitsPerMinute, visitorsMax, monotonic } = options;
  const buckets = new KeyedBuckets({ count: visitsPerMinute, windowMs: 60_000, keysMax: visitorsMax });
  const visitorOf = createVisitorOf(options.trustedProxies);

  return {
    admit(remoteAddress, forwardedFor) {
      return buckets.spend(visitorOf(remoteAddress, forwardedFor), monotonic());
    },
    giveBack(remoteAddress, forwardedFor) {
      buckets.giveBack(visitorOf(remoteAddress, forwardedFor));
    },
  };
}
