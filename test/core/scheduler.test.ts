// What waits for something, and for so long only.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sleeper, within } from '../../src/core/scheduler.ts';
import { createManualTimers } from '../networks/manual-timers.ts';

test('what comes in time is given, what fails in time fails, and what is late is null', async () => {
  const timers = createManualTimers(0);
  assert.equal(await within(100, Promise.resolve('done'), timers), 'done');
  await assert.rejects(within(100, Promise.reject(new Error('no')), timers), { message: 'no' });
  const late = within(100, new Promise(() => {}), timers);
  await timers.advance(100);
  assert.equal(await late, null);
  assert.equal(timers.waiting(), 0);
});

test('a sleep ends when it is over, when it is woken, and at once when it was woken before', async () => {
  const timers = createManualTimers(0);
  const sleeper = new Sleeper(timers);
  const whole = sleeper.sleep(100);
  await timers.advance(100);
  await whole;
  const woken = sleeper.sleep(100);
  sleeper.wake();
  sleeper.wake();
  await woken;
  assert.equal(timers.waiting(), 0);
  sleeper.wake();
  await sleeper.sleep(100);
  assert.equal(timers.waiting(), 0);
  let isOver = false;
  const next = sleeper.sleep(100).then(() => {
    isOver = true;
  });
  await timers.advance(99);
  assert.equal(isOver, false, 'it was woken once');
  await timers.advance(1);
  await next;
});
