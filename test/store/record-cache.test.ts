// The cache of decoded records: bounded in bytes, what is used stays, and it never has an older value.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryObjects } from 'node:v8';
import { objectBytes } from '../../src/core/heap-bytes.ts';
import type { StoredRecord } from '../../src/domain/record.ts';
import { RecordCache } from '../../src/store/record-cache.ts';
import { customer } from '../journal/journal-fixtures.ts';

/** Records of one size. */
const record = (number: number, name = 'a'): StoredRecord => customer(number, `${name}@shop.test`);
const bytes = objectBytes(record(1));
const idOf = (number: number) => record(number).id;
/** Room for 16 records: eight to each generation. */
const full = 16 * bytes;

function filled(count: number, bytesMax = full): RecordCache {
  const cache = new RecordCache(bytesMax);
  for (let number = 1; number <= count; number++) cache.put(record(number));
  return cache;
}

const numbersIn = (cache: RecordCache, upTo: number) =>
  Array.from({ length: upTo }, (_, at) => at + 1).filter((number) => cache.has(idOf(number)));

test('what was put is found, and counts with its bytes', () => {
  const cache = filled(3);
  assert.deepEqual(cache.get(idOf(2)), record(2));
  assert.equal(cache.get(idOf(4)), undefined);
  assert.deepEqual(
    [cache.size, cache.bytes, cache.has(idOf(3)), cache.has(idOf(4))],
    [3, 3 * bytes, true, false],
  );
});

test('when it is full the oldest generation goes', () => {
  const cache = filled(17);
  assert.deepEqual(
    numbersIn(cache, 17),
    Array.from({ length: 9 }, (_, at) => at + 9),
  );
  assert.deepEqual([cache.size, cache.bytes], [9, 9 * bytes]);
  for (let number = 18; number <= 24; number++) cache.put(record(number));
  assert.deepEqual([cache.size, cache.bytes], [16, full]);
});

test('what is used stays', () => {
  const cache = filled(16);
  for (let number = 17; number <= 60; number++) {
    assert.deepEqual(cache.get(idOf(1)), record(1), `before ${number}`);
    cache.put(record(number));
    assert.ok(cache.bytes <= full);
    assert.equal(cache.bytes, cache.size * bytes);
  }
  assert.equal(cache.has(idOf(2)), false);
});

test('a use of what is young moves nothing', () => {
  const cache = filled(2);
  for (let use = 0; use < 50; use++) cache.get(idOf(1));
  for (let number = 3; number <= 16; number++) cache.put(record(number));
  assert.deepEqual([cache.size, cache.bytes], [16, full]);
});

test('a change takes the place of what was there, and nothing else is taken in', () => {
  const cache = filled(5);
  const after = record(1, 'b');
  assert.deepEqual(cache.changed(after), record(1));
  assert.deepEqual(cache.get(after.id), after);
  assert.deepEqual([cache.size, cache.bytes], [5, 5 * bytes]);
  assert.equal(cache.changed(record(9)), undefined);
  assert.equal(cache.has(idOf(9)), false);
  assert.deepEqual(cache.changed({ ...record(2), removed: true }), record(2));
  assert.deepEqual([cache.has(idOf(2)), cache.size, cache.bytes], [false, 4, 4 * bytes]);
});

test('a delivery that has ended is unlikely to be read again', () => {
  const cache = new RecordCache(full);
  const delivery = (ended_at_ms: number | null) =>
    ({ ...record(1), kind: 'delivery', id: 'whd_1', ended_at_ms }) as unknown as StoredRecord;
  cache.put(delivery(null));
  cache.changed(delivery(null));
  assert.equal(cache.has('whd_1'), true);
  cache.changed(delivery(7));
  assert.deepEqual([cache.has('whd_1'), cache.bytes], [false, 0]);
});

test('less room is made at once, and more is used', () => {
  const cache = filled(16);
  cache.limit(12 * bytes);
  assert.deepEqual(numbersIn(cache, 16), [9, 10, 11, 12, 13, 14, 15, 16]);
  assert.equal(cache.bytes, 8 * bytes);
  cache.limit(0);
  assert.deepEqual([numbersIn(cache, 16), cache.bytes], [[], 0]);
  cache.put(record(17));
  assert.deepEqual(numbersIn(cache, 17), [17], 'one record is always taken');
  cache.limit(full);
  for (let number = 18; number <= 30; number++) cache.put(record(number));
  assert.equal(cache.size, 14);
});

test('what is used again is in the cache once, with its bytes', () => {
  const cache = filled(12);
  for (let use = 0; use < 3; use++) {
    for (let number = 1; number <= 12; number++) cache.get(idOf(number));
    assert.deepEqual([cache.size, cache.bytes], [12, 12 * bytes]);
  }
});

test('a generation that everything has moved out of is dropped', () => {
  const cache = filled(12);
  const before = queryObjects(Map, { format: 'count' });
  for (let use = 0; use < 200; use++) for (let number = 1; number <= 12; number++) cache.get(idOf(number));
  const more = queryObjects(Map, { format: 'count' }) - before;
  assert.ok(more < 20, `${more} more`);
  assert.equal(cache.size, 12);
});

test('records that have grown, or are larger than all of the cache, leave others no room', () => {
  const cache = filled(16);
  for (let number = 9; number <= 16; number++) {
    cache.changed(record(number, 'a'.repeat(200)));
    assert.ok(cache.bytes <= full, `after ${number}`);
  }
  const large = record(17, 'a'.repeat(20 * bytes));
  cache.put(large);
  assert.deepEqual([cache.size, cache.get(large.id)], [1, large]);
  cache.put(record(18));
  assert.deepEqual([cache.has(large.id), cache.has(idOf(18)), cache.bytes], [false, true, bytes]);
});
