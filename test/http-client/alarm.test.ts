// When an alarm rings, whatever it was set to before.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Alarm } from '../../src/http-client/alarm.ts';

/** An alarm on a clock that the test's timers turn, and the times at which it rang. */
function bench(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const rang: number[] = [];
  const alarm = new Alarm(
    () => nowMs,
    () => rang.push(nowMs),
  );
  const pass = (ms: number) => {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs++;
      t.mock.timers.tick(1);
    }
  };
  return { alarm, rang, pass };
}

test('an alarm rings once, at its time', (t) => {
  const { alarm, rang, pass } = bench(t);
  alarm.set(10);
  pass(100);
  assert.deepEqual(rang, [10]);
});

test('an alarm that is set again rings at the new time only, later or earlier', (t) => {
  const { alarm, rang, pass } = bench(t);
  alarm.set(10);
  pass(5);
  alarm.set(20);
  pass(4);
  alarm.set(30);
  pass(100);
  assert.deepEqual(rang, [39]);
  alarm.set(50);
  alarm.set(3);
  pass(100);
  assert.deepEqual(rang, [39, 112]);
});

test('an alarm that was stopped does not ring, and can be set again', (t) => {
  const { alarm, rang, pass } = bench(t);
  alarm.set(10);
  alarm.stop();
  pass(100);
  assert.deepEqual(rang, []);
  alarm.set(10);
  pass(10);
  assert.deepEqual(rang, [110]);
});
