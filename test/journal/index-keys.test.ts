// The keys of index rows: the order of the bytes is the order of the texts, whatever the bounds of a scan are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as check, constantFrom, property, uniqueArray } from 'fast-check';
import {
  indexPrefix,
  numberBytes,
  readNumber,
  rowKey,
  scanBounds,
  valueBytesIn,
} from '../../src/journal/checkpoint/index-keys.ts';
import { packText, unpackText } from '../../src/journal/records/packed-text.ts';

const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'];
const sortKey = array(constantFrom(...alphabet), { minLength: 1, maxLength: 30 }).map((all) => all.join(''));
const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

test('a packed text is read back, and packed texts lie in the order of the texts', () => {
  check(
    property(sortKey, sortKey, (a, b) => {
      assert.equal(unpackText(packText(a)!), a);
      assert.equal(packText(a)!.compare(packText(b)!), compare(a, b));
    }),
  );
  for (const text of ['a-b', 'é', 'a b', 'ﬀ']) assert.equal(packText(text), null);
});

test('bounds of any text let through the sort keys between them', () => {
  const bound = array(constantFrom(...alphabet, ' ', '~', 'é', '-', '\u0000', '@'), { maxLength: 8 });
  const prefix = indexPrefix(5, null);
  check(
    property(uniqueArray(sortKey, { maxLength: 20 }), bound, bound, (sortKeys, after, before) => {
      const [low, high] = [after.join(''), before.join('')];
      const { start, end } = scanBounds(prefix, { after: low, before: high, descending: false });
      for (const key of sortKeys) {
        const bytes = rowKey(prefix, null, key);
        assert.equal(bytes.compare(start) > 0, key > low, `${key} after ${low}`);
        assert.equal(bytes.compare(end) < 0, key < high, `${key} before ${high}`);
      }
    }),
  );
});

test('a bound between two letters of the alphabet comes behind all that begins with the first, however it goes on', () => {
  const prefix = indexPrefix(5, null);
  for (const [bound, before, after] of [
    ['a^', 'aZzz', 'a_'],
    ['a@', `a9${'z'.repeat(20)}`, 'aA'],
    ['a`', 'a_', 'aa'],
    ['a-', 'a', 'a0'],
    ['~', 'zz', null],
  ] as const) {
    const { end } = scanBounds(prefix, { before: bound, descending: false });
    assert(rowKey(prefix, null, before).compare(end) < 0, `${before} before ${bound}`);
    if (after !== null) assert(rowKey(prefix, null, after).compare(end) > 0, `${after} behind ${bound}`);
  }
});

test('no prefix begins another, and a scan without bounds ends before the next', () => {
  const numbers = [0, 1, 127, 128, 255, 256, 16_383, 16_384, 70_000, 2 ** 29];
  const values = [
    null,
    '',
    'a',
    'ab',
    'é',
    'a@example.com',
    'x'.repeat(126),
    'x'.repeat(400),
    'y'.repeat(400),
  ];
  const indexes = numbers.flatMap((number) =>
    (number % 2 === 0 ? [null] : values.slice(1)).map((value) => ({ number, value })),
  );
  for (const index of indexes) {
    const { start, end } = scanBounds(indexPrefix(index.number, index.value), { descending: false });
    for (const other of indexes) {
      for (const sortKey of ['0', 'z'.repeat(100)]) {
        const key = rowKey(numberBytes(other.number), other.value, sortKey);
        assert.equal(key.compare(start) > 0 && key.compare(end) < 0, index === other);
      }
    }
  }
});

test('a key tells the number of its list, and where its value and its sort key begin', () => {
  const sizes = [0, 1, 2, 127, 128, 129, 255, 256, 16_383, 16_384, 16_385, 70_000, 2 ** 29].map((number) => {
    const bytes = numberBytes(number);
    for (const value of ['a', 'ab', 'é', 'a@example.com', 'x'.repeat(126), 'x'.repeat(400)]) {
      const key = rowKey(bytes, value, 'Sort_1');
      assert.deepEqual(readNumber(key), { number, bytes: bytes.length });
      assert.equal(unpackText(key, bytes.length + valueBytesIn(key, bytes.length)), 'Sort_1', value);
    }
    const whole = rowKey(bytes, null, 'Sort_1');
    assert.deepEqual(readNumber(whole), { number, bytes: bytes.length });
    assert.equal(unpackText(whole, bytes.length), 'Sort_1');
    return bytes.length;
  });
  assert.deepEqual(sizes, [1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 4, 4, 4]);
});
