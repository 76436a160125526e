import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FixedQueue } from '../../src/core/fixed-queue.ts';

test('an empty queue has nothing to give', () => {
  const queue = new FixedQueue<number>();
  assert.equal(queue.length, 0);
  assert.equal(queue.shift(), undefined);
  assert.equal(queue.length, 0);
});

test('what was pushed first comes first, over many rings', () => {
  const queue = new FixedQueue<number>();
  for (let i = 0; i < 2_000; i++) queue.push(i);
  assert.equal(queue.length, 2_000);
  for (let i = 0; i < 2_000; i++) assert.equal(queue.shift(), i);
  assert.equal(queue.shift(), undefined);
});

test('a queue that is drained again and again stays usable', () => {
  const queue = new FixedQueue<number>();
  for (let round = 0; round < 5_000; round++) {
    queue.push(round);
    assert.equal(queue.shift(), round);
  }
  assert.equal(queue.length, 0);
});

test('undefined is a value like any other', () => {
  const queue = new FixedQueue<number | undefined>();
  queue.push(undefined);
  queue.push(1);
  assert.equal(queue.shift(), undefined);
  assert.equal(queue.length, 1);
  assert.equal(queue.shift(), 1);
});

test('the queue agrees with an array', () => {
  const step = fc.record({ push: fc.nat(600), shift: fc.nat(600) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const queue = new FixedQueue<number>();
      const model: number[] = [];
      let next = 0;
      for (const { push, shift } of steps) {
        for (let i = 0; i < push; i++) {
          queue.push(next);
          model.push(next++);
        }
        for (const expected of model.splice(0, shift)) assert.equal(queue.shift(), expected);
        assert.equal(queue.length, model.length);
      }
      for (const expected of model) assert.equal(queue.shift(), expected);
      assert.equal(queue.shift(), undefined);
    }),
  );
});
