// Who is connected to a port, as the kernel knows it. uWebSockets.js tells that a connection has ended, but not whose
// it was, so what an address has open can't be counted from its events alone. Linux has a table of all connections;
// other systems have nothing that could be read as easily.

import { existsSync, readFileSync } from 'node:fs';

/** Connections by address key. */
export type PeerCounts = ReadonlyMap<string, number>;

/** A line of the table. A connection that nobody has accepted yet has no inode. */
const connection =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):[0-9A-F]{4} ([0-9A-F]{2}) \S+ \S+ \S+ +\d+ +\d+ (\d+)/gm;
const listening = '0A';

const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** Reads the connections to a local port that were accepted; null where there is no table. */
export function createPeerCount(port: number): (() => PeerCounts) | null {
  // A system without IPv6 has one of them.
  const present = tables.filter((table) => existsSync(table));
  if (present.length === 0) return null;
  return () => countPeers(present.map((table) => readFileSync(table, 'latin1')).join(''), port);
}

export function countPeers(table: string, port: number): PeerCounts {
  const counts = new Map<string, number>();
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  for (const [, local, remote, state, inode] of table.matchAll(connection)) {
    if (local !== wanted || state === listening || inode === '0') continue;
    const key = addressKey(Buffer.from(remote!, 'hex').swap32());
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

const mappedPrefix = '00000000000000000000ffff';

/**
 * What connections are counted by, from the bytes of an address: an IPv4 address, also one that is dressed as IPv6; of
 * IPv6 the network (/64), which is what one customer is given.
 */
export function addressKey(address: Uint8Array): string {
  const hex = Buffer.from(address).toString('hex');
  if (address.length === 4) return hex;
  return hex.startsWith(mappedPrefix) ? hex.slice(mappedPrefix.length) : hex.slice(0, 16);
}
