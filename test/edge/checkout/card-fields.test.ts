import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCard } from '../../../src/edge/checkout/card-fields.ts';

const good = { number: '4242424242424242', expiry: '09/32', cvc: '123' };
const read = (changes: Record<string, string>) => readCard(new URLSearchParams({ ...good, ...changes }));
const typed = { number: '4242424242424242', expMonth: 9, expYear: 2032, cvc: '123' };

const taken: readonly [string, Record<string, string>, object][] = [
  ['plain', {}, typed],
  ['grouped by spaces', { number: ' 4242 4242 4242 4242 ' }, typed],
  ['grouped by dashes and no-break spaces', { number: '4242-4242\u00a04242-4242' }, typed],
  ['in Arabic digits', { number: '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢', expiry: '٠٩/٣٢', cvc: '١٢٣' }, typed],
  ['in Persian and fullwidth digits', { expiry: '۰۹/۳۲', cvc: '１２３' }, typed],
  ['a date with spaces', { expiry: '09 / 32' }, typed],
  ['a date without separator', { expiry: '0932' }, typed],
  ['a date with a whole year', { expiry: '9/2032' }, typed],
  ['a date with a dash', { expiry: '09-2032' }, typed],
  ['a date of six digits', { expiry: '092032' }, typed],
  ['a code of four digits', { cvc: '1234' }, { ...typed, cvc: '1234' }],
];
for (const [name, changes, expected] of taken) {
  test(`${name} is a card`, () => assert.deepEqual(read(changes), expected));
}

const refused: readonly [string, Record<string, string>, string[]][] = [
  ['nothing', { number: '', expiry: '', cvc: '' }, ['number_missing', 'expiry_missing', 'cvc_missing']],
  ['a wrong check digit', { number: '4242424242424241' }, ['number_digit']],
  ['twelve digits', { number: '424242424242' }, ['number_short']],
  ['twenty digits', { number: '42424242424242424242' }, ['number']],
  ['letters', { number: '4242 4242 4242 424a' }, ['number']],
  ['month 13', { expiry: '13/32' }, ['expiry']],
  ['month 0', { expiry: '00/32' }, ['expiry']],
  ['three digits', { expiry: '932' }, ['expiry']],
  ['the year first', { expiry: '2032/09' }, ['expiry']],
  ['a code of two digits', { cvc: '12' }, ['cvc']],
  ['a code of five digits', { cvc: '12345' }, ['cvc']],
];
for (const [name, changes, problems] of refused) {
  test(`${name} is wrong in ${problems.join(', ')}`, () => assert.deepEqual(read(changes), { problems }));
}
