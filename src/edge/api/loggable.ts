// Decides whether a client's text may be logged. A client can put a key or a card number into a
// path or an idempotency key, and neither may be logged.

import { findCardNumber } from '../../core/card-number.ts';

const plainPath = /^\/[\w./~-]{0,199}$/;
/** The service's keys and secrets, plain or as the start of Basic credentials in base 64. */
const ourSecrets = /svc_|c3ZjX/i;
const cardDigitsMin = 13;

/** The path (without its query string); null when it must not be logged. */
export function loggablePath(path: string): string | null {
  if (path.length <= plainLengthMax && path.startsWith('/') && isPlain(path)) return path;
  return plainPath.test(path) && isHarmless(path) ? path : null;
}

/** The `Idempotency-Key` of a request; null when there is none or it must not be logged. */
export function loggableIdempotencyKey(key: string | undefined): string | null {
  if (key === undefined) return null;
  if (key !== '' && key.length <= plainLengthMax && isPlain(key)) return key;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) return null;
  return isHarmless(key) ? key : null;
}

const plainLengthMax = 200;
const [other, letter, separator, digit] = [0, 1, 2, 3];
/** The class of each ASCII character. */
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/\d/.test(character)) return digit;
  if (/[A-Za-z]/.test(character)) return letter;
  return /[_./-]/.test(character) ? separator : other;
});

/**
 * Whether a text has only letters, digits and separators, too few digits in a row for a card
 * number, and nothing like our secrets. This is true of most paths and keys, and is found by
 * looking at each character once.
 */
function isPlain(text: string): boolean {
  let digits = 0;
  let separators = 0;
  for (let i = 0; i < text.length; i++) {
    const kind = kinds[text.charCodeAt(i)] ?? other;
    if (kind === other) return false;
    if (kind === separator) separators++;
    else {
      digits = kind === letter ? 0 : separators > 2 ? 1 : digits + 1;
      separators = 0;
      if (digits === cardDigitsMin) return false;
    }
  }
  return !ourSecrets.test(text);
}

function isHarmless(text: string): boolean {
  return !ourSecrets.test(text) && !findCardNumber(text);
}
