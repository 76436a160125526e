// What must not be shown or stored of a text that somebody sent: the service's keys and secrets,
// the values of fields that are named like secrets, and card numbers, by the search that refuses
// requests.

import { maskCardNumbers } from './card-number.ts';

/** Names of fields whose values are secrets. */
const secretName = /^(?:authorization|cookie|set-cookie|secret|password|cvc|cvv)$/i;
const secretFields =
  /"(authorization|cookie|set-cookie|secret|password|cvc|cvv)"(\s*:\s*)("(?:[^"\\]|\\.)*"?|-?\d[\d.]*)/gi;
/** Our own keys and signing secrets. */
const ourSecrets = /svc_(?:[sp]k_(?:test|live)|whsec)_[0-9A-Za-z]+/g;
/** The same as the start of Basic credentials in base 64. */
const ourCredentials = /c3ZjX[0-9A-Za-z+/]+=*/g;
/** Characters that are escaped in JSON, whose letters and digits belong to no text. */
const escapes = /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/g;

export const redacted = '[redacted]';
const redactedDigits = '[digits]';

/** A line of JSON without anything that looks like an API key, a secret or a card number. */
export function scrub(line: string): string {
  const clean = withoutSecrets(line);
  const searched = clean.includes('\\') ? clean.replace(escapes, blank) : clean;
  return maskCardNumbers(clean, redactedDigits, searched);
}

function blank(text: string): string {
  return ';'.repeat(text.length);
}

function withoutSecrets(text: string): string {
  return text
    .replace(ourSecrets, redacted)
    .replace(ourCredentials, redacted)
    .replace(secretFields, `"$1"$2"${redacted}"`);
}

/** The text without secrets and card numbers. */
export function maskText(text: string): string {
  return maskCardNumbers(withoutSecrets(text), redactedDigits);
}

/** A value of JSON without secrets and card numbers. */
export function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      maskText(name),
      secretName.test(name) && inner !== null ? redacted : maskValue(inner),
    ]),
  );
}
