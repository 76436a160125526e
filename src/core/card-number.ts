// Card numbers: the Luhn check digit, the brand behind an issuer prefix, and the search for something that looks like
// a card number in a text. Admission searches every text of every request body, so that no card number is ever stored;
// the card page and the cash codes use the rest. What the search looks for: a maximal run of digits, single spaces or
// dashes allowed between them, with 13 to 19 digits in all, a known issuer prefix and a valid Luhn sum. A bank account
// number (24 digits) is none, whatever part of it would pass.
//
// Customers type Arabic-Indic digits (٠ to ٩), Persian (۰ to ۹) and fullwidth ones as well: the search takes them for
// digits. The functions about numbers take ASCII digits only.

import { assert } from './assert.ts';

export type CardBrand =
  | 'visa'
  | 'mastercard'
  | 'amex'
  | 'discover'
  | 'diners'
  | 'jcb'
  | 'unionpay'
  | 'maestro';

/** The first six digits, from and to, inclusive. The first row that fits wins: narrow ranges stand before wide ones. */
const issuerRanges: readonly (readonly [number, number, CardBrand])[] = [
  [400000, 499999, 'visa'],
  [510000, 559999, 'mastercard'],
  [222100, 272099, 'mastercard'],
  [340000, 349999, 'amex'],
  [370000, 379999, 'amex'],
  [300000, 305999, 'diners'],
  [360000, 369999, 'diners'],
  [380000, 399999, 'diners'],
  [352800, 358999, 'jcb'],
  [601100, 601199, 'discover'],
  [622126, 622925, 'discover'],
  [644000, 659999, 'discover'],
  [620000, 629999, 'unionpay'],
  [500000, 509999, 'maestro'],
  [560000, 699999, 'maestro'],
];

const digitsMin = 13;
const digitsMax = 19;
// Greedy from a run's first digit, so that a match is always the whole run.
const digitRuns = /[0-9٠-٩۰-۹０-９](?:[ -]?[0-9٠-٩۰-۹０-９]){12,}/g;
const foreignDigits = /[٠-٩۰-۹０-９]/g;
const onlyAsciiDigits = /^[0-9]+$/;

/** True when `text` holds something that looks like a card number. */
export function findCardNumber(text: string): boolean {
  if (!mayHoldRun(text)) return false;
  return text.match(digitRuns)?.some(looksLikeCard) ?? false;
}

/**
 * True when 13 characters in a row are ones that runs are made of. Almost every text fails here, and cheaply: it looks
 * at the last character of a span of 13 first, and when that one fits into no run, skips to the span that starts
 * behind it.
 */
function mayHoldRun(text: string): boolean {
  let start = 0;
  while (start + digitsMin <= text.length) {
    let at = start + digitsMin - 1;
    while (at >= start && isRunCharacter(text.charCodeAt(at))) at--;
    if (at < start) return true;
    start = at + 1;
  }
  return false;
}

function isRunCharacter(code: number): boolean {
  if (code < 0x660) return (code >= 0x30 && code <= 0x39) || code === 0x20 || code === 0x2d;
  return code <= 0x669 || (code >= 0x6f0 && code <= 0x6f9) || (code >= 0xff10 && code <= 0xff19);
}

function looksLikeCard(run: string): boolean {
  const digits = asciiDigits(run.replace(/[ -]/g, ''));
  return digits.length <= digitsMax && cardBrand(digits) !== null && luhnValid(digits);
}

/** The text with Arabic-Indic, Persian and fullwidth digits as ASCII ones: each range starts at a multiple of 16. */
export function asciiDigits(text: string): string {
  return text.replace(foreignDigits, (digit) => String(digit.charCodeAt(0) & 15));
}

/** The brand that issues numbers with this prefix; null when no brand does, or with fewer than six digits. */
export function cardBrand(digits: string): CardBrand | null {
  if (digits.length < 6) return null;
  const prefix = Number(digits.slice(0, 6));
  return issuerRanges.find(([from, to]) => prefix >= from && prefix <= to)?.[2] ?? null;
}

/** True when `digits` is two or more ASCII digits, the last of which is the check digit of the others (ISO/IEC 7812-1). */
export function luhnValid(digits: string): boolean {
  return digits.length > 1 && onlyAsciiDigits.test(digits) && luhnSum(digits, false) % 10 === 0;
}

/** The digit to append to `digits` (ASCII, at least one) to make them valid. */
export function luhnCheckDigit(digits: string): string {
  assert(onlyAsciiDigits.test(digits), 'a check digit is made from digits');
  return String((10 - (luhnSum(digits, true) % 10)) % 10);
}

/** Every second digit counts double, from the right; `lastDoubled` says whether the last one does. */
function luhnSum(digits: string, lastDoubled: boolean): number {
  let sum = 0;
  let doubled = lastDoubled;
  for (let i = digits.length - 1; i >= 0; i--) {
    const digit = digits.charCodeAt(i) - 48;
    // A double above nine counts with its digits added up, which is nine less.
    sum += doubled ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
    doubled = !doubled;
  }
  return sum;
}
