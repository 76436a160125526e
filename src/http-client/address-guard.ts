// The address guard decides which URLs a merchant may register as a webhook endpoint, and to which
// IP addresses a delivery may go. Its pure rules are applied when an endpoint is created or
// changed, and again before each attempt: to the URL, to every address that its name resolves to,
// and to the address that was connected to. So nobody can make the service connect to a machine
// that is not on the public internet.
//
// The WHATWG URL parser reads the host. It turns every notation of an IPv4 address (decimal, octal,
// hexadecimal, short, full-width, percent-encoded) into the dotted one, so the rules see the
// address that would be connected to. It also repairs silently what should be refused (tabs,
// backslashes, missing slashes, an empty user), so these are searched for in the text.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { urlCharactersMax } from '../contract/limits.ts';

/** For development only; both are false in production. */
interface AddressOptions {
  /** Also accept `http:`. */
  readonly allowHttp?: boolean;
  /** Also accept `localhost` and addresses that are not public. */
  readonly allowPrivate?: boolean;
}

export type CheckedUrl =
  | {
      readonly ok: true;
      readonly url: URL;
      /** A lower-case ASCII name, or an IP address without brackets. */
      readonly host: string;
      readonly port: number;
      /** The host if it is an IP address; null if it is a name, which has to be resolved. */
      readonly literal: string | null;
    }
  | { readonly ok: false /** A short English reason. */; readonly reason: string };

/**
 * Control characters, invisible format characters, lone surrogates, spaces of every kind, and the
 * backslash.
 */
const strayCharacter = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u;
const schemeAndAuthority = /^(https?):\/\/([^/?#]+)/i;
const nameLengthMax = 253;
const nameLabel = /^[a-z0-9_-]{1,63}$/;

/** Whether `text` may be the URL of a webhook endpoint. Names are not resolved here. */
export function checkWebhookUrl(text: string, options: AddressOptions = {}): CheckedUrl {
  if (text.length > urlCharactersMax && [...text].length > urlCharactersMax)
    return refused(`longer than ${urlCharactersMax} characters`);
  if (strayCharacter.test(text)) return refused('contains a space, a control character or a backslash');

  const [, scheme = '', authority] = schemeAndAuthority.exec(text) ?? [];
  if (authority === undefined) return refused('not an absolute https URL');
  if (scheme.toLowerCase() === 'http' && !options.allowHttp) return refused('must use https');
  if (authority.includes('@')) return refused('contains a user name or password');

  const url = URL.parse(text);
  if (url === null) return refused('not a valid URL');
  if (url.port === '0') return refused('port 0');

  const host = url.hostname.replace(/^\[|\]$/g, '');
  const literal = isIP(host) === 0 ? null : host;
  const reason = literal === null ? nameFault(host, options) : addressFault(literal, options);
  if (reason !== null) return refused(reason);

  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port);
  return { ok: true, url, host, port, literal };
}

/**
 * Whether `host` is a name of this machine by convention, which needs no resolving: `localhost`,
 * `*.localhost`.
 */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function nameFault(host: string, options: AddressOptions): string | null {
  // The empty label after a trailing dot is refused. Certificates never have one, and `localhost.`
  // would pass with it.
  if (host.length > nameLengthMax || !host.split('.').every((label) => nameLabel.test(label))) {
    return 'host is not a valid name';
  }
  return isLocalhost(host) && !options.allowPrivate ? 'host is not public' : null;
}

function addressFault(address: string, options: AddressOptions): string | null {
  return options.allowPrivate || isPublicAddress(address) ? null : 'host is not public';
}

function refused(reason: string): CheckedUrl {
  return { ok: false, reason };
}

/**
 * A virtual address of Azure's network that answers with the platform's metadata, although it looks
 * public.
 */
const azurePlatformAddress = '168.63.129.16';

const globalUnicastV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/**
 * Parts of the global range that tunnel to IPv4, or serve documentation, experiments and
 * infrastructure.
 */
const specialV6 = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3ffe::/16',
  '3fff::/20',
].map((range) => ipaddr.IPv6.parseCIDR(range));

/**
 * Whether a text is an IP address of the public internet, in the form that resolvers and sockets
 * return. Other notations, IPv6 zones and IPv4 inside IPv6 are not.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return ipaddr.IPv4.parse(address).range() === 'unicast' && address !== azurePlatformAddress;
    case 6:
      return !address.includes('%') && isPublicV6(ipaddr.IPv6.parse(address));
    default:
      return false;
  }
}

function isPublicV6(address: ipaddr.IPv6): boolean {
  if (!address.match(globalUnicastV6)) return false;
  if (specialV6.some((range) => address.match(range))) return false;
  // ISATAP: an interface identifier of 0:5efe or 200:5efe, and an IPv4 address after it.
  const [, , , , high, low] = address.parts;
  return !(low === 0x5efe && (high === 0 || high === 0x200));
}
