import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  asciiDigits,
  cardBrand,
  findCardNumber,
  luhnCheckDigit,
  luhnValid,
  maskCardNumbers,
} from '../../src/core/card-number.ts';
import { testCards } from '../../src/networks/test-cards.ts';

/** `prefix` filled up with zeros to `length` digits, the last one a valid check digit. */
function cardWith(prefix: string, length = 16): string {
  const digits = prefix.padEnd(length - 1, '0');
  return digits + luhnCheckDigit(digits);
}

/** The digits in groups of these lengths. */
function grouped(digits: string, lengths: readonly number[], separator: string): string {
  const ends = lengths.map((_, i) => lengths.slice(0, i + 1).reduce((sum, length) => sum + length));
  return ends.map((end, i) => digits.slice(end - lengths[i]!, end)).join(separator);
}

const arabicIndic = (text: string) => text.replace(/\d/g, (d) => String.fromCharCode(0x660 + Number(d)));
const fullwidth = (text: string) => text.replace(/\d/g, (d) => String.fromCharCode(0xff10 + Number(d)));
/** The zeros of some scripts, also beyond 16 bits: N'Ko, Devanagari, Thai, Chakma, bold, Adlam. */
const zeros = [0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0xe50, 0x11136, 0x1d7ce, 0x1e950, 0xff10];
const inScript = (text: string, zero: number) =>
  text.replace(/\d/g, (d) => String.fromCodePoint(zero + Number(d)));

const found: [string, string][] = [
  ['a plain number', '4111111111111111'],
  ['in fours with spaces', '4111 1111 1111 1111'],
  ['in fours with dashes', '4111-1111-1111-1111'],
  ['in fours with dots', '4111.1111.1111.1111'],
  ['in fours with no-break spaces', '4111\u00a01111\u00a01111\u00a01111'],
  ['in fours with narrow no-break spaces', '4111\u202f1111\u202f1111\u202f1111'],
  ['in fours with thin spaces', '4111\u20091111\u20091111\u20091111'],
  ['in fours with several sorts of space', '4111 1111\u00a01111\u20091111'],
  ['in fours with other dashes', '4111\u20101111\u20111111\u20131111'],
  ['with zero-width characters', '4111\u200b1111\u200d1111\ufeff1111'],
  ['with marks of direction', '\u200e4111 1111 1111 1111\u200f'],
  ['with zero-width characters beside the separators', '4111 \u200b1111 \u200b1111 \u200b1111'],
  ['inside a sentence', 'please charge 4111 1111 1111 1111 today'],
  ['at the end of a sentence', 'it was 4111 1111 1111 1111.'],
  ['in brackets', '(4111111111111111)'],
  ['behind a colon', 'card:4111111111111111'],
  ['with its date of expiry', '4111 1111 1111 1111 12/34'],
  ['with its date of expiry and its code', '4111111111111111 12 34 123'],
  ['after a shorter number', 'order 12345, card 5555555555554444'],
  ['after a group of four', '1234 4111 1111 1111 1111'],
  ['after a number of 13 digits that is no card', '1234567890123 / 5555555555554444'],
  ['after a number and two spaces', '99  4111111111111111  99'],
  ['after a dot', '.4111111111111111'],
  ['after a number and a dot that is far', '1. 4111111111111111'],
  ['in fours with underscores', '4111_1111_1111_1111'],
  ['in fours with slashes', '4111/1111/1111/1111'],
  ['in fours with fullwidth slashes', fullwidth('4111／1111／1111／1111')],
  ['in fours with fullwidth underscores', fullwidth('4111＿1111＿1111＿1111')],
  ['in fours with fullwidth dots', fullwidth('4111．1111．1111．1111')],
  ['15 digits with slashes', '3782/822463/10005'],
  ['14 digits with underscores', '3056_930902_5904'],
  ['after a slash', '2026/4111111111111111'],
  ['in a path', '/orders/4111111111111111/items'],
  ['before a number and a space', '4111111111111111 1'],
  ['13 digits', '4222222222222'],
  ['13 digits in groups', '4222 2222 2222 2'],
  ['14 digits in groups', '3056 930902 5904'],
  ['15 digits', '378282246310005'],
  ['15 digits in groups', '3782 822463 10005'],
  ['16 digits behind a plus sign', '+4111111111111111'],
  ['19 digits', cardWith('6200', 19)],
  ['19 digits in groups', grouped(cardWith('6200', 19), [4, 4, 4, 7], '-')],
  ['Arabic-Indic digits', arabicIndic('4111 1111 1111 1111')],
  ['Devanagari digits', inScript('4111 1111 1111 1111', 0x966)],
  ['bold mathematical digits', inScript('4111/1111/1111/1111', 0x1d7ce)],
  ['monospace mathematical digits', inScript('4111111111111111', 0x1d7f6)],
  ['Adlam digits', inScript('4111_1111_1111_1111', 0x1e950)],
  ['Persian digits', '۴۱۱۱-۱۱۱۱-۱۱۱۱-۱۱۱۱'],
  ['fullwidth digits', fullwidth('4111-1111-1111-1111')],
  ['digits of several scripts', `4111${arabicIndic('1111')}${fullwidth('1111')}1111`],
  ['on its own line', 'a\n4111111111111111\nb'],
  ['a bank account number and a card number', '230 780 4111111111111111 12, 4111111111111111'],
];

