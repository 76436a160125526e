// Money: amounts are whole centimes everywhere. The hosted pages show them to people.

import { assert } from './assert.ts';
import { asciiDigits } from './card-number.ts';
import { grouped, noBreakSpace } from './shown-number.ts';

// The isolate keeps the number before the word, in both writing directions.
const rightToLeftIsolate = '\u2067';
const popIsolate = '\u2069';

const arabicNames: Readonly<Record<string, string>> = { mad: 'درهم' };

/**
 * An amount for people: `1 234,50 MAD` in French, `MAD 1,234.50` in English, `1 234,50 درهم` in
 * Arabic, with no-break spaces. `currency` is a lowercase code with two decimals.
 */
export function formatAmount(centimes: number, currency: string, language: 'en' | 'fr' | 'ar'): string {
  assert(Number.isSafeInteger(centimes) && centimes >= 0, 'an amount is a whole number of centimes');
  const digits = String(centimes).padStart(3, '0');
  const whole = grouped(digits.slice(0, -2), language);
  const number = `${whole}${language === 'en' ? '.' : ','}${digits.slice(-2)}`;
  const code = currency.toUpperCase();
  switch (language) {
    case 'en':
      return `${code}${noBreakSpace}${number}`;
    case 'fr':
      return `${number}${noBreakSpace}${code}`;
    case 'ar':
      return `${rightToLeftIsolate}${number}${noBreakSpace}${arabicNames[currency] ?? code}${popIsolate}`;
  }
}

const currencyName = 'mad|dhs?|د\\.?م\\.?|دراهم|درهم(?:ا|ًا)?';
/** At an end only, because nobody can say what `12dh50` is. */
const currencyAround = new RegExp(`^\\s*(?:${currencyName})|(?:${currencyName})\\s*$`, 'gi');

/** ASCII digits, without what stands around an amount: spaces, currency, direction marks. */
function plainAmount(text: string): string {
  return asciiDigits(text)
    .replaceAll('\u066b', '.')
    .replaceAll('\u066c', ' ')
    .replace(/[\u200e\u200f\u061c\u2066-\u2069]/g, '')
    .replace(currencyAround, '')
    .replace(/[\s'’]+/g, ' ')
    .trim();
}

/**
 * The centimes of an amount that was typed in dirhams: `1 250,50`, `1,250.50`, `١٢٥٠٫٥`; null when
 * it is not clear. A comma or a dot before three digits groups thousands.
 */
export function parseAmount(text: string): number | null {
  const found = /^(?:(\d{1,3}(?:([ .,])\d{3})(?:\2\d{3})*)|(\d+))(?:([.,])(\d{1,2}))?$/.exec(
    plainAmount(text),
  );
  if (found === null) return null;
  const [, grouped, group, whole = '', point, fraction = ''] = found;
  if (point !== undefined && point === group) return null;
  const digits = (grouped?.replace(/\D/g, '') ?? whole) + fraction.padEnd(2, '0');
  const centimes = Number(digits);
  return Number.isSafeInteger(centimes) ? centimes : null;
}
