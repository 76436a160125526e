// An edge thread that ends under load ends the service, which says why, and the service manager starts it again
// (config/payments.service): everything that was acknowledged is there, and what was not is run once.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { endThread, inspectorEnv } from '../main/inspector.ts';
import { Merchant } from '../main/merchant.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const env = {
  ...inspectorEnv,
  PAYMENTS_SHARDS: '1',
  PAYMENTS_BASE_URL: 'https://pay.example',
  PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '50',
};

test('an edge thread that ends under load ends the service with a reason, and the next start has everything', async (t) => {
  const dataDir = temporaryFolder();
  const service = await startService({ dataDir, env });
  const [shop] = await shopOnEachShard(service, 1);
  const merchant = new Merchant(t, 'shop', shop!.key);
  merchant.work(service.url, 4);
  await service.until(() => merchant.acknowledged > 20 || undefined);
  service.process.ref();
  const exited = once(service.process, 'exit');
  await endThread(service, { entry: 'edge-thread.ts' });
  const [code, signal] = await exited;
  await merchant.pause();
  assert.deepEqual([code, signal], [70, null]);
  assert.match(service.output(), /edge[^\n]*broken by a test/);

  const again = await startService({ dataDir, env });
  await merchant.check(again.url, false);
  await merchant.settle(again.url);
  await merchant.check(again.url, true);
  await merchant.checkLists(again.url);
  assert.deepEqual(merchant.findings, { lost: [], doubled: [], half: [] });
  assert.equal(await again.stop(), 0);
});
