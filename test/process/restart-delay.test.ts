import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestartDelay } from '../../src/process/restart-delay.ts';

/** The waits after failures that come so many milliseconds after one another. */
function waits(...gapsMs: readonly number[]): number[] {
  const delay = new RestartDelay();
  let nowMs = 0;
  return gapsMs.map((gapMs) => {
    nowMs += gapMs;
    return delay.failed(nowMs);
  });
}

const rows: readonly [string, gapsMs: readonly number[], expected: readonly number[]][] = [
  ['one failure', [1], [0]],
  ['a shard that can not stay up', Array(9).fill(10), [0, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]],
  ['a failure every twenty seconds', Array(6).fill(20_000), [0, 200, 400, 400, 400, 400]],
  ['a failure a minute', Array(4).fill(60_000), [0, 0, 0, 0]],
  ['some failures, a quiet minute, some more', [1, 1, 1, 60_000, 1], [0, 200, 400, 0, 200]],
];

for (const [name, gapsMs, expected] of rows) {
  test(name, () => assert.deepEqual(waits(...gapsMs), expected));
}
