import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Attempts } from '../../src/webhooks/attempt.ts';
import { endless, startReceiver } from './receiver.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function usedBytes(): Promise<number> {
  // Buffers outside the heap are freed some turns after their objects.
  for (let i = 0; i < 5; i++) {
    collect();
    await setTimeout(5);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('memory stays flat under endless answers', async () => {
  const receiver = await startReceiver({ respond: endless });
  const attempts = new Attempts({
    resolve: () => Promise.reject(new Error('there is no name to resolve')),
    monotonic: () => performance.now(),
    connectionsMax: 100,
    timeoutMs: 10_000,
    allowHttp: true,
    allowPrivate: true,
  });
  const input = {
    org: 'org_1',
    endpoint: 'we_1',
    url: receiver.origin,
    body: '{}',
    secrets: ['svc_whsec_a'],
    nowSeconds: 1_800_000_000,
  };
  const batch = async () => {
    await Promise.all(Array.from({ length: 20 }, () => attempts.make(input)));
    await receiver.idle();
  };

  for (let i = 0; i < 3; i++) await batch();
  const before = await usedBytes();
  for (let i = 0; i < 10; i++) await batch();
  const grown = (await usedBytes()) - before;
  await receiver.close();
  // What was sent is hundreds of times as much.
  assert.ok(grown < 4 * 1024 * 1024, `grew by ${grown} bytes`);
});
