// The stand-in for node:test: it runs what node:test would, in the same order, and stops at the first test that fails.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as standIn from './node-test.ts';

async function run(
  fill: (note: (what: string) => void) => void,
  places?: readonly number[],
): Promise<string[]> {
  const noted: string[] = [];
  standIn.begin();
  fill((what) => noted.push(what));
  const all = standIn.collected();
  const some = all.filter((_, place) => places?.includes(place) ?? true);
  try {
    await standIn.runTests(some, { began() {}, ended: ({ name }) => noted.push(`passed: ${name}`) });
  } catch (error) {
    noted.push(`failed: ${(error as Error).message}`);
  }
  return noted;
}

function suites(note: (what: string) => void): void {
  standIn.before(() => note('before all'));
  standIn.after(() => note('after all'));
  standIn.beforeEach(() => note('before each'));
  standIn.test('one', (context) => {
    context.after(() => note('after one'));
    standIn.after(() => note('after one, too'));
  });
  standIn.describe('a suite', () => {
    standIn.before(() => note('before the suite'));
    standIn.after(() => note('after the suite'));
    standIn.afterEach(() => note('after each of the suite'));
    standIn.test('two', { timeout: 1_000 }, async () => note('in two'));
    standIn.test('left out', { skip: 'with a reason' }, () => note('never'));
  });
  standIn.describe('left out', { skip: true }, () => standIn.test('never', () => note('never')));
}

test('hooks run around the tests of their suite', async () => {
  assert.deepEqual(await run(suites), [
    'before all',
    'before each',
    'after one',
    'after one, too',
    'passed: one',
    'before the suite',
    'before each',
    'in two',
    'after each of the suite',
    'passed: two',
    'after the suite',
    'after all',
  ]);
});

test('of the tests that are not asked for, nothing runs', async () => {
  assert.deepEqual(await run(suites, [0]), [
    'before all',
    'before each',
    'after one',
    'after one, too',
    'passed: one',
    'after all',
  ]);
});

test('the first test that fails is the last one, and what was opened is closed', async () => {
  const fill = (note: (what: string) => void) => {
    standIn.after(() => note('after all'));
    standIn.test('one', (context) => {
      context.after(() => note('after one'));
      throw new Error('of one');
    });
    standIn.test('two', () => note('never'));
  };
  assert.deepEqual(await run(fill), ['after one', 'after all', 'failed: of one']);
});
