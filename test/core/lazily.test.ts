import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lazily } from '../../src/core/lazily.ts';

test('what is made lazily is made at the first call, and once', () => {
  let made = 0;
  const value = lazily(() => {
    made++;
    return undefined;
  });
  assert.equal(made, 0);
  assert.equal(value(), undefined);
  assert.equal(value(), undefined);
  assert.equal(made, 1);
});
