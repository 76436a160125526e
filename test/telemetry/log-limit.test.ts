// What is logged of a flood, and what is told of the rest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogLimit } from '../../src/telemetry/log-limit.ts';

test('some of each second are logged, and every ten seconds the others are told together', ({ mock }) => {
  mock.timers.enable({ apis: ['setInterval'] });
  let nowMs = 5_000;
  const told: number[] = [];
  const limit = new LogLimit({ perSecondMax: 3, onLeftOut: (count) => told.push(count) }, () => nowMs);
  const logged = (count: number) => Array.from({ length: count }, limit.admit).filter(Boolean).length;
  assert.equal(logged(3), 3);
  mock.timers.tick(10_000);
  assert.deepEqual(told, []);
  assert.equal(logged(2), 0);
  nowMs += 999;
  assert.equal(logged(1), 0);
  nowMs += 1;
  assert.equal(logged(5), 3);
  mock.timers.tick(9_999);
  assert.deepEqual(told, []);
  mock.timers.tick(10_001);
  assert.deepEqual(told, [5]);
});
