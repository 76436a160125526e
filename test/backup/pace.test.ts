// The pace of a backup, with a clock that the test turns.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paceOf } from '../../src/backup/pace.ts';

/** Pieces of 1,000 bytes, each of which takes so many milliseconds: how long each is waited for. */
async function waits(bytesPerSecond: number, workMs: readonly number[]): Promise<number[]> {
  let nowMs = 5_000;
  let waited = 0;
  const pace = paceOf(bytesPerSecond, {
    now: () => nowMs,
    wait: async (ms) => {
      waited += ms;
      nowMs += ms;
    },
  });
  const found = [];
  for (const ms of workMs) {
    waited = 0;
    nowMs += ms;
    await pace(1_000);
    found.push(Number(waited.toFixed(3)));
  }
  return found;
}

const rows: readonly [
  what: string,
  bytesPerSecond: number,
  workMs: readonly number[],
  waits: readonly number[],
][] = [
  ['quick pieces keep to the rate', 100_000, [1, 2, 0, 3], [9, 8, 10, 7]],
  ['a rest is as long as the piece took', 1_000_000, [4, 10, 4], [4, 10, 4]],
  ['what was missed is not caught up', 100_000, [60, 1, 1, 1], [60, 9, 9, 9]],
  ['a process that was stopped does not rest as long', 100_000, [60_000, 1], [200, 9]],
  ['short waits are put together', 2_000_000, [0.1, 0.1, 0.1, 0.1], [0, 0, 1.2, 0]],
];
for (const [what, bytesPerSecond, workMs, expected] of rows) {
  test(what, async () => assert.deepEqual(await waits(bytesPerSecond, workMs), expected));
}
