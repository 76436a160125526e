import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cardBrand, findCardNumber, luhnCheckDigit, luhnValid } from '../../src/core/card-number.ts';

/** `prefix` filled up with zeros to `length` digits, the last one a valid check digit. */
function cardWith(prefix: string, length = 16): string {
  const digits = prefix.padEnd(length - 1, '0');
  return digits + luhnCheckDigit(digits);
}

const arabicIndic = (text: string) => text.replace(/\d/g, (d) => String.fromCharCode(0x660 + Number(d)));
const fullwidth = (text: string) => text.replace(/\d/g, (d) => String.fromCharCode(0xff10 + Number(d)));

const found: [string, string][] = [
  ['a plain number', '4111111111111111'],
  ['in fours with spaces', '4111 1111 1111 1111'],
  ['in fours with dashes', '4111-1111-1111-1111'],
  ['spaces and dashes mixed, in odd places', '4-1 1-11111111 1111-1'],
  ['inside a sentence', 'please charge 4111 1111 1111 1111 today'],
  ['glued to letters', 'card4111111111111111x'],
  ['after a shorter run', 'order 12345, card 5555555555554444'],
  ['after a run of 13 that is no card', '1234567890123 / 5555555555554444'],
  ['after a run that ends with two spaces', '99  4111111111111111  99'],
  ['after a run that ends with a space and a dash', '99 -4111111111111111'],
  ['after a run that ends with a dot', '1.4111111111111111'],
  ['with a dash before and after', '-4111111111111111-'],
  ['13 digits', '4222222222222'],
  ['15 digits', '378282246310005'],
  ['19 digits', cardWith('6200', 19)],
  ['Arabic-Indic digits', arabicIndic('4111 1111 1111 1111')],
  ['Persian digits', '۴۱۱۱-۱۱۱۱-۱۱۱۱-۱۱۱۱'],
  ['fullwidth digits', fullwidth('4111-1111-1111-1111')],
  ['digits of several scripts', `4111${arabicIndic('1111')}${fullwidth('1111')}1111`],
  ['on its own line', 'a\n4111111111111111\nb'],
];

const notFound: [string, string][] = [
  ['nothing', ''],
  ['twelve digits', cardWith('4', 12)],
  ['twenty digits', cardWith('4', 20)],
  ['a wrong check digit', '4111111111111112'],
  ['two digits swapped', '4111111111111161'],
  ['an unknown issuer', cardWith('1')],
  ['a bank account number of 24 digits', '007780000123400000056789'],
  ['a bank account number that holds a card number', '411111111111111100000000'],
  ['a card number with one more digit before it', '1 4111111111111111'],
  ['a card number with one more digit after it', '4111111111111111-1'],
  ['two spaces inside', '4111 1111  1111 1111'],
  ['two dashes inside', '41111111--11111111'],
  ['another separator inside', '4111.1111.1111.1111'],
  ['a phone number', '+212 6 12 34 56 78'],
  ['an identifier', 'pi_7Hk3f90aLz81Qw5Tn4Xy20Bc'],
  ['a date and a time', '2026-11-01 12:30:00'],
];

test('texts that look like a card number', () => {
  for (const [what, text] of found) assert.equal(findCardNumber(text), true, what);
});

test('texts that do not look like a card number', () => {
  for (const [what, text] of notFound) assert.equal(findCardNumber(text), false, what);
});

