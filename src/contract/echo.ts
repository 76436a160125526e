// What errors repeat of a request: names, ids and addresses, so that whoever sent them finds them again. It is never
// more than a few dozen characters, and nothing of what looks like a card number.

import { findCardNumber } from '../core/card-number.ts';

const charactersMax = 64;
/** As far as a card number can reach that begins among the first characters. */
const searchedMax = 2 * charactersMax;

/** A text, which may hold half a character, as errors show it, of at most 64 characters; null when what would be shown looks like a card number. */
function shown(text: string): string | null {
  if (findCardNumber(text.length > searchedMax ? text.slice(0, searchedMax) : text)) return null;
  if (text.length <= charactersMax) return text.toWellFormed();
  const characters = [...text.slice(0, searchedMax + 1)];
  const whole = characters.length <= charactersMax;
  return (whole ? text : `${characters.slice(0, charactersMax - 1).join('')}…`).toWellFormed();
}

/** A text of the request in the message of an error. */
export function echo(text: string): string {
  return shown(text) ?? '…';
}

/**
 * The path of a parameter from the names that lead to it, with dots. It ends above a name that must not be shown;
 * `whole` stands for what holds the first name.
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
