import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatAmount, parseAmount } from '../../src/core/money.ts';

/** `_` stands for a no-break space, `<` and `>` for the right-to-left isolate and its end. */
const plain = (text: string) =>
  text.replaceAll('\u00a0', '_').replaceAll('\u2067', '<').replaceAll('\u2069', '>');

const rows: [centimes: number, fr: string, en: string, ar: string][] = [
  [0, '0,00_MAD', 'MAD_0.00', '<0,00_درهم>'],
  [1, '0,01_MAD', 'MAD_0.01', '<0,01_درهم>'],
  [10, '0,10_MAD', 'MAD_0.10', '<0,10_درهم>'],
  [100, '1,00_MAD', 'MAD_1.00', '<1,00_درهم>'],
  [99_999, '999,99_MAD', 'MAD_999.99', '<999,99_درهم>'],
  [100_000, '1_000,00_MAD', 'MAD_1,000.00', '<1_000,00_درهم>'],
  [123_450, '1_234,50_MAD', 'MAD_1,234.50', '<1_234,50_درهم>'],
  [99_999_999, '999_999,99_MAD', 'MAD_999,999.99', '<999_999,99_درهم>'],
  [100_000_000, '1_000_000,00_MAD', 'MAD_1,000,000.00', '<1_000_000,00_درهم>'],
  [
    Number.MAX_SAFE_INTEGER,
    '90_071_992_547_409,91_MAD',
    'MAD_90,071,992,547,409.91',
    '<90_071_992_547_409,91_درهم>',
  ],
];

test('amounts in three languages', () => {
  for (const [centimes, fr, en, ar] of rows) {
    assert.equal(plain(formatAmount(centimes, 'mad', 'fr')), fr);
    assert.equal(plain(formatAmount(centimes, 'mad', 'en')), en);
    assert.equal(plain(formatAmount(centimes, 'mad', 'ar')), ar);
  }
});

test('a currency without an Arabic name shows its code', () => {
  assert.equal(plain(formatAmount(500, 'eur', 'ar')), '<5,00_EUR>');
});

test('what is no amount is a bug, not a text', () => {
  for (const centimes of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    assert.throws(() => formatAmount(centimes, 'mad', 'fr'));
  }
});

test('every digit of the amount is shown, in order', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.constantFrom('en', 'fr', 'ar'), (centimes, language) => {
      const digits = formatAmount(centimes, 'mad', language).replace(/\D/g, '');
      assert.equal(Number(digits), centimes);
    }),
  );
});

const typed: readonly (readonly [text: string, centimes: number | null])[] = [
  ['1250', 125_000],
  ['1250.5', 125_050],
  ['1250,50', 125_050],
  ['1 250,50', 125_050],
  ['1\u00a0250,50 MAD', 125_050],
  ['1\u202f250,50\u00a0DH', 125_050],
  ['MAD 1,250.50', 125_050],
  ['1.250,50', 125_050],
  ['1,250', 125_000],
  ['1.250', 125_000],
  ['12,5', 1_250],
  ['0.05', 5],
  ['1,250,000.00', 125_000_000],
  ['1.250.000', 125_000_000],
  ['١٢٥٠٫٥٠', 125_050],
  ['\u2067١٬٢٥٠٫٥ درهم\u2069', 125_050],
  ['۱۲۵۰', 125_000],
  ['100 dhs', 10_000],
  ['', null],
  ['MAD', null],
  ['-5', null],
  ['1e3', null],
  ['12,345,6', null],
  ['1,25,0', null],
  ['1.250.50', null],
  ['12 50', null],
  ['1250.555', null],
  ['10 euros', null],
  ['9'.repeat(17), null],
  ['12dh50', null],
  ['1 DH 250', null],
];

test('amounts as people type them', () => {
  for (const [text, centimes] of typed) assert.equal(parseAmount(text), centimes, text);
});

test('every amount that is shown can be typed', () => {
  const centimes = fc.integer({ min: 0, max: 10 ** 12 });
  fc.assert(
    fc.property(centimes, fc.constantFrom('en', 'fr', 'ar'), (amount, language) => {
      assert.equal(parseAmount(formatAmount(amount, 'mad', language)), amount);
    }),
  );
});
