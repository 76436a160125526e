// The connections to a port, from the kernel's table. uWebSockets.js reports that a connection has
// ended, but not whose, so the connections of an address can't be counted from its events. Linux
// has a table of all connections; other systems have nothing that is as easy to read.

import { existsSync, readFileSync } from 'node:fs';

/** Connections by the keys of addresses. */
export type PeerCounts = ReadonlyMap<string, number>;

/** A line of the table. A connection that nobody has accepted yet has no inode. */
const connection =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):[0-9A-F]{4} ([0-9A-F]{2}) \S+ \S+ \S+ +\d+ +\d+ (\d+)/gm;
const listening = '0A';

const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** Reads the connections to a local port that were accepted; null where there is no table. */
export function createPeerCount(port: number): (() => PeerCounts) | null {
  // A system without IPv6 has only one of the two tables.
  const present = tables.filter((table) => existsSync(table));
  if (present.length === 0) return null;
  return () => countPeers(present.map((table) => readFileSync(table, 'latin1')).join(''), port);
}

/**
 * The kernel writes its table a page at a time. Where other connections open and end meanwhile, it
 * may write one again that it has written before.
 */
export function countPeers(table: string, port: number): PeerCounts {
  const counts = new Map<string, number>();
  const counted = new Set<string>();
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  for (const [, local, remote, state, inode] of table.matchAll(connection)) {
    if (local !== wanted || state === listening || inode === '0') continue;
    if (counted.has(inode!)) continue;
    counted.add(inode!);
    for (const key of addressKeys(Buffer.from(remote!, 'hex').swap32()))
      counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

const mappedPrefix = '00000000000000000000ffff';

/**
 * The keys by which connections are counted, from the bytes of an address: an IPv4 address, also an
 * IPv4-mapped one, or the network (/64) of an IPv6 address, because one customer has a whole one,
 * and its site (/48), because one customer may have thousands of networks.
 */
export function addressKeys(address: Uint8Array): readonly string[] {
  const hex = Buffer.from(address).toString('hex');
  if (address.length === 4) return [hex];
  if (hex.startsWith(mappedPrefix)) return [hex.slice(mappedPrefix.length)];
  return [hex.slice(0, 16), hex.slice(0, 12)];
}
