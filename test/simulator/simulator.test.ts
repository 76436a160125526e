// The simulator itself: some seeds find nothing, and a seed gives the same run every time.

import './stand-ins.ts';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inOrderOfCommit } from '../order-of-commit.ts';
import { keptPlans } from './found/plans.ts';
import { assertions } from './kernel/findings.ts';
import { planted } from './planted/bugs.ts';
import { withBug } from './planted/edits.ts';
import { isFoundStill } from './planted/find.ts';
import { recorded } from './planted/recorded.ts';

const { run } = await import('./run.ts');
const { planOf } = await import('./plan.ts');

test('seeds find nothing', async () => {
  // Of more, `.ci/run` says the same.
  for (let seed = 1; seed <= 12; seed++) {
    const { finding } = await run(planOf(String(seed)));
    assert.equal(finding, null, `npm run simulate -- --seed ${seed}`);
  }
});

test('what was found once is not found again', async () => {
  for (const { name, plan } of keptPlans()) {
    const { finding } = await run(plan);
    assert.equal(finding, null, `${name}: npm run simulate -- --plan test/simulator/found/…`);
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

test('the planted bugs are edits of the sources as they are', () => {
  for (const bug of planted) {
    for (const { file } of bug.edits) {
      const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
      assert.notEqual(withBug(bug, file, source), source, bug.name);
    }
  }
});

test('each planted bug has a row in docs/simulator.md', () => {
  assert.deepEqual(
    [...recorded().keys()],
    planted.map(({ name }) => name),
  );
});

test('each assertion can fail: a planted bug shows it', () => {
  const shown = new Set(Array.from(recorded().values(), ({ assertion }) => assertion));
  assert.deepEqual(
    assertions.filter((assertion) => !shown.has(assertion)),
    [],
  );
});

test('most of the planted bugs, of those that the commit chooses, are found as docs/simulator.md says', () => {
  const chosen = inOrderOfCommit(recorded(), ([name]) => name).slice(0, 16);
  const stale = chosen.filter(([name, found]) => !isFoundStill(name, found)).map(([name]) => name);
  assert.ok(
    stale.length <= 4,
    `npm run simulate -- --planted --record finds others for: ${stale.join(', ')}`,
  );
});

test('a planted bug is found, with the trace that leads to it, made shorter', () => {
  const env = { ...process.env, SIMULATOR_PLANTED: 'a replay runs twice' };
  const main = new URL('main.ts', import.meta.url).pathname;
  const { stdout, status } = spawnSync(process.execPath, [main, '--seeds', '1..20'], {
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stdout, /^\d+ seeds in \d+\.\d s, \d+\.\d a second$/m);
  assert.match(stdout, /^seed \d+: (a replay is byte for byte|nothing runs twice)$/m);
  const [, left, steps] = /the shortest trace found, (\d+) of (\d+) steps/.exec(stdout)!;
  assert.ok(Number(left) < Number(steps) / 3, `${left} of ${steps} steps are left`);
  assert.match(stdout, /FOUND: /);
});

test('several processes run of the seeds those with nodes only, when these are asked for', () => {
  const main = new URL('main.ts', import.meta.url).pathname;
  const args = ['--seeds', '3..5', '--nodes', '--processes', '2'];
  const { stdout } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  assert.match(stdout, /^0 seeds in /);
});
