// Whose call to a network is next.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CallTurns } from '../../src/networks/call-turns.ts';

test('hosts take turns, also when there are more of them than places', async () => {
  const turns = new CallTurns(3);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const take = (host: string) =>
    turns.take(host, 'org_1', () => {
      begun.push(host);
      return new Promise((end) => ends.push(end));
    });
  for (let times = 0; times < 3; times++) for (const host of ['a', 'b', 'c', 'd']) take(host);
  take('late');
  while (ends.length > 0) {
    ends.shift()?.();
    await turn();
  }
  assert.deepEqual(begun.slice(2, 9), ['c', 'd', 'late', 'a', 'b', 'c', 'd']);
  assert.equal(begun.length, 13);
});
