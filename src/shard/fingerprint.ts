// Digests for idempotency: which key it is, and whether a request is the same one. Both are the first 128 bits of a
// SHA-256, so neither keys nor bodies are kept.

import { hash } from 'node:crypto';
import type { Params } from '../contract/routes/validate.ts';
import { digestBytes } from '../journal/journal.ts';

/** By way of text, because a buffer of its own for every hash costs twice as much, and again when it is collected. */
function digest(text: string): Uint8Array {
  return Buffer.from(hash('sha256', text, 'binary').slice(0, digestBytes), 'latin1');
}

/** Digest of an idempotency key within its organization and mode. */
export function digestKey(scope: string, key: string): Uint8Array {
  return digest(`${scope}\n${key}`);
}

/**
 * Digest of a request: method, path, query string, and the parsed body with defaults filled in. The order of names
 * and the way a number is written make no difference.
 */
export function digestRequest(method: string, path: string, query: string, params: Params): Uint8Array {
  return digest(`${method} ${path}?${query}\n${canonicalJson(params)}`);
}

/** JSON with the names of every object in code-unit order. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const names = Object.keys(value).sort();
  let text = '{';
  for (const name of names) {
    if (text.length > 1) text += ',';
    text += `${JSON.stringify(name)}:${canonicalJson((value as Params)[name])}`;
  }
  return `${text}}`;
}
