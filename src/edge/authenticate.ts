// Gates 2 and 3: who sends a request. The key comes as a bearer token, or as the user name of HTTP Basic with an
// empty password. Keys are known by their digests only, so how long a look-up takes says nothing of how much of a key
// is right. A header that has brought a key of ours is remembered as a whole: the digest need not be taken again.

import { hash } from 'node:crypto';
import { type Refusal, refuse } from '../contract/errors/table.ts';
import type { Clock } from '../core/clock.ts';

/** What an edge knows of an API key. */
export interface KnownKey {
  /** `key_…` */
  readonly id: string;
  readonly org: string;
  readonly livemode: boolean;
  readonly secret: boolean;
  readonly revoked: boolean;
  /** Unix milliseconds; null: no end. */
  readonly expiresAtMs: number | null;
}

/** Why a key is refused, and what may be told of it. */
export interface RefusedKey {
  readonly refusal: Refusal;
  /** The key, when it is one of ours. */
  readonly key: KnownKey | null;
  /** The public start of the text, and the start of its SHA-256 digest; null when no key was sent. */
  readonly prefix: string | null;
  readonly digest: string | null;
}

/** What an edge knows of an organization. */
export interface KnownOrganization {
  readonly id: string;
  readonly active: boolean;
  readonly liveActivated: boolean;
}

/** A change of an organization and all of its keys, by digest (SHA-256, hexadecimal). */
export interface KeyRingChange {
  readonly organization: KnownOrganization;
  readonly keys: readonly (KnownKey & { readonly digest: string })[];
}

/** Headers that are remembered, and the longest one: any client's, without padding. */
const headersMax = 10_000;
const headerLengthMax = 256;

export class KeyRing {
  readonly #keys = new Map<string, KnownKey>();
  /** Keys by the header that brought them. */
  readonly #byHeader = new Map<string, KnownKey>();
  readonly #organizations = new Map<string, KnownOrganization>();

  put(change: KeyRingChange): void {
    this.#organizations.set(change.organization.id, change.organization);
    for (const key of change.keys) this.#keys.set(key.digest, key);
    this.#byHeader.clear();
  }

  /** The key of an `Authorization` header (undefined: none was sent), or why it is refused. */
  authenticate(header: string | undefined, now: Clock): KnownKey | RefusedKey {
    if (header === undefined) return noKey;
    const key = this.#byHeader.get(header) ?? this.#find(header);
    if ('refusal' in key) return key;
    if (key.revoked) return refuseKey(revokedKey, key);
    if (key.expiresAtMs !== null && key.expiresAtMs <= now()) return refuseKey(expiredKey, key);
    const organization = this.#organizations.get(key.org);
    if (!organization?.active) return refuseKey(inactive, key);
    return key.livemode && !organization.liveActivated ? refuseKey(notActivated, key) : key;
  }

  #find(header: string): KnownKey | RefusedKey {
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

/** The refusal of a key of ours. */
export function refuseKey(refusal: Refusal, key: KnownKey): RefusedKey {
  return { refusal, key, prefix: null, digest: null };
}

/** Enough of a digest to tell keys apart, and too little to find out what was sent. */
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

/** The key in a header of either form, or null when it has neither. A password makes a key that does not exist. */
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
