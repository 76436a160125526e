// The rows about refused keys stay few, however many keys are sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RefusedKeyNote, RefusedKeys } from '../../src/edge/api/refused-keys.ts';
import { createManualClock } from '../manual-clock.ts';

const invalid: RefusedKeyNote = {
  code: 'api_key_invalid',
  times: 1,
  address: '203.0.113.7',
  key: null,
  organization: null,
  prefix: 'svc_sk_live_',
  digest: '00000000',
  path: '/v1/account',
};
const revoked: RefusedKeyNote = {
  ...invalid,
  code: 'api_key_revoked',
  key: 'key_1',
  organization: 'org_1',
  prefix: null,
  digest: null,
};

function start() {
  const clock = createManualClock(0);
  return { clock, keys: new RefusedKeys(clock.now) };
}

test('a key is told at once, and how often it came again at the end of the minute', () => {
  const { clock, keys } = start();
  for (let time = 0; time < 5; time++) keys.add(invalid);
  assert.deepEqual(keys.take(), [invalid]);
  clock.advance(59_999);
  keys.add(invalid);
  assert.deepEqual(keys.take(), []);
  clock.advance(1);
  assert.deepEqual(keys.take(), [{ ...invalid, times: 5 }]);
  clock.advance(60_000);
  assert.deepEqual(keys.take(), []);
  keys.add(invalid);
  assert.deepEqual(keys.take(), [invalid], 'and told again in another minute');
});

test('another address, another code and another key are told each', () => {
  const { keys } = start();
  const each = [invalid, { ...invalid, address: '203.0.113.8' }, { ...invalid, digest: '00000001' }, revoked];
  for (const refused of [...each, ...each]) keys.add(refused);
  assert.deepEqual(keys.take(), each);
});

test('a flood of made-up keys is told in a bounded number of rows, and hides no key of ours', () => {
  const { clock, keys } = start();
  const told: RefusedKeyNote[] = [];
  for (let number = 0; number < 100_000; number++) {
    keys.add({ ...invalid, digest: String(number) });
    if (number % 1000 === 0) told.push(...keys.take());
  }
  keys.add(revoked);
  told.push(...keys.take());
  assert.equal(told.length, 21);
  assert.deepEqual(told.at(-1), revoked);
  clock.advance(60_000);
  const [others, ...more] = keys.take();
  assert.deepEqual([others!.code, others!.times, others!.address], ['api_key_invalid', 99_980, null]);
  assert.deepEqual(more, []);
});

test('a flood of refused keys of one organization hides no key of another', () => {
  const { clock, keys } = start();
  for (let number = 0; number < 50; number++)
    keys.add({ ...revoked, organization: 'org_2', address: `203.0.113.${number}` });
  const ofOne = keys.take();
  keys.add(revoked);
  assert.deepEqual([ofOne.length, keys.take()], [4, [revoked]]);
  clock.advance(60_000);
  assert.deepEqual(
    keys.take().map(({ code, times, organization }) => ({ code, times, organization })),
    [{ code: 'api_key_revoked', times: 46, organization: null }],
  );
  keys.add({ ...revoked, organization: 'org_2' });
  assert.equal(keys.take().length, 1, 'it has its part in each minute');
});

test('the last ones are told without waiting', () => {
  const { keys } = start();
  keys.add(revoked);
  keys.add(revoked);
  assert.deepEqual(keys.take(true), [revoked, revoked]);
  assert.deepEqual(keys.take(true), []);
});
