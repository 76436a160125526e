// Which refusals of a flood are logged, and what is told of the others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoggedRefusals } from '../../src/telemetry/logged-refusals.ts';

test('some refusals of each second are logged, and the others are told together', () => {
  let nowMs = 5_000;
  const told: number[] = [];
  const refusals = new LoggedRefusals({
    perSecondMax: 3,
    monotonic: () => nowMs,
    onLeftOut: (requests) => told.push(requests),
  });
  const logged = (count: number) => Array.from({ length: count }, refusals.admit).filter(Boolean).length;
  assert.equal(logged(3), 3);
  refusals.tell();
  assert.deepEqual(told, []);
  assert.equal(logged(2), 0);
  nowMs += 999;
  assert.equal(logged(1), 0);
  nowMs += 1;
  assert.equal(logged(5), 3);
  refusals.tell();
  refusals.tell();
  assert.deepEqual(told, [5]);
});
