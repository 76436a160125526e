// Gates 2 and 3: the key and the account. The key comes as a bearer token, or as the user name of
// HTTP Basic with an empty password. Keys are looked up by their digests, so the time of a look-up
// does not reveal how much of a key is right. A header with a valid key is remembered, so that its
// digest need not be computed again.

import { hash } from 'node:crypto';
import { type Refusal, refuse } from '../../contract/errors/table.ts';
import type { Clock } from '../../core/clock.ts';

/** What an edge knows of an API key. */
export interface KnownKey {
  /** `key_…` */
  readonly id: string;
  readonly org: string;
  readonly livemode: boolean;
  readonly secret: boolean;
  readonly revoked: boolean;
  /** Unix milliseconds; null when it has no end. */
  readonly expiresAtMs: number | null;
}

/** A key of the ring. */
export interface RingKey extends KnownKey {
  /** The time of the monotonic clock from which on its next use is told (used-keys.ts). */
  tellAtMs: number;
}

/** Why a key is refused, and what may be logged of it. */
export interface RefusedKey {
  readonly refusal: Refusal;
  /** The key, if it exists. */
  readonly key: KnownKey | null;
  /** The public start of the key and the start of its SHA-256 digest; null when no key was sent. */
  readonly prefix: string | null;
  readonly digest: string | null;
}

/** What an edge knows of an organization. */
interface KnownOrganization {
  readonly id: string;
  readonly active: boolean;
  readonly liveActivated: boolean;
}

/** A change of an organization and of some of its keys, by digest (SHA-256, hexadecimal). */
export interface KeyRingChange {
  readonly organization: KnownOrganization;
  readonly keys: readonly (KnownKey & { readonly digest: string })[];
}

/** How many headers are remembered, and the length of the longest, which needs no padding. */
const headersMax = 10_000;
const headerLengthMax = 256;

export class KeyRing {
  readonly #keys = new Map<string, RingKey>();
  /** Keys by the header in which they were sent. */
  readonly #byHeader = new Map<string, RingKey>();
  readonly #organizations = new Map<string, KnownOrganization>();

  put(change: KeyRingChange): void {
    this.#organizations.set(change.organization.id, change.organization);
    for (const key of change.keys) {
      this.#keys.set(key.digest, { ...key, tellAtMs: this.#keys.get(key.digest)?.tellAtMs ?? 0 });
    }
    this.#byHeader.clear();
  }

  /** The key in an `Authorization` header (undefined when none was sent), or why it is refused. */
  authenticate(header: string | undefined, now: Clock): RingKey | RefusedKey {
    if (header === undefined) return noKey;
    const key = this.#byHeader.get(header) ?? this.#find(header);
    if ('refusal' in key) return key;
    if (key.revoked) return refuseKey(revokedKey, key);
    if (key.expiresAtMs !== null && key.expiresAtMs <= now()) return refuseKey(expiredKey, key);
    const organization = this.#organizations.get(key.org);
    if (!organization?.active) return refuseKey(inactive, key);
    return key.livemode && !organization.liveActivated ? refuseKey(notActivated, key) : key;
  }

  #find(header: string): RingKey | RefusedKey {
    const text = keyOf(header);
    if (text === null) return wrongForm;
    const digest = hash('sha256', text, 'hex');
    const key = this.#keys.get(digest);
    if (key === undefined) return unknown(text, digest);
    if (header.length <= headerLengthMax) {
      if (this.#byHeader.size >= headersMax) this.#byHeader.clear();
      this.#byHeader.set(header, key);
    }
    return key;
  }
}

/** The refusal of a key that exists. */
export function refuseKey(refusal: Refusal, key: KnownKey): RefusedKey {
  return { refusal, key, prefix: null, digest: null };
}

/** Enough digits of a digest to tell keys apart, and too few to find out the key. */
const digestShown = 8;

function unknown(text: string, digest: string): RefusedKey {
  const [prefix = null] = /^svc_[sp]k_(?:test|live)_/.exec(text) ?? [];
  return { refusal: unknownKey, key: null, prefix, digest: digest.slice(0, digestShown) };
}

const nothingSent = { key: null, prefix: null, digest: null };
const noKey: RefusedKey = { refusal: refuse('api_key_missing'), ...nothingSent };
const wrongForm: RefusedKey = { refusal: refuse('authentication_required'), ...nothingSent };
const unknownKey = refuse('api_key_invalid');
const revokedKey = refuse('api_key_revoked');
const expiredKey = refuse('api_key_expired');
const inactive = refuse('account_inactive');
const notActivated = refuse('live_mode_not_activated');

/** The key in a header of either form; null for others. With a password it is no existing key. */
function keyOf(header: string): string | null {
  const space = header.indexOf(' ');
  const scheme = header.slice(0, space).toLowerCase();
  const rest = header.slice(space + 1).trim();
  if (space < 0 || rest === '') return null;
  if (scheme === 'bearer') return rest;
  if (scheme !== 'basic' || !/^[A-Za-z0-9+/]+={0,2}$/.test(rest)) return null;
  const decoded = Buffer.from(rest, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 0) return null;
  return colon === decoded.length - 1 ? decoded.slice(0, -1) : decoded;
}
