// What must not be shown or stored of a text that somebody sent: the service's keys and secrets, the values of fields that are
// named like secrets, and card numbers. The search for card numbers is stricter here than where requests are refused, because a
// wrong guess only leaves something out of a log.

import { asciiDigits, cardBrand, luhnValid } from './card-number.ts';

/** Names of fields whose values are secrets. */
const secretName = /^(?:authorization|cookie|set-cookie|secret|password|cvc|cvv)$/i;
const secretFields =
  /"(authorization|cookie|set-cookie|secret|password|cvc|cvv)"(\s*:\s*)("(?:[^"\\]|\\.)*"?|-?\d[\d.]*)/gi;
/** Our own keys and signing secrets. */
const ourSecrets = /svc_(?:[sp]k_(?:test|live)|whsec)_[0-9A-Za-z]+/g;
/** The same as the start of Basic credentials in base 64. */
const ourCredentials = /c3ZjX[0-9A-Za-z+/]+=*/g;
/** Any number with the length and the first digit of a card number. */
const cardLength = /(?<!\w|\d\.)[2-6](?:[ -]?\d){12,18}(?!\w|\.\d)/g;

export const redacted = '[redacted]';
const redactedDigits = '[digits]';

/** A line of JSON without anything that looks like an API key, a secret or a card number. */
export function scrub(line: string): string {
  return withoutSecrets(line).replace(cardLength, redactedDigits);
}

function withoutSecrets(text: string): string {
  return text
    .replace(ourSecrets, redacted)
    .replace(ourCredentials, redacted)
    .replace(secretFields, `"$1"$2"${redacted}"`);
}

const cardDigitsMin = 13;
const cardDigitsMax = 19;
/** Thirteen digits or more. Between two of them there are at most two characters that are neither digits nor letters. */
const digitRuns = /\d(?:[^0-9A-Za-z]{0,2}\d){12,}/g;

/** Whether some digits of a text, written in any way, are a card number. */
export function holdsCardNumber(text: string): boolean {
  return asciiDigits(text).match(digitRuns)?.some(isCardNumberWithin) ?? false;
}

function isCardNumberWithin(run: string): boolean {
  return hasCardDigits(run.replace(/\D/g, ''));
}

/** Whether some of the digits in a row are a card number. */
export function hasCardDigits(digits: string): boolean {
  for (let start = 0; start + cardDigitsMin <= digits.length; start++) {
    if (cardBrand(digits.slice(start, start + 6)) === null) continue;
    for (let length = cardDigitsMin; length <= cardDigitsMax && start + length <= digits.length; length++) {
      if (luhnValid(digits.slice(start, start + length))) return true;
    }
  }
  return false;
}

/** The text without secrets and card numbers. */
export function maskText(text: string): string {
  const clean = withoutSecrets(text);
  // The digits of every script are replaced one for one, so the runs are in the same places of both texts.
  let masked = '';
  let end = 0;
  for (const { 0: run, index } of asciiDigits(clean).matchAll(digitRuns)) {
    if (!isCardNumberWithin(run)) continue;
    masked += clean.slice(end, index) + redactedDigits;
    end = index + run.length;
  }
  return masked + clean.slice(end);
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
