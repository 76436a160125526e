// How many connections there may be: in all, which keeps descriptors for the journal, webhooks and operators, and from
// one address. Every edge asks here when a connection comes; one that is too many is closed at once.
//
// What an address has open can be told from what it has opened and what has ended, as long as nothing has: nobody says
// whose connection it was that has ended. So when it might be too much, it is counted in the kernel's table. Between two
// counts an address may get as many too many as connections have ended, which the next count notices.

import type { MonotonicClock } from '../core/clock.ts';
import { addressKey, type PeerCounts } from './peer-table.ts';

export type ConnectionRefusal = 'all' | 'address';

export interface ConnectionsOptions {
  /** Connections at a time, to all edges. */
  readonly max: number;
  /** Of these, from one address. */
  readonly perAddressMax: number;
  /** How many are open at all edges, which share the memory. */
  readonly open: Int32Array;
  readonly edges: number;
  /** Whether the address is a proxy's that speaks for many. */
  readonly isExempt: (address: string) => boolean;
  /** The connections that all edges have, by address; null where nobody can tell: then no address has a limit. */
  readonly countPeers: (() => PeerCounts) | null;
  readonly monotonic: MonotonicClock;
  readonly onRefused: (reason: ConnectionRefusal, address: string) => void;
}

/** A connection's other end, as uWebSockets.js gives it. */
export interface Peer {
  getRemoteAddress(): ArrayBuffer;
  getRemoteAddressAsText(): ArrayBuffer;
}

/** Counting takes the kernel milliseconds: at most this share of the time. */
const countingShare = 1 / 10;
const countingIntervalMsMin = 5;
/** Addresses remembered between two counts. */
const addressesMax = 10_000;

export class Connections {
  readonly #options: ConnectionsOptions;
  /** What the last count found. */
  #counted: Map<string, number> = new Map();
  /** What was opened here since. */
  readonly #opened = new Map<string, number>();
  /** How many have ended here since. */
  #ended = 0;
  #mayCountAtMs = 0;
  #here = 0;
  /** Of these, refused, and ended in a moment. */
  #refused = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Open at this edge. */
  get here(): number {
    return this.#here;
  }

  /** A connection has come: whether it may stay. Its end is told by `closed` in any case. */
  opened(peer: Peer): boolean {
    const { max, onRefused } = this.#options;
    this.#here++;
    const total = Atomics.add(this.#options.open, 0, 1) + 1;
    const refusal = total > max ? 'all' : this.#isTooManyOfAddress(peer, total) ? 'address' : null;
    if (refusal === null) return true;
    this.#refused++;
    onRefused(refusal, textOf(peer));
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
    const key = addressKey(new Uint8Array(peer.getRemoteAddress()));
    const opened = (this.#opened.get(key) ?? 0) + 1;
    // Other edges are taken to see as many come and go.
    const most = (this.#counted.get(key) ?? 0) + opened * edges;
    if (total > perAddressMax && most > perAddressMax && !isExempt(textOf(peer))) {
      const least = most - this.#ended * edges;
      if (least > perAddressMax) return true;
      // This connection is among those that are counted now.
      if (this.#count(countPeers)) return this.#isOneTooMany(key);
    }
    this.#opened.set(key, opened);
    if (this.#opened.size > addressesMax) this.#count(countPeers);
    return false;
  }

  #isOneTooMany(key: string): boolean {
    const count = this.#counted.get(key) ?? 0;
    if (count <= this.#options.perAddressMax) return false;
    this.#counted.set(key, count - 1);
    return true;
  }

  /** Counts anew; false when the last count was too short a time ago. */
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

function textOf(peer: Peer): string {
  return Buffer.from(peer.getRemoteAddressAsText()).toString('latin1');
}
