// The simulator itself: some seeds find nothing, and a seed gives the same run every time.

import './stand-ins.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';

const { run } = await import('./run.ts');
const { planOf } = await import('./plan.ts');

test('seeds find nothing', async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { finding } = await run(planOf(String(seed)));
    assert.equal(finding, null, `npm run simulate -- --seed ${seed}`);
  }
});

test('a seed gives the same run every time, and another seed another one', async () => {
  for (const seed of ['3', '17', '301']) {
    const [first, second] = [await run(planOf(seed), true), await run(planOf(seed), true)];
    assert.deepEqual(first.lines, second.lines);
    assert.equal(first.digest, second.digest);
    assert.equal(first.tasks, second.tasks);
    assert.notEqual(first.digest, (await run(planOf(`${seed}0`))).digest);
  }
});
