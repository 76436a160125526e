// Money: amounts are whole centimes everywhere, never fractions. The hosted pages show them to people, formatted from
// their digits.

import { assert } from './assert.ts';

const noBreakSpace = '\u00a0';
// The isolate keeps the number before the word, and both separate from the text around them, in both writing directions.
const rightToLeftIsolate = '\u2067';
const popIsolate = '\u2069';

const arabicNames: Readonly<Record<string, string>> = { mad: 'درهم' };

/**
 * An amount for people: `1 234,50 MAD` in French, `MAD 1,234.50` in English, `1 234,50 درهم` in Arabic, written with
 * the digits that Morocco uses. Every space is a no-break space; the Arabic form is a right-to-left isolate.
 * `centimes` is a whole number, 0 or more; `currency` is a lowercase code with two decimals.
 */
export function formatAmount(centimes: number, currency: string, language: 'en' | 'fr' | 'ar'): string {
  assert(Number.isSafeInteger(centimes) && centimes >= 0, 'an amount is a whole number of centimes');
  const digits = String(centimes).padStart(3, '0');
  const group = language === 'en' ? ',' : noBreakSpace;
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, group);
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
