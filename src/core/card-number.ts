// Card numbers: the Luhn check digit, the brand of an issuer prefix, and the one search by which
// requests are refused and logs masked. It finds 13 to 19 decimal digits of any script with a known
// prefix and a valid Luhn sum, in one piece or in the groups that are printed on cards. Around them
// is no letter, digit, dash, underscore or decimal point. Excluded are bank account numbers (24
// digits, in groups) and telephone numbers (up to 15 digits behind a plus sign).

import { assert } from './assert.ts';
import { lazily } from './lazily.ts';
import { remembering } from './remembering.ts';

export type CardBrand =
  | 'visa'
  | 'mastercard'
  | 'amex'
  | 'discover'
  | 'diners'
  | 'jcb'
  | 'unionpay'
  | 'maestro';

/** Ranges of the first six digits, inclusive. The first that matches counts. */
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
const onlyAsciiDigits = /^[0-9]+$/;
const beyondAscii = /[\u0080-\uffff]/;

/** One piece; 4-4-4-1 to 4-4-4-7; 4-6-4 and 4-6-5. A plus begins a telephone number (E.164). */
const printedNumbers =
  /(?<![\p{L}\d_-]|\d\.)(?:(?<!\+)\d{13,15}|\d{16,19}|\d{4}([ ._/-])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ ._/-])\d{6}\2\d{4,5})(?![\p{L}\d_-]|\.\d)/gu;

/** Bank, town, account (16 digits, in any groups) and check digits; or the groups of an IBAN. */
const bankAccounts =
  /(?<![\p{L}\d_-]|\d[ ./])(?:\d{3}([ ._/-])\d{3}\1(?:\d\1?){16}\d{2}|(?:MA\d{2} )?\d{4}([ ._/-])(?:\d{4}\2){4}\d{4})(?![\p{L}\d_-]|[ ./]\d)/giu;

/** The length of a bank account number at least. */
const accountMin = 24;

export function findCardNumber(text: string): boolean {
  if (!mayHoldCardNumber(text) || !hasEnoughDigits(text)) return false;
  return nextCardNumber(withoutAccounts(plain(text).text), 0) !== null;
}

/** `text` with each card number masked that `searched`, a text of the same length, has. */
export function maskCardNumbers(text: string, mask: string, searched = text): string {
  if (!mayHoldCardNumber(searched) || !hasEnoughDigits(searched)) return text;
  const { text: plainText, moves } = plain(searched);
  const numbers = withoutAccounts(plainText);
  let masked = '';
  let end = 0;
  let moved = 0;
  let next = 0;
  const placeOf = (place: number) => {
    for (let move = moves[next]; move !== undefined && move.from <= place; move = moves[++next])
      moved += move.units;
    return place + moved;
  };
  for (let found = nextCardNumber(numbers, 0); found !== null; found = nextCardNumber(numbers, found.end)) {
    masked += text.slice(end, placeOf(found.start)) + mask;
    end = placeOf(found.end);
  }
  return masked + text.slice(end);
}

/** Masks bank account numbers, so that the text keeps its length. */
function withoutAccounts(text: string): string {
  return text.length < accountMin
    ? text
    : text.replace(bankAccounts, (account) => ';'.repeat(account.length));
}

/** The first card number that begins at `from` or behind it: from `start` to before `end`. */
function nextCardNumber(text: string, from: number): { readonly start: number; readonly end: number } | null {
  printedNumbers.lastIndex = from;
  for (;;) {
    const match = printedNumbers.exec(text);
    if (match === null) return null;
    const number = match[0];
    const digits = onlyAsciiDigits.test(number) ? number : number.replace(/\D/g, '');
    if (cardBrand(digits) !== null && luhnValid(digits))
      return { start: match.index, end: match.index + number.length };
    // The next match may begin within this one: `1234 4111 1111 1111 1111`.
    printedNumbers.lastIndex = match.index + 1;
  }
}

// Digits and separators beyond ASCII, and invisible characters.
const writtenOtherwise =
  /[[\p{Nd}\p{Zs}\p{Pd}\p{Default_Ignorable_Code_Point}\u2044\u2212\u2215\uff0e\uff0f\uff3f]--\p{ASCII}]/gv;
