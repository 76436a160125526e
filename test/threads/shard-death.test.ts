// A shard that fails while the service runs: its organizations are told to retry, those of the other shard are not affected,
// and it is started again with everything that was acknowledged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progress, startWork } from '../machine/merchants.ts';
import { endings, endThread, inspectorEnv } from '../main/inspector.ts';
import { Merchant } from '../main/merchant.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { assertUnavailable, startService } from '../service.ts';

const body = { amount: 12_000, currency: 'mad' };

const farShard = { entry: 'shard-thread.ts', shard: 1 };

for (const how of Object.keys(endings) as (keyof typeof endings)[]) {
  test(`a shard whose thread ${how} comes back with what was acknowledged`, async (t) => {
    const env = {
      ...inspectorEnv,
      PAYMENTS_SHARDS: '2',
      PAYMENTS_BASE_URL: 'https://pay.example',
      PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '50',
    };
    const service = await startService({ env });
    const shops = await shopOnEachShard(service, 2);
    const [near, far] = shops.map(({ key }, shard) => new Merchant(t, `shop${shard}`, key)) as [
      Merchant,
      Merchant,
    ];
    startWork(service, [near, far]);
    for (let round = 1; round <= 3; round++) {
      await progress(service, [near, far], 50);
      await endThread(service, farShard, how);
      const told = /shard 1 ended and is started again/g;
      await service.until(() => service.output().match(told)?.length === round || undefined);
      await service.until(async () => (await service.call('/readyz')).status === 200 || undefined);
      const restarted = `payments_shard_restarts_total{shard="1"} ${round}\n`;
      assert.ok((await service.metrics()).includes(restarted));
    }
    await Promise.all([near.pause(), far.pause()]);
    for (const merchant of [near, far]) {
      await merchant.settle(service.url);
      await merchant.check(service.url, true);
      await merchant.checkLists(service.url);
      assert.deepEqual(merchant.findings, { lost: [], doubled: [], half: [] });
    }
    const unavailable = (merchant: Merchant) =>
      [...merchant.answers.keys()].filter((answer) => /^5/.test(answer));
    assert.deepEqual(unavailable(near), [], 'the other shard notices nothing');
    assert.deepEqual(unavailable(far), ['503 api_error']);
    assert.equal(await service.stop(), 0);
  });
}

test('a shard whose checkpoint thread ends is started again with what was acknowledged', async (t) => {
  const env = { ...inspectorEnv, PAYMENTS_SHARDS: '1', PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '50' };
  const service = await startService({ env });
  const [shop] = await shopOnEachShard(service, 1);
  const merchant = new Merchant(t, 'shop', shop!.key);
  merchant.work(service.url, 2);
  await service.until(() => merchant.acknowledged > 20 || undefined);
  await endThread(service, { entry: 'checkpoint-thread.ts' }, 'ends without a word');
  const restarted = 'payments_shard_restarts_total{shard="0"} 1';
  await service.until(async () => (await service.metrics()).includes(restarted) || undefined);
  await service.until(async () => (await service.call('/readyz')).status === 200 || undefined);
  await merchant.pause();
  await merchant.settle(service.url);
  await merchant.check(service.url, true);
  assert.deepEqual(merchant.findings, { lost: [], doubled: [], half: [] });
  assert.match(service.output(), /shard 0 ended and is started again: the checkpoint thread has ended/);
  assert.equal(await service.stop(), 0);
});

test('a request that waits for a network when its shard fails is told to come back, and runs once', async () => {
  const env = { ...inspectorEnv, PAYMENTS_SHARDS: '2', PAYMENTS_SIMULATOR_LATENCY_MS: '700' };
  const service = await startService({ env });
  const [, { key }] = (await shopOnEachShard(service, 2)) as [unknown, { key: string }];
  const created = await service.call('/v1/payment_intents', { key, body, idempotencyKey: 'create' });
  const path = `/v1/payment_intents/${created.json.id}/confirm`;
  const confirm = () => service.call(path, { key, body: {}, idempotencyKey: 'confirm' });
  const waiting = confirm();
  await service.until(
    async () => (await confirm()).json.error.code === 'idempotency_in_progress' || undefined,
  );
  await endThread(service, farShard, 'ends without a word');
  assertUnavailable(await waiting);
  const answer = await service.until(async () => {
    const again = await confirm();
    if (again.status === 200) return again;
    if (again.status === 503) assertUnavailable(again);
    else assert.equal(again.json.error.code, 'idempotency_in_progress');
    return undefined;
  });
  assert.equal(answer.json.status, 'requires_action');
  const charges = await service.call(`/v1/charges?payment_intent=${created.json.id}`, { key });
  assert.deepEqual(
    charges.json.data.map(({ id }: { id: string }) => id),
    [answer.json.latest_charge],
  );
  assert.equal((await confirm()).headers.get('idempotent-replayed'), 'true');
  assert.equal(await service.stop(), 0);
});
