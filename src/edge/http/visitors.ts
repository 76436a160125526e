// Limits the visits from one address with token buckets. The buckets of the latest addresses are in
// memory, a bounded number of them. IPv6 addresses count by network (/64), because one customer has
// a whole one, and more loosely by site (/48), because one customer may have thousands of networks.

import { networksPerSite } from '../../contract/limits.ts';
import type { MonotonicClock } from '../../core/clock.ts';
import { KeyedBuckets, type KeyedBucketsOptions } from '../../core/token-bucket.ts';
import { createClientAddress, networksOf } from './client-address.ts';

/** Whose visits count together. An IPv4 address is its own network and site. */
export interface Visitor {
  readonly network: string;
  readonly site: string;
}

export interface Visitors {
  /** Who comes from an address. */
  visitorOf(remoteAddress: string, forwardedFor: string): Visitor;
  /** Counts a visit. Null when it is admitted, else the seconds to wait. */
  admit(remoteAddress: string, forwardedFor: string): number | null;
}

interface VisitorOptions {
  readonly visitsPerMinute: number;
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** So many that came last are in memory. One that was dropped starts with a full bucket. */
  readonly visitorsMax: number;
  readonly monotonic: MonotonicClock;
}

/** Throws when a trusted proxy is neither an address nor a network. */
export function createVisitorOf(
  trustedProxies: readonly string[],
): (remoteAddress: string, forwardedFor: string) => Visitor {
  const clientAddress = createClientAddress(trustedProxies);
  return (remoteAddress, forwardedFor) => {
    const address = clientAddress(remoteAddress, forwardedFor);
    const [network = remoteAddress, site = network] = address === null ? [] : networksOf(address);
    return { network, site };
  };
}

/** Token buckets by visitor. A site may have a few times as much as one of its networks. */
export class VisitorBuckets {
  readonly #networks: KeyedBuckets;
  readonly #sites: KeyedBuckets;

  constructor(options: KeyedBucketsOptions) {
    this.#networks = new KeyedBuckets(options);
    this.#sites = new KeyedBuckets({ ...options, count: options.count * networksPerSite });
  }

  /** Spends one. Null when there was room, else the seconds to wait, and nothing was spent. */
  spend({ network, site }: Visitor, nowMs: number): number | null {
    const wait = this.#networks.spend(network, nowMs);
    if (wait !== null || site === network) return wait;
    const siteWait = this.#sites.spend(site, nowMs);
    if (siteWait !== null) this.#networks.giveBack(network);
    return siteWait;
  }

  /** Gives back what was spent. */
  giveBack({ network, site }: Visitor): void {
    this.#networks.giveBack(network);
    this.#sites.giveBack(site);
  }
}

/** Limits what comes from an address for an organization and, more loosely, for all. */
export interface Callers {
  admit(remoteAddress: string, forwardedFor: string, org: string): number | null;
  giveBack(remoteAddress: string, forwardedFor: string, org: string): void;
}

/**
 * How many times as much may come from an address for all organizations as for one: a network has
 * one address, and what is wrong with one organization must not hold up the others.
 */
const organizationsPerCaller = 20;

/** Throws when a trusted proxy is neither an address nor a network. */
export function createCallers(options: VisitorOptions): Callers {
  const { visitsPerMinute, visitorsMax: keysMax, monotonic } = options;
  const forOne = new VisitorBuckets({ count: visitsPerMinute, windowMs: 60_000, keysMax });
  const count = visitsPerMinute * organizationsPerCaller;
  const forAll = new VisitorBuckets({ count, windowMs: 60_000, keysMax });
  const visitorOf = createVisitorOf(options.trustedProxies);
  const at = ({ network, site }: Visitor, org: string) => ({
    network: `${network} ${org}`,
    site: `${site} ${org}`,
  });

  return {
    admit(remoteAddress, forwardedFor, org) {
      const visitor = visitorOf(remoteAddress, forwardedFor);
      const waitSeconds = forOne.spend(at(visitor, org), monotonic());
      if (waitSeconds !== null) return waitSeconds;
      const waitForAll = forAll.spend(visitor, monotonic());
      if (waitForAll !== null) forOne.giveBack(at(visitor, org));
      return waitForAll;
    },
    giveBack(remoteAddress, forwardedFor, org) {
      const visitor = visitorOf(remoteAddress, forwardedFor);
      forOne.giveBack(at(visitor, org));
      forAll.giveBack(visitor);
    },
  };
}

/** Throws when a trusted proxy is neither an address nor a network. */
export function createVisitors(options: VisitorOptions): Visitors {
  const { visitsPerMinute, visitorsMax, monotonic } = options;
  const buckets = new VisitorBuckets({ count: visitsPerMinute, windowMs: 60_000, keysMax: visitorsMax });
  const visitorOf = createVisitorOf(options.trustedProxies);
  return {
    visitorOf,
    admit: (remoteAddress, forwardedFor) =>
      buckets.spend(visitorOf(remoteAddress, forwardedFor), monotonic()),
  };
}
