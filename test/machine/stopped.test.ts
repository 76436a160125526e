// A process that is stopped for a minute, while merchants use it and webhooks are on their way, and then goes on. The clocks have
// gone on meanwhile, and receivers have closed their connections.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../on-disk.ts';
import { crampedEnv, Merchant } from '../main/merchant.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { withRequestLogs } from '../service.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { FaultyMachine } from './faulty-machine.ts';
import { assertWhole, pauseAll, progress, startWork } from './merchants.ts';

test('stopped for a minute, the service loses nothing, and every event reaches its receiver', async (context) => {
  const machine = FaultyMachine.make();
  if (machine === null) return context.skip('needs Linux and a C compiler (cc)');
  const receiver = await startReceiver({
    respond: (response) => void setTimeout(() => response.end('ok'), 200),
  });
  context.after(() => receiver.close());
  const retries = { PAYMENTS_WEBHOOKS_RETRY_SECONDS: '0,0.5,1,2,4,8,16' };
  const service = await machine.start({ ...crampedEnv, ...withRequestLogs, ...webhookEnv, ...retries });
  const shops = await shopOnEachShard(service, 2);
  for (const { key } of shops) {
    const body = { url: `${receiver.origin}/hooks`, enabled_events: ['payment_intent.created'] };
    assert.equal((await service.call('/v1/webhook_endpoints', { key, body })).status, 200);
  }
  const merchants = shops.map(({ key }, shard) => new Merchant(context, `shop${shard}`, key));
  startWork(service, merchants);
  await progress(service, merchants, 40);
  await service.until(() => receiver.requests.length > 5 || undefined);

  process.kill(service.process.pid!, 'SIGSTOP');
  receiver.hangUp();
  machine.setClocks({ realMs: 60_000, monotonicMs: 60_000 });
  process.kill(service.process.pid!, 'SIGCONT');

  await service.until(async () => (await service.call('/readyz')).status === 200 || undefined);
  // Those whose requests were not answered in time have gone.
  startWork(service, merchants);
  await progress(service, merchants, 10);
  await pauseAll(merchants);
  const made = new Set<string>();
  for (const { key } of shops) {
    for (let query = ''; ; ) {
      const { json } = await service.call(`/v1/payment_intents?limit=100${query}`, { key });
      for (const { id } of json.data) made.add(id);
      if (!json.has_more) break;
      query = `&starting_after=${json.data.at(-1).id}`;
    }
  }
  assert(made.size > 30, String(made.size));
  const told = () => new Set(receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.object.id));
  await service.until(() => [...made].every((id) => told().has(id)) || undefined);
  assert.doesNotMatch(service.output(), /stays down|started again/);
  await assertWhole(service, merchants, '');
});
