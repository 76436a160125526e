// The digests of idempotency keys and of requests, by which retries are recognized: the first 128
// bits of a SHA-256, so neither keys nor bodies are stored.

import { hash } from 'node:crypto';
import type { Params } from '../contract/routes/parsed-params.ts';
import { isObject } from '../contract/routes/parsed-params.ts';
import { elementAt } from '../core/assert.ts';
import { pieceSize } from '../core/piece-size.ts';
import { digestBytes } from '../journal/journal.ts';

/** Computed as text, because a new buffer for every hash costs twice as much. */
function digest(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(digestBytes);
  bytes.write(hash('sha256', text, 'binary'), 0, digestBytes, 'latin1');
  return bytes;
}

/** Digest of an idempotency key within its organization and mode. */
export function digestKey(scope: string, key: string): Uint8Array {
  return digest(`${scope}\n${key}`);
}

/** Digest of a request, with its defaults filled in, in whatever order its names are. */
export function digestRequest(method: string, path: string, query: string, params: Params): Uint8Array {
  return digest(`${method} ${path}?${query}\n${canonicalJson(params)}`);
}

/** JSON with the names of every object in code-unit order. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  for (const name of ascending(Object.keys(value))) {
    text += `${text === '' ? '' : ','}${quoted(name)}:${canonicalJson(value[name])}`;
  }
  return `{${text}}`;
}

/** Longer texts are left to `JSON.stringify`. */
const shortTextMax = pieceSize(64);

/** A text as JSON. Most need no escapes: checking their characters beats `JSON.stringify`. */
function quoted(text: string): string {
  if (text.length > shortTextMax) return JSON.stringify(text);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** More names are sorted with `sort`, which allocates more and takes fewer steps. */
const fewNamesMax = pieceSize(12);

/** Sorts the names in place by code unit. Most bodies have a handful. */
function ascending(names: string[]): string[] {
  if (names.length > fewNamesMax) return names.sort();
  let sorted = 0;
  for (const name of names) {
    let at = sorted++;
    for (; at > 0; at--) {
      const before = elementAt(names, at - 1);
      if (before <= name) break;
      names[at] = before;
    }
    names[at] = name;
  }
  return names;
}
