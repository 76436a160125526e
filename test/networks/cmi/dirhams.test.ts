// Amounts as CMI writes them, in both of its ways.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { centimesInHistory, centimesOf, dirhamsOf } from '../../../src/networks/cmi/dirhams.ts';

test('centimes are dirhams with a point, and back', () => {
  const rows = [
    [0, '0.00'],
    [5, '0.05'],
    [100, '1.00'],
    [123_450, '1234.50'],
    // As a fraction, 8.29 times 100 is 828.9999999999999.
    [829, '8.29'],
    [99_999_999, '999999.99'],
  ] as const;
  for (const [centimes, dirhams] of rows) {
    assert.equal(dirhamsOf(centimes), dirhams);
    assert.equal(centimesOf(dirhams), centimes);
  }
});

test('dirhams may have fewer decimals; what is no such amount is none', () => {
  assert.equal(centimesOf('100'), 10_000);
  assert.equal(centimesOf('100.5'), 10_050);
  for (const text of [
    '',
    '1,00',
    '1.234,50',
    '-1.00',
    '+1',
    '1.',
    '.5',
    '1.005',
    ' 1.00',
    '1.00\n',
    '1e3',
    '٥',
  ])
    assert.equal(centimesOf(text), null, text);
  assert.equal(centimesOf('1'.repeat(13)), null);
});

test('the status and the history of an order have centimes without a point', () => {
  assert.equal(centimesInHistory('205'), 205);
  assert.equal(centimesInHistory('2.05'), 205);
  for (const text of ['', '-5', '2,05', '1e3', '9'.repeat(15)]) assert.equal(centimesInHistory(text), null);
});
