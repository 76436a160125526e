// When a sample of mutants that are recorded as killed speaks against the tests, and which mutants are recorded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folders } from './instrument.ts';
import recorded from './recorded.json' with { type: 'json' };
import { complaint } from './recorded.ts';

const mutant = {
  ...{ id: 1, file: 'src/domain/a.ts', line: 3, column: 5, kind: 'EqualityOperator' },
  ...{ within: 'return a < b;', original: 'a < b', replacement: 'a <= b', name: 'n' },
};
const all = { recorded: 500, left: 500 };
const lost = (count: number) => Array.from({ length: count }, () => mutant);

test('a sample may lose two points, and what it loses beyond is named', () => {
  assert.equal(complaint(all, 60, []), null);
  assert.equal(complaint(all, 60, lost(1)), null);
  assert.equal(complaint(all, 100, lost(2)), null);
  assert.equal(
    complaint(all, 60, lost(2)),
    [
      '2 of 60 mutants survive that are recorded as killed:',
      'src/domain/a.ts:3: a < b → a <= b',
      'src/domain/a.ts:3: a < b → a <= b',
    ].join('\n'),
  );
  assert.match(complaint(all, 40, lost(1))!, /1 of 40/);
});

test('when few of the recorded mutants are left, they are to be recorded anew', () => {
  assert.equal(complaint({ recorded: 500, left: 400 }, 200, []), null);
  assert.match(
    complaint({ recorded: 500, left: 399 }, 200, [])!,
    /^Only 399 of 500 .* are left: .*npm run mutate -- --sample 80 --record$/,
  );
  assert.match(complaint({ recorded: 500, left: 0 }, 0, [])!, /^Only 0 of 500/);
});

test('every folder has a score, and they sum up', () => {
  assert.deepEqual(Object.keys(recorded.folders), folders.toSorted());
  const counts = Object.values(recorded.folders);
  assert.deepEqual(recorded.all, {
    mutants: counts.reduce((sum, { mutants }) => sum + mutants, 0),
    killed: counts.reduce((sum, { killed }) => sum + killed, 0),
  });
});
