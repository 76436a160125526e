// An API key: `svc_sk_test_` (secret) or `svc_pk_test_` (publishable), the same with `live`, and 40
// random base-62 characters. Only its SHA-256 digest is stored; 238 random bits need neither salt
// nor a slow hash. The text of a key is shown once, in the answer that creates it.

import { hash } from 'node:crypto';
import { overlapSecondsMax } from '../contract/limits.ts';
import type { Mode } from '../contract/vocabulary.ts';
import { checkedName } from './organization.ts';
import { DirectoryRefusal } from './refusal.ts';

export const keyKinds = ['secret', 'publishable'] as const;
export type KeyKind = (typeof keyKinds)[number];

export interface ApiKey {
  /** `key_…` */
  readonly id: string;
  /** SHA-256 of the whole key, hexadecimal. */
  readonly digest: string;
  readonly org: string;
  readonly mode: Mode;
  readonly kind: KeyKind;
  /** The last four characters of the key, to tell keys apart. */
  readonly hint: string;
  /** Unix seconds. */
  readonly created: number;
  readonly revokedAtMs: number | null;
  /** Set when the key was rolled: it works before this time. */
  readonly expiresAtMs: number | null;
  /** The id of the key that replaced this one. */
  readonly rolledTo: string | null;
  /** Who made it and saw its text: a member's id, or `operator`; null in one of 0.1.0. */
  readonly madeBy: string | null;
  /** What people call it, so that they know which program uses it; null without a name. */
  readonly name: string | null;
}

type KeyStatus = 'active' | 'revoked' | 'expired';

const randomWidth = 40;

/** The start of every key of a mode and kind. */
export function keyPrefix(mode: Mode, kind: KeyKind): string {
  return `svc_${kind === 'secret' ? 'sk' : 'pk'}_${mode}_`;
}

/** The digest that is stored instead of a key's text. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** A new key, and its text: shown once, never stored. */
export function newKey(
  owner: Pick<ApiKey, 'org' | 'mode' | 'kind' | 'madeBy' | 'name'>,
  nowMs: number,
  randomText: (length: number) => string,
): { readonly key: ApiKey; readonly text: string } {
  const { org, mode, kind, madeBy, name } = owner;
  const text = keyPrefix(mode, kind) + randomText(randomWidth);
  const key: ApiKey = {
    id: `key_${randomText(24)}`,
    digest: digestOf(text),
    org,
    mode,
    kind,
    hint: text.slice(-4),
    created: Math.floor(nowMs / 1000),
    revokedAtMs: null,
    expiresAtMs: null,
    rolledTo: null,
    madeBy,
    name,
  };
  return { key, text };
}

/** The texts of an organization's first keys, by mode. */
export type FirstKeys<M extends Mode = Mode> = Readonly<Record<M, Readonly<Record<KeyKind, string>>>>;

/** A key of each kind in each of `modes`. */
export function newFirstKeys<M extends Mode>(
  org: string,
  modes: readonly M[],
  nowMs: number,
  randomText: (length: number) => string,
): { readonly keys: readonly ApiKey[]; readonly texts: FirstKeys<M> } {
  const made = modes.flatMap((mode) =>
    keyKinds.map((kind) => newKey({ org, mode, kind, madeBy: 'operator', name: null }, nowMs, randomText)),
  );
  const textsIn = (mode: M) =>
    Object.fromEntries(made.filter(({ key }) => key.mode === mode).map(({ key, text }) => [key.kind, text]));
  return {
    keys: made.map(({ key }) => key),
    texts: Object.fromEntries(modes.map((mode) => [mode, textsIn(mode)])) as FirstKeys<M>,
  };
}

/** A key as it was stored, perhaps by an older version. */
export function storedKey(stored: Omit<ApiKey, 'madeBy' | 'name'> & Partial<ApiKey>): ApiKey {
  return { ...stored, madeBy: stored.madeBy ?? null, name: stored.name ?? null };
}

/** A key's name as it was typed; null when nothing was. Throws `DirectoryRefusal`. */
export function keyName(typed: string): string | null {
  return typed.trim() === '' ? null : checkedName(typed);
}

/** Whether a key works at a time, or why it does not. */
export function keyStatus(key: ApiKey, nowMs: number): KeyStatus {
  if (key.revokedAtMs !== null) return 'revoked';
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? 'expired' : 'active';
}

/** The key, rolled: it works for `overlapSeconds` more. Throws `DirectoryRefusal`. */
export function rolled(key: ApiKey, rolledTo: string, overlapSeconds: number, nowMs: number): ApiKey {
  if (key.revokedAtMs !== null) throw new DirectoryRefusal(`key ${key.id} is revoked: create another one`);
  if (key.rolledTo !== null) {
    throw new DirectoryRefusal(`key ${key.id} was rolled already: roll its successor ${key.rolledTo}`);
  }
  if (!Number.isSafeInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > overlapSecondsMax) {
    throw new DirectoryRefusal(`the overlap must be a whole number of seconds up to ${overlapSecondsMax}`);
  }
  return { ...key, rolledTo, expiresAtMs: nowMs + overlapSeconds * 1000 };
}

/** The key after it was revoked: it stops working at once. Revoking twice changes nothing. */
export function revoked(key: ApiKey, nowMs: number): ApiKey {
  return key.revokedAtMs === null ? { ...key, revokedAtMs: nowMs } : key;
}
