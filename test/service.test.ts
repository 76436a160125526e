// The service as a new user starts it: the first start, a request, a stop.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOrganization, startService } from './service.ts';

test('a first start creates the Sandbox, answers, stops in order, and a later start keeps its keys', async () => {
  // As it is for a user, also in a run of the tests that has prepared the modules of other services.
  const first = await startService({ env: { PREPARED_MODULES: '' } });
  assert.ok(first.keys, 'the keys of the Sandbox are printed');
  const body = { amount: 12_000, currency: 'mad' };
  const created = await first.call('/v1/payment_intents', { body, idempotencyKey: 'first' });
  assert.equal(created.status, 200);
  const [sandbox] = await first.operate<{ id: string }[]>('org.list', {});
  const keys = await first.operate<{ mode: string }[]>('key.list', { org: sandbox!.id });
  const shown = keys.map(({ mode }) => mode);
  assert.deepEqual(shown, ['test', 'test'], 'there is no key that nobody was shown');
  const shop = await newOrganization(first);
  const strange = await first.call(`/v1/payment_intents/${created.json.id}`, { key: shop.key });
  assert.equal(strange.json.error.code, 'resource_missing');
  assert.equal(await first.stop(), 0);

  const second = await startService({ dataDir: first.dataDir });
  assert.equal(second.keys, null, 'keys are shown once');
  const read = await second.call(`/v1/payment_intents/${created.json.id}`, { key: first.keys.secret });
  assert.equal(read.text, created.text);
  const replayed = await second.call('/v1/payment_intents', {
    body,
    idempotencyKey: 'first',
    key: first.keys.secret,
  });
  assert.equal(replayed.text, created.text);
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
  assert.equal(await second.stop(), 0);
});
