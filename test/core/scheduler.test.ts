// What waits for something, and for so long only.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '../../src/core/scheduler.ts';
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
