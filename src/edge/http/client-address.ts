// The address of the client that sent a request: the other end of the connection, or behind trusted
// proxies the last address that one of them reports.

import type { HttpResponse } from 'uWebSockets.js';
import ipaddr from 'ipaddr.js';
import { remembering } from '../../core/remembering.ts';
import { addressKeys } from './peer-table.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Finds the address behind trusted proxies. Null when the connection's is no address. */
type ClientAddressOf = (remoteAddress: string, forwardedFor: string) => Address | null;

/** The other end of a connection. */
export type Peer = Pick<HttpResponse, 'getRemoteAddress' | 'getRemoteAddressAsText'>;

/** uWebSockets.js would make the text anew for each request of a connection. */
const textOfIPv4 = remembering(10_000, (address: number): string =>
  [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.'),
);

/** The address of the other end of a connection, as text. */
export function remoteAddressOf(peer: Peer): string {
  const bytes = peer.getRemoteAddress();
  return bytes.byteLength === 4
    ? textOfIPv4(new DataView(bytes).getUint32(0))
    : Buffer.from(peer.getRemoteAddressAsText()).toString('latin1');
}

/** `trustedProxies`: addresses, or networks such as `10.0.0.0/8`. Throws when one is neither. */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddressOf {
  const isTrusted = createTrusted(trustedProxies);
  return (remoteAddress, forwardedFor) => {
    let client = readAddress(remoteAddress);
    if (client === null) return null;
    const hops = forwardedFor.split(',');
    while (hops.length > 0 && isTrusted(client)) {
      const before = readAddress((hops.pop() ?? '').trim());
      if (before === null) break;
      client = before;
    }
    return client;
  };
}

/** Whether an address is one of these, or in one of these networks. Throws when one is neither. */
function createTrusted(trustedProxies: readonly string[]): (address: Address) => boolean {
  const trusted = trustedProxies.map(readNetwork);
  return (address) =>
    trusted.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
}

/** The same for the text of an address. */
export function createIsTrusted(trustedProxies: readonly string[]): (address: string) => boolean {
  const isTrusted = createTrusted(trustedProxies);
  return (text) => {
    const address = readAddress(text);
    return address !== null && isTrusted(address);
  };
}

/** As what an address counts: itself, or the network (/64) and the site (/48) of IPv6. */
export function networksOf(address: Address): readonly string[] {
  return addressKeys(Uint8Array.from(address.toByteArray()));
}

/** The same for the text of an address; nothing for a trusted proxy, and for what is no address. */
export function createNetworksOf(trustedProxies: readonly string[]): (address: string) => readonly string[] {
  const isTrusted = createTrusted(trustedProxies);
  return (text) => {
    const address = readAddress(text);
    return address === null || isTrusted(address) ? [] : networksOf(address);
  };
}

/** The client's address as text, for logs. Without proxies an IPv4 address is not parsed. */
export function createClientAddressText(
  trustedProxies: readonly string[],
): (remoteAddress: string, forwardedFor: string) => string {
  const addressOf = createClientAddress(trustedProxies);
  return (remoteAddress, forwardedFor) => {
    if (trustedProxies.length === 0 && !remoteAddress.includes(':')) return remoteAddress;
    return addressOf(remoteAddress, forwardedFor)?.toString() ?? '';
  };
}

/** The address in a text; null when it is none. An IPv4-mapped IPv6 address becomes IPv4. */
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
