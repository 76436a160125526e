// Errors repeat names, ids and addresses of the request, so that the sender finds the place. They
// repeat at most 64 characters, and nothing that looks like a card number.

import { findCardNumber } from '../core/card-number.ts';

const charactersMax = 64;
/** How far a card number can reach that begins within the first `charactersMax` characters. */
const searchedMax = 2 * charactersMax;

/** The text as errors show it; null when it looks like a card number. */
function shown(text: string): string | null {
  if (findCardNumber(text.length > searchedMax ? text.slice(0, searchedMax) : text)) return null;
  if (text.length <= charactersMax) return text.toWellFormed();
  const characters = [...text.slice(0, searchedMax + 1)];
  const whole = characters.length <= charactersMax;
  return (whole ? text : `${characters.slice(0, charactersMax - 1).join('')}…`).toWellFormed();
}

/** A text of the request, for the message of an error. */
export function echo(text: string): string {
  return shown(text) ?? '…';
}

/**
 * The path of a parameter: the names that lead to it, joined with dots. It ends before a name that
 * must not be shown. `whole` is the path when that is the first name.
 */
export function paramPath(names: readonly string[], whole: 'body' | 'query' = 'body'): string {
  const path: string[] = [];
  for (const name of names) {
    const part = shown(name);
    if (part === null) break;
    path.push(part);
  }
  return path.length === 0 ? whole : path.join('.');
}