const digitsBeyondAscii = /[\p{Nd}--[0-9]]/gv;
const oneDigit = /^\p{Nd}$/u;
const oneSpace = /^\p{Zs}$/u;
const oneDash = /^[\p{Pd}\u2212]$/u;
const otherSigns: Readonly<Record<string, string>> = {
  '\u2044': '/',
  '\u2215': '/',
  '\uff0e': '.',
  '\uff0f': '/',
  '\uff3f': '_',
};

interface PlainText {
  /** With ASCII digits and separators, and without invisible characters. */
  readonly text: string;
  /** From each place on, how many more units the given text has, in order. */
  readonly moves: readonly { readonly from: number; readonly units: number }[];
}

function plain(given: string): PlainText {
  if (!beyondAscii.test(given)) return { text: given, moves: [] };
  const moves: { from: number; units: number }[] = [];
  let moved = 0;
  const text = given.replace(writtenOtherwise, (character, at: number) => {
    const simple = plainCharacter(character);
    const units = character.length - simple.length;
    if (units > 0) moves.push({ from: at - moved + simple.length, units });
    moved += units;
    return simple;
  });
  return { text, moves };
}

/** Unicode has fewer of these characters. */
const plainCharactersMax = 10_000;
const plainCharacter = remembering(plainCharactersMax, (character: string): string => {
  if (oneDigit.test(character)) return asciiDigit(character);
  if (oneSpace.test(character)) return ' ';
  return oneDash.test(character) ? '-' : (otherSigns[character] ?? '');
});

/** The ASCII digit of the same value: a script's digits follow each other from its zero on. */
function asciiDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  let first = code;
  while (oneDigit.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % 10);
}

/**
 * False when `text` can't contain a card number, which is cheap: looks for 13 characters in a row
 * of those that card numbers are written with, from the last one of each span of 13 on.
 */
export function mayHoldCardNumber(text: string): boolean {
  const known = numberCharacters();
  // Yes for any beyond the Arabic script.
  const isOne = (code: number) => code >= 0x700 || known[code] === 1;
  let start = 0;
  while (start + digitsMin <= text.length) {
    let at = start + digitsMin - 1;
    while (at >= start && isOne(text.charCodeAt(at))) at--;
    if (at < start) return true;
    start = at + 1;
  }
  return false;
}

/** Whether there are enough digits. It may count other characters beyond ASCII as digits. */
function hasEnoughDigits(text: string): boolean {
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code >= 0x30 && code <= 0x39) || code >= 0x80) digits++;
  }
  return digits >= digitsMin;
}

/** Whether card numbers can be written with a character, up to the end of the Arabic script. */
const numberCharacters = lazily(() =>
  Uint8Array.from({ length: 0x700 }, (_, code) => {
    const character = String.fromCharCode(code);
    const isSeparator = /[ ._/-]/.test(character);
    return Number(isSeparator || plain(character).text !== character || oneDigit.test(character));
  }),
);

/** The text with the digits of every script as ASCII ones. */
export function asciiDigits(text: string): string {
  return beyondAscii.test(text) ? text.replace(digitsBeyondAscii, plainCharacter) : text;
}

/** The brand that issues numbers with this prefix of six digits; null when no brand does. */
export function cardBrand(digits: string): CardBrand | null {
  if (digits.length < 6) return null;
  const prefix = Number(digits.slice(0, 6));
  return issuerRanges.find(([from, to]) => prefix >= from && prefix <= to)?.[2] ?? null;
}

/** The ranges of the first six digits of a brand's numbers, inclusive. */
export function issuerRangesOf(brand: CardBrand): (readonly [from: number, to: number])[] {
  return issuerRanges.filter((range) => range[2] === brand).map(([from, to]) => [from, to]);
}

/** Whether the last of two or more ASCII digits is the check digit (ISO/IEC 7812-1). */
export function luhnValid(digits: string): boolean {
  return digits.length > 1 && onlyAsciiDigits.test(digits) && luhnSum(digits, false) % 10 === 0;
}

/** The digit to append to `digits` (ASCII, at least one) to make them valid. */
export function luhnCheckDigit(digits: string): string {
  assert(onlyAsciiDigits.test(digits), 'a check digit is made from digits');
  return String((10 - (luhnSum(digits, true) % 10)) % 10);
}

/** The sum with every second digit doubled, from the right: the last one if `lastDoubled`. */
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
