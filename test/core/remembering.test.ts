// Functions that remember their results.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remembering } from '../../src/core/remembering.ts';

test('a result is found once, and again after more results than are kept', () => {
  const asked: string[] = [];
  const lengthOf = remembering(2, (text: string) => {
    asked.push(text);
    return text.length || null;
  });
  assert.deepEqual(['', 'a', '', 'a'].map(lengthOf), [null, 1, null, 1]);
  assert.deepEqual(asked, ['', 'a']);
  assert.deepEqual(['bb', 'bb', 'a'].map(lengthOf), [2, 2, 1]);
  assert.deepEqual(asked, ['', 'a', 'bb', 'a']);
});
