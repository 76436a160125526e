// When a sample of mutants speaks against the recorded share.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastShare } from './recorded.ts';

/** The chance that a sample of tests with this share has no more than so many killed. */
function chanceOf(killedMax: number, sample: number, share: number): number {
  let [chance, sum] = [(1 - share) ** sample, 0];
  for (let killed = 0; killed <= killedMax; killed++) {
    sum += chance;
    chance *= ((sample - killed) / (killed + 1)) * (share / (1 - share));
  }
  return sum;
}

test('one sample of a hundred fails where the tests have lost two points', () => {
  for (const [recorded, sample] of [
    [0.92, 200],
    [0.92, 300],
    [0.7, 200],
  ] as const) {
    const killed = Math.ceil(leastShare(recorded, sample) * sample) - 1;
    assert.ok(chanceOf(killed, sample, recorded - 0.02) < 0.02, `${recorded} of ${sample}`);
    assert.ok(chanceOf(killed + 1, sample, recorded - 0.02) > 0.01, `${recorded} of ${sample}`);
    assert.ok(chanceOf(killed, sample, recorded - 0.1) > 0.5, `${recorded} of ${sample}`);
  }
});
