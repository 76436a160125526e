// When a sample of mutants that a commit has chosen speaks against the tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complaintOfKills, complaintOfSample } from './complaints.ts';

const mutant = {
  ...{ id: 1, file: 'src/domain/a.ts', line: 3, column: 5, kind: 'EqualityOperator' },
  ...{ within: 'return a < b;', original: 'a < b', replacement: 'a <= b', name: 'n' },
};
const all = { recorded: 500, left: 500 };
const alive = (count: number) => Array.from({ length: count }, () => mutant);

test('of mutants that are recorded as killed two points may live, and what lives beyond is named', () => {
  assert.equal(complaintOfKills(all, 60, []), null);
  assert.equal(complaintOfKills(all, 60, alive(1)), null);
  assert.equal(complaintOfKills(all, 100, alive(2)), null);
  assert.equal(
    complaintOfKills(all, 60, alive(2)),
    [
      '2 of 60 mutants survive that are recorded as killed:',
      'src/domain/a.ts:3: a < b → a <= b',
      'src/domain/a.ts:3: a < b → a <= b',
    ].join('\n'),
  );
  assert.match(complaintOfKills(all, 40, alive(1))!, /1 of 40/);
});

test('when few of the recorded mutants are left, they are to be recorded anew', () => {
  assert.equal(complaintOfKills({ recorded: 500, left: 400 }, 200, []), null);
  assert.match(
    complaintOfKills({ recorded: 500, left: 399 }, 200, [])!,
    /^Only 399 of 500 .* are left: .*npm run mutate -- --sample 80 --record$/,
  );
  assert.match(complaintOfKills({ recorded: 500, left: 0 }, 0, [])!, /^Only 0 of 500/);
});

/** Of the last count a binomial distribution with two points more says: one of a thousand samples, or fewer. */
for (const [size, share, least] of [
  [40, 0, 6],
  [60, 0.1, 17],
  [60, 0.2, 25],
  [400, 0.1, 70],
] as const)
  test(`of ${size} mutants, where ${share} of all live, ${least} are more than chance makes live`, () => {
    assert.equal(complaintOfSample(size, [], share), null);
    assert.equal(complaintOfSample(size, alive(least - 1), share), null);
    assert.match(complaintOfSample(size, alive(least), share)!, /a < b → a <= b$/);
  });

test('no mutants are no reason to complain', () => {
  assert.equal(complaintOfSample(0, [], 0), null);
});
