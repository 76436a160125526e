// What is recorded of mutants is whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folders } from './instrument.ts';
import recorded from './recorded.json' with { type: 'json' };

test('every folder has a score of all tests and one of the nearest, and the former sum up', () => {
  assert.deepEqual(Object.keys(recorded.folders), folders.toSorted());
  assert.deepEqual(Object.keys(recorded.nearest), folders.toSorted());
  const counts = Object.values(recorded.folders);
  assert.deepEqual(recorded.all, {
    mutants: counts.reduce((sum, { mutants }) => sum + mutants, 0),
    killed: counts.reduce((sum, { killed }) => sum + killed, 0),
  });
});

test('each mutant that lived was looked at', () => {
  const survivors: { mutant: string; why: string }[] = Object.values(recorded.survivors);
  for (const { mutant, why } of survivors) assert.notEqual(why, '', mutant);
});
