// When a sample of mutants speaks against the recorded share.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastShare } from './recorded.ts';

/** The chance that of so many at most so many are killed, each with this chance. */
function chanceOf(killedMax: number, size: number, share: number): number {
  let [chance, sum] = [(1 - share) ** size, 0];
  for (let killed = 0; killed <= killedMax; killed++) {
    sum += chance;
    chance *= ((size - killed) / (killed + 1)) * (share / (1 - share));
  }
  return sum;
}

/** What is recorded of so many mutants that their share has no error of its own. */
const exact = (share: number) => ({ mutants: 1e9, killed: share * 1e9 });

for (const [share, size] of [
  [0.92, 60],
  [0.92, 200],
  [0.8, 100],
] as const)
  test(`of ${size} mutants, with ${share} killed as recorded, hardly a sample fails by chance`, () => {
    const least = leastShare([{ size, recorded: exact(share) }]);
    assert.ok(chanceOf(Math.ceil(least * size) - 1, size, share) < 0.001);
    assert.ok(chanceOf(Math.ceil(least * size) - 1, size, share - 0.02) < 0.01);
    assert.ok(chanceOf(Math.ceil(least * size) - 1, size, share - 0.25) > 0.7);
  });

test('the folders count as often as the sample has mutants of them', () => {
  const parts = [
    { size: 300, recorded: exact(1) },
    { size: 100, recorded: exact(0.6) },
  ];
  const deviation = Math.sqrt(100 * 0.6 * 0.4) / 400;
  assert.ok(Math.abs(leastShare(parts) - (0.9 - 0.02 - 3.1 * deviation)) < 1e-6);
});

test('a score that few mutants have given says less', () => {
  const least = (mutants: number) => leastShare([{ size: 50, recorded: { mutants, killed: 0.9 * mutants } }]);
  assert.ok(least(20) < least(50) && least(50) < least(500));
  // Not even twenty of twenty make it sure that the next one is killed.
  assert.ok(leastShare([{ size: 50, recorded: { mutants: 20, killed: 20 } }]) < 0.9);
});