const notFound: [string, string][] = [
  ['nothing', ''],
  ['twelve digits', cardWith('4', 12)],
  ['twenty digits', cardWith('4', 20)],
  ['a wrong check digit', '4111111111111112'],
  ['two digits swapped', '4111111111111161'],
  ['an unknown issuer', cardWith('1')],
  ['touching a letter before it', 'card4111111111111111'],
  ['touching a letter behind it', '4111111111111111x'],
  ['touching an Arabic letter', 'رقم4111111111111111'],
  ['touching a letter behind a zero-width character', 'x\u200b4111111111111111'],
  ['touching an underscore', 'ch_4111111111111111'],
  ['a fraction', '0.4111111111111111'],
  ['a fraction that Math.random() makes', '0.4080064116376725'],
  ['a fraction in Arabic digits', arabicIndic('0.4111111111111111')],
  ['a fraction with an invisible character', '0.\u200b4111111111111111'],
  ['a number with decimals', '4111111111111111.5'],
  ['groups of four with dots, one more before them', '1234.4111.1111.1111.1111'],
  ['touching a fullwidth underscore', fullwidth('＿4111111111111111')],
  ['touching an underscore behind it', '4111_1111_1111_1111_'],
  ['underscores and slashes mixed', '4111_1111/1111_1111'],
  ['two slashes inside', '4111/1111//1111/1111'],
  ['a bank account number with slashes', '230/780/4111111111111111/12'],
  ['a bank account number with underscores', '230_780_4111111111111111_12'],
  ['superscripts, which are no decimal digits', '⁴¹¹¹¹¹¹¹¹¹¹¹¹¹¹¹'],
  ['touching a dash before it', '-4111111111111111'],
  ['touching a dash behind it', '4111111111111111-1'],
  ['touching a digit of another script', '4111111111111111१'],
  ['groups that touch a dash', '12345678-4111-1111-1111-1111'],
  ['grouped as no card is', '41 1111 1111 1111 11'],
  ['a group of three', '411 1111 1111 1111 1'],
  ['spaces and dashes mixed', '4111 1111-1111 1111'],
  ['two spaces inside', '4111 1111  1111 1111'],
  ['two dashes inside', '4111-1111--1111-1111'],
  ['commas inside', '4111,1111,1111,1111'],
  ['a UUID with a card number in its digits', '41111111-1111-4111-1111-000000000000'],
  ['a bank account number of 24 digits', '007780000123400000056789'],
  ['a bank account number that holds a card number', '411111111111111100000000'],
  ['a bank account number in print', 'RIB 230 780 4111111111111111 12'],
  ['a bank account number in more groups', '230 780 4111 1111 1111 1111 12.'],
  ['a bank account number with dashes', '230-780-4111111111111111-12'],
  ['an IBAN', 'MA64 0117 4111 1111 1111 1111 6518'],
  ['a bank account number in fours', '0117 4111 1111 1111 1111 6518'],
  ['a phone number', '+212 6 12 34 56 78'],
  ['a phone number that would pass for a card number', '+4222222222222'],
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
  const plain = (text: string) =>
    text
      .replace(/[٠-٩]/g, (d) => String(d.charCodeAt(0) - 0x660))
      .replace(/[۰-۹]/g, (d) => String(d.charCodeAt(0) - 0x6f0))
      .replace(/[\u{1d7ce}-\u{1d7d7}]/gu, (d) => String(d.codePointAt(0)! - 0x1d7ce))
      .replaceAll('\u200b', '')
      .replaceAll('\u00a0', ' ');
  const forms = /^(\d{13,19}|\d{4}([ ._/-])\d{4}\2\d{4}\2\d{1,7}|\d{4}([ ._/-])\d{6}\3\d{4,5})$/;
  const naive = (given: string) => {
    const text = ` ${plain(given)} `;
    for (let start = 1; start < text.length; start++) {
      for (let end = start + 13; end < Math.min(start + 23, text.length); end++) {
        const piece = text.slice(start, end);
        if (/[a-z0-9_-]/.test(text[start - 1]! + text[end]!) || !forms.test(piece)) continue;
        if (/\d\.$/.test(text.slice(0, start)) || /^\.\d/.test(text.slice(end))) continue;
        const digits = piece.replace(/\D/g, '');
        if (cardBrand(digits) !== null && luhnValid(digits)) return true;
      }
    }
    return false;
  };
  const card = fc.constantFrom(
    '4111111111111111',
    '5555 5555 5555 4444',
    '3782-822463-10005',
    '3056.930902.5904',
    '4111_1111_1111_1111',
    '3782/822463/10005',
    '4222222222222',
  );
  const piece = fc.oneof(
    { weight: 2, arbitrary: card },
    fc.constantFrom('0', '4', '1111', '4111', '1234567'),
    {
      weight: 3,
      arbitrary: fc.constantFrom(' ', '-', 'a', '.', ',', '٤', '۴', '\n', '\u00a0', '\u200b', '_', '/', '𝟒'),
    },
  );
  let hits = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      // Digits that are grouped like a bank account number are accepted; another test covers them.
      fc.pre((plain(text).match(/\d/g)?.length ?? 0) < 24);
      hits += Number(naive(text));
      assert.equal(findCardNumber(text), naive(text), JSON.stringify(text));
      // What is masked is what is found, and nothing is found in what is left.
      const masked = maskCardNumbers(text, '[digits]');
      assert.equal(masked !== text, naive(text), JSON.stringify(text));
      assert.equal(findCardNumber(masked), false, JSON.stringify(text));
    }),
    { numRuns: 5_000 },
  );
  assert.ok(hits > 100, 'the texts hold card numbers often enough');
});

