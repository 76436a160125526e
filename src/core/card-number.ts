// Card numbers: the Luhn check digit, the brand of an issuer prefix, and the search for a card number in a text. Every
// text of a request is searched, so that no card number is ever stored. The card page and the cash codes use the rest.
//
// The search finds 13 to 19 digits with a known issuer prefix and a valid Luhn sum, in one piece or in the groups that are
// printed on cards, with one kind of separator (spaces, dashes or dots), that touch no letter, digit, dash or underscore.
// It does not find the identifiers that merchants use: the groups of a UUID touch its dashes, and the digits of a
// hexadecimal id touch its letters. Two kinds of numbers that match are excluded: bank account numbers (24 digits, printed
// in groups), and telephone numbers (up to 15 digits behind a plus sign).
//
// The search also reads Arabic-Indic digits (٠ to ٩), Persian digits (۰ to ۹) and fullwidth digits, which customers type.
// The functions about numbers take ASCII digits only.

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

/** Ranges of the first six digits, inclusive. The first row that matches counts, so narrow ranges are before wide ones. */
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
const foreignDigits = /[٠-٩۰-۹０-９]/g;
const onlyAsciiDigits = /^[0-9]+$/;
const beyondAscii = /[\u0080-\uffff]/;

// Invisible characters. They are removed first, because they don't separate digits for a reader.
const invisible = /\p{Default_Ignorable_Code_Point}/gu;
const spaces = /\p{Zs}/gu;
const dashes = /[\p{Pd}\u2212]/gu;

/** One piece; 4-4-4-1 to 4-4-4-7; 4-6-4 and 4-6-5. Up to 15 digits behind a plus sign are a telephone number (E.164). */
const printedNumbers =
  /(?<![\p{L}\p{Nd}_-])(?:(?<!\+)\d{13,15}|\d{16,19}|\d{4}([ .-])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ .-])\d{6}\2\d{4,5})(?![\p{L}\p{Nd}_-])/gu;

/** Bank, town, account (16 digits, grouped in any way) and check digits; or the groups of four of an IBAN. */
const bankAccounts =
  /(?<![\p{L}\p{Nd}_-]|\d[ .])(?:\d{3}([ .-])\d{3}\1(?:\d\1?){16}\d{2}|(?:MA\d{2} )?\d{4}([ .-])(?:\d{4}\2){4}\d{4})(?![\p{L}\p{Nd}_-]|[ .]\d)/giu;

/** True when `text` contains something that looks like a card number. */
export function findCardNumber(text: string): boolean {
  if (!mayHoldCardNumber(text) || !hasEnoughDigits(text)) return false;
  // Most texts are ASCII, in which nothing has to be replaced.
  const searched = (beyondAscii.test(text) ? withAsciiDigits(text) : text).replace(bankAccounts, ';');
  printedNumbers.lastIndex = 0;
  for (;;) {
    const match = printedNumbers.exec(searched);
    if (match === null) return false;
    const digits = match[0].replace(/[ .-]/g, '');
    if (cardBrand(digits) !== null && luhnValid(digits)) return true;
    // The next match may begin within this one: `1234 4111 1111 1111 1111`.
    printedNumbers.lastIndex = match.index + 1;
  }
}

/** The text with ASCII digits, simple spaces and simple dashes, and without invisible characters. */
function withAsciiDigits(text: string): string {
  return asciiDigits(text.replace(invisible, '').replace(spaces, ' ').replace(dashes, '-'));
}

/**
 * False when `text` can't contain a card number. This is cheap, and enough for almost every text. It looks for 13
 * consecutive characters of those that card numbers are written with. It tests the last character of a span of 13 first;
 * when that is another character, the next span starts behind it.
 */
export function mayHoldCardNumber(text: string): boolean {
  let start = 0;
  while (start + digitsMin <= text.length) {
    let at = start + digitsMin - 1;
    while (at >= start && isNumberCharacter(text.charCodeAt(at))) at--;
    if (at < start) return true;
    start = at + 1;
  }
  return false;
}

/** Whether there are as many digits as a card number has at least. It may count other characters beyond ASCII as digits. */
function hasEnoughDigits(text: string): boolean {
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code >= 0x30 && code <= 0x39) || code >= 0x80) digits++;
  }
  return digits >= digitsMin;
}

/** Whether card numbers can be written with a character. It may say yes for others beyond the Arabic script. */
function isNumberCharacter(code: number): boolean {
  if (code < 0x80) return (code >= 0x30 && code <= 0x39) || code === 0x20 || code === 0x2d || code === 0x2e;
  if (code >= 0x700) return true;
  if ((code >= 0x660 && code <= 0x669) || (code >= 0x6f0 && code <= 0x6f9)) return true;
  return rareNumberCharacters.has(code);
}

/** No-break space, soft hyphen, grapheme joiner, Armenian hyphen, Hebrew maqaf, Arabic letter mark. */
const rareNumberCharacters = new Set([0xa0, 0xad, 0x34f, 0x58a, 0x5be, 0x61c]);

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

/** The ranges of the first six digits of a brand's numbers, inclusive. */
export function issuerRangesOf(brand: CardBrand): (readonly [from: number, to: number])[] {
  return issuerRanges.filter((range) => range[2] === brand).map(([from, to]) => [from, to]);
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

/** The sum of the digits in which every second one, from the right, is doubled. `lastDoubled`: the last digit is, too. */
function luhnSum(digits: string, lastDoubled: boolean): number {
  let sum = 0;
  let doubled = lastDoubled;
  for (let i = digits.length - 1; i >= 0; i--) {
    const digit = digits.charCodeAt(i) - 48;
    // Of a double above nine the digits are added up, which makes nine less.
    sum += doubled ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
    doubled = !doubled;
  }
  return sum;
}
