// Whose call to a network is next.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CallTurns } from '../../src/networks/call-turns.ts';

test('what a host has under way counts after one of its calls has ended', async () => {
  const turns = new CallTurns(6);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const take = (host: string, times: number) => {
    for (let i = 0; i < times; i++)
      turns.take(host, 'org_1', () => {
        begun.push(host);
        return new Promise((end) => ends.push(end));
      });
  };
  take('a', 3);
  ends.shift()?.();
  await turn();
  // With two under way and four places free it gets one more, and half of the places stay for others.
  take('a', 5);
  assert.equal(begun.length, 4);
  take('b', 2);
  assert.deepEqual(begun.slice(4), ['b', 'b']);
});

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
