// Limits the connections: in all, so that the journal, webhooks and operators have descriptors, and
// from one address. Every edge asks here when a connection opens. One that is too many is closed at
// once.
//
// uWebSockets.js does not report whose connection has ended. So an edge only knows how many
// connections each address has opened since the last count, and how many have ended in all. When an
// address may have too many, the connections are counted in the kernel's table. Between two counts
// an address can have as many too many as have ended; the next count notices that.

import { networksPerSite } from '../../contract/limits.ts';
import type { MonotonicClock } from '../../core/clock.ts';
import { type Peer, remoteAddressOf } from './client-address.ts';
import { addressKeys, type PeerCounts } from './peer-table.ts';

export type ConnectionRefusal = 'all' | 'address';

export interface ConnectionsOptions {
  /** The most connections at a time, to all edges. */
  readonly max: number;
  /** The most from one address, or IPv6 network (/64); a site (/48) has a few times as many. */
  readonly perAddressMax: number;
  /** The number of open connections, in memory that all edges share. */
  readonly open: Int32Array;
  readonly edges: number;
  /** Whether the address is that of a trusted proxy, which has the connections of many clients. */
  readonly isExempt: (address: string) => boolean;
  /** Counts the connections to all edges by address; null where the system can't. */
  readonly countPeers: (() => PeerCounts) | null;
  readonly monotonic: MonotonicClock;
  readonly onRefused: (reason: ConnectionRefusal, address: string) => void;
}

/** A count takes milliseconds. Counts take at most this share of the time. */
const countingShare = 1 / 10;
const countingIntervalMsMin = 5;
/** The most addresses in memory between two counts. */
const addressesMax = 10_000;

export class Connections {
  readonly #options: ConnectionsOptions;
  /** The connections of each address, and of each site, at the last count. */
  #counted: Map<string, number> = new Map();
  /** The connections that each address has opened at this edge since. */
  readonly #opened = new Map<string, number>();
  /** The connections that have ended at this edge since. */
  #ended = 0;
  #mayCountAtMs = 0;
  #here = 0;
  /** Those of them that were refused and are about to end. */
  #refused = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** The open connections at this edge. */
  get here(): number {
    return this.#here;
  }

  /** Whether a new connection may stay. `closed` is called when it ends, also if refused. */
  opened(peer: Peer): boolean {
    const { max, onRefused } = this.#options;
    this.#here++;
    const total = Atomics.add(this.#options.open, 0, 1) + 1;
    const refusal = total > max ? 'all' : this.#isTooManyOfAddress(peer, total) ? 'address' : null;
    if (refusal === null) return true;
    this.#refused++;
    onRefused(refusal, remoteAddressOf(peer));
    return false;
  }

  closed(): void {
    this.#here--;
    if (this.#refused > 0) this.#refused--;
    else this.#ended++;
    Atomics.sub(this.#options.open, 0, 1);
  }

  #isTooManyOfAddress(peer: Peer, total: number): boolean {
    const { perAddressMax, edges, isExempt, countPeers } = this.#options;
    if (countPeers === null) return false;
    const keys = addressKeys(new Uint8Array(peer.getRemoteAddress()));
    // The other edges are assumed to have as many.
    const mayBeTooMany = total > perAddressMax && this.#isOver(keys, edges);
    if (mayBeTooMany && !isExempt(remoteAddressOf(peer))) {
      if (this.#isOver(keys, edges - this.#ended * edges)) return true;
      // This count includes the new connection.
      if (this.#count(countPeers)) return this.#isOneTooMany(keys);
    }
    for (const key of keys) this.#opened.set(key, (this.#opened.get(key) ?? 0) + 1);
    if (this.#opened.size > addressesMax) this.#count(countPeers);
    return false;
  }

  /** Whether an address, or its site, has too many if it has `more` than are known of it. */
  #isOver(keys: readonly string[], more: number): boolean {
    const { perAddressMax, edges } = this.#options;
    return keys.some((key, i) => {
      const known = (this.#counted.get(key) ?? 0) + (this.#opened.get(key) ?? 0) * edges;
      return known + more > (i === 0 ? perAddressMax : perAddressMax * networksPerSite);
    });
  }

  #isOneTooMany(keys: readonly string[]): boolean {
    if (!this.#isOver(keys, 0)) return false;
    for (const key of keys) this.#counted.set(key, (this.#counted.get(key) ?? 1) - 1);
    return true;
  }

  /** Counts again. Returns false when the last count was too recent. */
  #count(countPeers: () => PeerCounts): boolean {
    const { monotonic } = this.#options;
    const startedAt = monotonic();
    if (startedAt < this.#mayCountAtMs) return false;
    this.#counted = new Map(countPeers());
    this.#opened.clear();
    this.#ended = 0;
    const endedAt = monotonic();
    this.#mayCountAtMs = endedAt + Math.max(countingIntervalMsMin, (endedAt - startedAt) / countingShare);
    return true;
  }
}
