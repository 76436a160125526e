import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreamDifference } from '../../src/core/stream-difference.ts';

/** What is found between two streams, each given in an order of its own. */
function between(expected: readonly string[], found: readonly string[]): (readonly [string, number])[] {
  const difference = new StreamDifference();
  const pass = () => {
    for (const text of expected) difference.expect(text);
    for (const text of found.toReversed()) difference.find(text);
  };
  pass();
  if (!difference.isDifferent()) return [];
  pass();
  return [...difference.differences()].sort();
}

const many = Array.from({ length: 200_000 }, (_, i) => `id_${i}`);

test('streams of the same texts in another order do not differ', () => {
  assert.deepEqual(between([], []), []);
  assert.deepEqual(between(many, many), []);
  assert.deepEqual(between(['a', 'a', 'b'], ['b', 'a', 'a']), []);
});

test('what is on one side only, or more often, is found', () => {
  assert.deepEqual(between(['a'], []), [['a', 1]]);
  assert.deepEqual(between([], ['a']), [['a', -1]]);
  assert.deepEqual(between(['a', 'a', 'b'], ['a', 'b', 'b']), [
    ['a', 1],
    ['b', -1],
  ]);
  const others = many.filter((text) => text !== 'id_77' && text !== 'id_199999');
  assert.deepEqual(between(many, [...others, 'id_5', 'stray']), [
    ['id_199999', 1],
    ['id_5', -1],
    ['id_77', 1],
    ['stray', -1],
  ]);
});

test('of streams that differ everywhere a part of the differences is found', () => {
  const found = between(many, []);
  assert.ok(found.length > 100 && found.length < 5_000, String(found.length));
  assert.ok(found.every(([, surplus]) => surplus === 1));
});

test('numbers are compared as texts that come so many times', () => {
  const difference = new StreamDifference();
  const pass = () => {
    difference.expect('a', 99_999_999_999);
    difference.expect('b', 5);
    for (const part of [33_333_333_333, 66_666_666_666]) difference.find('a', part);
    difference.find('b', 7);
  };
  pass();
  assert.ok(difference.isDifferent());
  pass();
  assert.deepEqual([...difference.differences()], [['b', -2]]);
});
