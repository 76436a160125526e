// Requests that a member gives in the dashboard: they are the API's in everything but that they
// spend no limits, and that the log has the member as their cause.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replayOf } from '../journal/journal-fixtures.ts';
import { Actor, account } from './actor.ts';

const create = 'POST /v1/payment_intents';
const body = { amount: 12_000, currency: 'mad' };
const member = 'mem_amina';

/** An organization that may send few requests: the burst of one a minute is nothing on top. */
function cramped() {
  const one = { perMinute: 1, source: 'custom', untilMs: null } as const;
  const buckets = { all: one, writes: one, payment_creation: one, search: one };
  const test = { ...account.limits.test, buckets, dailyPaymentCreations: 1 };
  return new Actor({ account: { ...account, limits: { ...account.limits, test } } });
}

test('a member’s requests spend no limits, and are answered when the limits are used up', async () => {
  const actor = cramped();
  for (const key of ['a', 'b', 'c'])
    assert.equal((await actor.send(create, { body, key, member })).status, 200);
  assert.equal(
    (await actor.send(create, { body, key: 'd' })).status,
    200,
    'the request of a key finds its room',
  );
  assert.equal((await actor.send(create, { body, key: 'e' })).status, 429);
  assert.equal((await actor.send('GET /v1/payment_intents', { member })).status, 200);
});

test('the same key is carried out once, whether a member or the API sends it again', async () => {
  const actor = new Actor();
  const first = await actor.send(create, { body, key: 'once', member });
  for (const again of [{ member }, {}]) {
    const { json, replayed } = await actor.send(create, { body, key: 'once', ...again });
    assert.deepEqual([json.id, replayed], [first.json.id, true]);
  }
  assert.equal((await actor.send(create, { body: { amount: 0 }, key: 'x', member })).status, 400);
});

test('the log has the member as the cause, or the request, which has its name where no key has its response', async () => {
  const actor = new Actor();
  await actor.send(create, { body, key: 'a', member });
  await actor.send(create, { body, key: 'b' });
  const { requestId } = await actor.send('POST /v1/customers');
  const causes = (await replayOf(actor.journal)).map(({ cause }) => cause);
  assert.deepEqual(causes, [
    { by: 'member', name: member },
    { by: 'request', name: null },
    { by: 'request', name: requestId },
  ]);
});