test('the search agrees with one that looks at every character', () => {
  const naive = (text: string) =>
    text
      .replace(/[٠-٩]/g, (d) => String(d.charCodeAt(0) - 0x660))
      .replace(/[۰-۹]/g, (d) => String(d.charCodeAt(0) - 0x6f0))
      .split(/[^0-9 -]|[ -]{2,}/)
      .map((run) => run.replace(/[ -]/g, ''))
      .some((run) => run.length >= 13 && run.length <= 19 && cardBrand(run) !== null && luhnValid(run));
  const card = fc.constantFrom(
    '4111111111111111',
    '5555 5555 5555 4444',
    '3782-822463-10005',
    '4222222222222',
  );
  const piece = fc.oneof(
    card,
    fc.constantFrom(...'0123456789'),
    fc.constantFrom(' ', '-', 'a', '.', '٤', '۴', '\n'),
  );
  let hits = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      hits += Number(naive(text));
      assert.equal(findCardNumber(text), naive(text), JSON.stringify(text));
    }),
    { numRuns: 2_000 },
  );
  assert.ok(hits > 100, 'the texts hold card numbers often enough');
});

test('a search remembers nothing of the one before', () => {
  for (let i = 0; i < 3; i++) assert.equal(findCardNumber('4111111111111111'), true);
});

test('a body full of digits is searched without trouble', () => {
  assert.equal(findCardNumber('4'.repeat(1_000_000)), false);
  assert.equal(findCardNumber('123456789012 '.repeat(50_000)), false);
  assert.equal(findCardNumber('123456789012  '.repeat(50_000)), false);
});

const brands: [string, string, ReturnType<typeof cardBrand>][] = [
  ['400000', '499999', 'visa'],
  ['510000', '559999', 'mastercard'],
  ['222100', '272099', 'mastercard'],
  ['340000', '349999', 'amex'],
  ['370000', '379999', 'amex'],
  ['601100', '601199', 'discover'],
  ['644000', '649999', 'discover'],
  ['650000', '659999', 'discover'],
  ['622126', '622925', 'discover'],
  ['300000', '305999', 'diners'],
  ['360000', '369999', 'diners'],
  ['380000', '399999', 'diners'],
  ['352800', '358999', 'jcb'],
  ['620000', '622125', 'unionpay'],
  ['622926', '629999', 'unionpay'],
  ['500000', '509999', 'maestro'],
  ['560000', '601099', 'maestro'],
  ['601200', '619999', 'maestro'],
  ['630000', '643999', 'maestro'],
  ['660000', '699999', 'maestro'],
  ['000000', '222099', null],
  ['272100', '299999', null],
  ['306000', '339999', null],
  ['350000', '352799', null],
  ['359000', '359999', null],
  ['700000', '999999', null],
];

test('the issuer prefix names the brand, up to both ends of its range', () => {
  for (const [from, to, brand] of brands) {
    assert.equal(cardBrand(cardWith(from)), brand, from);
    assert.equal(cardBrand(cardWith(to)), brand, to);
    assert.equal(findCardNumber(cardWith(to)), brand !== null, to);
  }
});

test('fewer than six digits name no brand', () => {
  assert.equal(cardBrand('41111'), null);
  assert.equal(cardBrand(''), null);
});

test('published numbers have a valid Luhn sum, and only digits do', () => {
  for (const digits of ['79927398713', '4111111111111111', '378282246310005', '00']) {
    assert.equal(luhnValid(digits), true, digits);
  }
  for (const digits of ['79927398710', '', '0', '4111 1111 1111 1111', arabicIndic('4111111111111111')]) {
    assert.equal(luhnValid(digits), false, digits);
  }
});

test('a check digit makes digits valid and catches any one wrong digit', () => {
  assert.equal(luhnCheckDigit('7992739871'), '3');
  assert.throws(() => luhnCheckDigit(''));
  assert.throws(() => luhnCheckDigit('12a'));
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 25 });
  fc.assert(
    fc.property(digits, fc.nat(), fc.integer({ min: 1, max: 9 }), (body, at, shift) => {
      const whole = body + luhnCheckDigit(body);
      assert.equal(luhnValid(whole), true);
      const position = at % whole.length;
      const wrong = (Number(whole[position]) + shift) % 10;
      assert.equal(luhnValid(whole.slice(0, position) + wrong + whole.slice(position + 1)), false);
    }),
  );
});