/** Random digits and characters from a seed, so that a failure happens again. */
function randomFrom(seed: number) {
  let state = seed;
  const below = (limit: number) => {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  const text = (alphabet: string, length: number) => {
    let made = '';
    for (let i = 0; i < length; i++) made += alphabet[below(alphabet.length)];
    return made;
  };
  return { below, text };
}

const hex = '0123456789abcdef';
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** What merchants put into their texts; none of it may ever be refused. */
const identifiers: Record<string, (random: ReturnType<typeof randomFrom>) => string> = {
  UUIDs: ({ text, below }) =>
    `${text(hex, 8)}-${text(hex, 4)}-4${text(hex, 3)}-${'89ab'[below(4)]}${text(hex, 3)}-${text(hex, 12)}`,
  'UUIDs of mostly digits': ({ text, below }) =>
    `${text('0123456789', 8)}-${text('0123456789', 4)}-4${text('0123456789', 3)}-${8 + below(2)}${text('0123456789', 3)}-${text('01234567890a', 12)}`,
  ULIDs: ({ text }) => `01${text(crockford, 24)}`,
  'hexadecimal ids of 24 characters': ({ text }) => text(hex, 24),
  'hexadecimal digests': ({ text }) => text(hex, 40),
  'phone numbers': ({ text, below }) =>
    [
      () => `+212${5 + below(3)}${text('0123456789', 8)}`,
      () => `0${5 + below(3)}${text('0123456789', 8)}`,
      () => `00212 ${5 + below(3)} ${Array.from({ length: 4 }, () => text('0123456789', 2)).join(' ')}`,
      () => `+${1 + below(9)}${text('0123456789', 7 + below(8))}`,
    ][below(4)]!(),
  'fractions that Math.random() makes': ({ below }) =>
    String((below(2 ** 26) * 2 ** 27 + below(2 ** 27)) / 2 ** 53),
  'bank account numbers': ({ text, below }) => {
    const digits = text('0123456789', 24);
    return [
      digits,
      grouped(digits, [3, 3, 16, 2], ' -.'[below(3)]!),
      grouped(digits, [3, 3, 4, 4, 4, 4, 2], ' '),
      grouped(digits, [3, 3, 18], ' '),
      grouped(digits, [4, 4, 4, 4, 4, 4], ' '),
      `MA${text('0123456789', 2)} ${grouped(digits, [4, 4, 4, 4, 4, 4], ' ')}`,
      `MA${text('0123456789', 2)}${digits}`,
    ][below(7)]!;
  },
};

for (const [what, make] of Object.entries(identifiers)) {
  const count = what === 'UUIDs' ? 1_000_000 : 100_000;
  test(`none of ${count.toLocaleString('en')} ${what} looks like a card number`, () => {
    const random = randomFrom(0x5eed);
    for (let i = 0; i < count; i++) {
      const text = make(random);
      if (findCardNumber(text)) assert.fail(text);
    }
  });
}

test('every test card is found in every form that is printed or typed', () => {
  const groupings: Record<number, number[]> = { 14: [4, 6, 4], 15: [4, 6, 5] };
  const scripts = [(text: string) => text, arabicIndic, fullwidth];
  const places = ['', 'x: ', '«', 'رقم البطاقة '];
  for (const { number } of testCards) {
    const fours = [4, 4, 4, number.length - 12];
    const forms = [number];
    for (const separator of ' -._/\u00a0\u202f\u2009\u2011\u2013') {
      forms.push(grouped(number, fours, separator));
      forms.push(grouped(number, groupings[number.length] ?? fours, separator));
    }
    forms.push(grouped(number, fours, '\u200b'));
    for (const form of forms) {
      for (const script of scripts) {
        for (const place of places) {
          const text = `${place}${script(form)}${place === '' ? '' : ', 12/34'}`;
          assert.equal(findCardNumber(text), true, JSON.stringify(text));
        }
      }
    }
  }
});

test('every number that could be a card, in each script and grouping, is found and masked as a whole', () => {
  const prefixes = ['4', '51', '2221', '34', '37', '300', '36', '3528', '6011', '62', '5018'];
  const digits = fc
    .tuple(
      fc.constantFrom(...prefixes),
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 18, maxLength: 18 }),
      fc.integer({ min: 13, max: 19 }),
    )
    .map(([prefix, rest, length]) => {
      const body = (prefix + rest).slice(0, length - 1);
      return body + luhnCheckDigit(body);
    })
    .filter((number) => cardBrand(number) !== null);
  const separator = fc.constantFrom(...' -._/\u00a0\u2009\u202f\u2011\u200b', '', ' \u200b');
  const around = fc.constantFrom('', ' ', ': ', '(', '«', '\n', '°\u2060', '/', '.', ', رقم ');
  fc.assert(
    fc.property(
      digits,
      separator,
      fc.constantFrom(...zeros),
      around,
      around,
      (number, sign, zero, before, after) => {
        const sixes: Record<number, number[]> = { 14: [4, 6, 4], 15: [4, 6, 5] };
        for (const lengths of [[4, 4, 4, number.length - 12], sixes[number.length] ?? [number.length]]) {
          const written = inScript(grouped(number, lengths, sign), zero);
          const text = before + written + after;
          assert.equal(findCardNumber(text), true, JSON.stringify(text));
          assert.equal(
            maskCardNumbers(text, '#').replaceAll('\u2060', ''),
            `${before}#${after}`.replaceAll('\u2060', ''),
          );
        }
      },
    ),
    { numRuns: 20_000, seed: 14 },
  );
});

test('the digits of every script have the value that Unicode gives them', () => {
  let scripts = 0;
  for (let code = 0x30; code <= 0x10ffff; code++) {
    if (!/^\p{Nd}$/u.test(String.fromCodePoint(code))) continue;
    // Ten digits follow each other, from zero to nine.
    scripts++;
    const ten = Array.from({ length: 10 }, (_, value) => String.fromCodePoint(code + value)).join('');
    assert.equal(asciiDigits(ten), '0123456789', code.toString(16));
    code += 9;
  }
  assert.ok(scripts >= 60);
});

test('a search remembers nothing of the one before', () => {
  for (let i = 0; i < 3; i++) assert.equal(findCardNumber('4111111111111111'), true);
});

test('a body full of digits is searched without trouble', () => {
  assert.equal(findCardNumber('4'.repeat(1_000_000)), false);
  assert.equal(findCardNumber('123456789012 '.repeat(50_000)), false);
  assert.equal(findCardNumber('123456789012  '.repeat(50_000)), false);
  assert.equal(findCardNumber('1234 5678 9012 '.repeat(50_000)), false);
  assert.equal(findCardNumber('1 '.repeat(500_000)), false);
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
