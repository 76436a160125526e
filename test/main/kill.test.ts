// The service is killed again and again on the same folder while merchants use it: everything that was acknowledged is there
// byte for byte, nothing exists twice, and nothing is half done.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import '../on-disk.ts';
import { startService, withRequestLogs } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { crampedEnv, hurriedRestMs, Merchant } from './merchant.ts';
import { shopOnEachShard } from './shops.ts';

const env = { ...crampedEnv, ...withRequestLogs };
const killsUnderLoad = 10;
const killsAtStart = 5;
const connections = 4;
/** A kill comes after at most this many acknowledged writes, and within this time. */
const acknowledgedMax = 300;
const underLoadMsMax = 2_000;

function total(shops: readonly Merchant[], count: (shop: Merchant) => number): number {
  return shops.reduce((sum, shop) => sum + count(shop), 0);
}

/** Settles at a moment between two answers, when `count` more writes are acknowledged. */
async function progress(shops: readonly Merchant[], count: number): Promise<void> {
  const acknowledged = () => total(shops, (shop) => shop.acknowledged);
  const enough = acknowledged() + count;
  const deadline = performance.now() + underLoadMsMax;
  while (acknowledged() < enough && performance.now() < deadline) await wait(1);
  await wait(Math.random() * 10);
}

/** Starts the service and kills it before, or just when, it has started. */
async function killWhileStarting(dataDir: string, afterMs: number): Promise<void> {
  const entry = join(import.meta.dirname, '../../src/main/payments.ts');
  const child = spawn(process.execPath, [entry, 'serve'], {
    env: { ...process.env, NODE_ENV: 'test', PAYMENTS_DATA_DIR: dataDir, ...env },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  await wait(afterMs);
  child.kill('SIGKILL');
  assert.deepEqual(await exited, [null, 'SIGKILL']);
}

test('killed at any moment, it loses and doubles nothing', async (context) => {
  const dataDir = temporaryFolder();
  let service = await startService({ dataDir, env });
  // One on each shard, so that a kill meets both at once.
  const shops = (await shopOnEachShard(service, 2)).map(
    ({ key }, shard) => new Merchant(context, `shop${shard}`, key),
  );
  const each = (action: (shop: Merchant) => Promise<void> | void) => Promise.all(shops.map(action));
  let restartMs = 0;
  for (let kill = 1; kill <= killsUnderLoad; kill++) {
    await each((shop) => shop.work(service.url, connections, hurriedRestMs));
    await progress(shops, Math.floor(Math.random() * acknowledgedMax));
    await service.kill();
    await each((shop) => shop.pause());
    if (kill % Math.floor(killsUnderLoad / killsAtStart) === 0) {
      await killWhileStarting(dataDir, 100 + Math.random() * 900);
    }
    const startedAt = performance.now();
    service = await startService({ dataDir, env });
    restartMs += performance.now() - startedAt;
    const { url } = service;
    // Before anything is sent again, and after: what was unsure must not touch what was certain.
    await each((shop) => shop.check(url, false));
    await each((shop) => shop.settle(url));
  }
  const { url } = service;
  await each((shop) => shop.check(url, true));
  await each((shop) => shop.checkLists(url));
  context.diagnostic(`kills: ${killsUnderLoad} under load, ${killsAtStart} while starting`);
  context.diagnostic(`acknowledged writes: ${total(shops, ({ acknowledged }) => acknowledged)}`);
  context.diagnostic(`lost: ${total(shops, ({ findings }) => findings.lost.length)}`);
  context.diagnostic(`doubled: ${total(shops, ({ findings }) => findings.doubled.length)}`);
  context.diagnostic(`half there: ${total(shops, ({ findings }) => findings.half.length)}`);
  context.diagnostic(`restart: ${Math.round(restartMs / killsUnderLoad)} ms on average`);
  for (const { findings, answers } of shops) {
    assert.deepEqual(findings, { lost: [], doubled: [], half: [] });
    const unexpected = [...answers.keys()].filter((answer) => !expectedAnswers.has(answer));
    assert.deepEqual(unexpected, [], 'answers that no merchant should get');
  }
  assert.equal(await service.stop(), 0);
});

/** Everything that the merchants may be answered. */
const expectedAnswers = new Set([
  '200',
  '400 amount_too_small',
  '400 payment_intent_unexpected_state',
  '409 idempotency_in_progress',
]);
