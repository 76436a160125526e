// `payments compact`: a checkpoint of which much was removed becomes smaller and loses nothing, while the service runs and while it
// is stopped; killed on the way, it leaves a folder that is as good as before.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { payments } from '../main/payments-command.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const env = { PAYMENTS_SHARDS: '1', PAYMENTS_BASE_URL: 'https://pay.example' };
const dataDir = temporaryFolder();
let key = '';
const count = 60;

before(async () => {
  let service = await startService({ dataDir, env });
  ({ key } = await newOrganization(service));
  const names = Array.from({ length: 50 }, (_, i) => `name_${i}`);
  const large = Object.fromEntries(names.map((name) => [name, 'x'.repeat(500)]));
  const none = Object.fromEntries(names.map((name) => [name, '']));
  const customers: string[] = [];
  for (let i = 0; i < count; i++) {
    const { json } = await service.call('/v1/customers', { key, body: { name: `n${i}`, metadata: large } });
    customers.push(json.id);
  }
  assert.equal(await service.stop(), 0);
  service = await startService({ dataDir, env });
  for (const id of customers) await service.call(`/v1/customers/${id}`, { key, body: { metadata: none } });
  await service.stop();
});

async function assertWhole(): Promise<void> {
  const { code, out } = await payments('verify', '--data-dir', dataDir, '--json');
  assert.equal(code, 0, out);
}

const shardDir = join(dataDir, 'shard-0');
/** The folders of the checkpoint, in force or not. */
const checkpoints = () => readdirSync(shardDir).filter((name) => name.startsWith('state'));
const bytesNow = () => statSync(join(shardDir, checkpoints()[0]!, 'data.mdb')).size;

/** Starts `payments compact` as a process, and waits until there is a copy, or until it was too quick. */
async function beginCompacting() {
  const entry = join(import.meta.dirname, '../../src/main/payments.ts');
  const child = spawn(process.execPath, [entry, 'compact', '--data-dir', dataDir], {
    env: { ...process.env, NODE_ENV: 'test' },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  while (checkpoints().length === 1 && child.exitCode === null) await wait(1);
  return { child, exited };
}

/** Creates payment intents until it is told to stop; returns the ids of those that were acknowledged. */
function createOn(service: Service): { stop(): Promise<string[]> } {
  let isOver = false;
  let made = 0;
  const create = async () => {
    const ids: string[] = [];
    while (!isOver) {
      const body = { amount: 10_000, currency: 'mad' };
      const idempotencyKey = `${service.url} ${made++}`;
      const answer = await service
        .call('/v1/payment_intents', { key, body, idempotencyKey })
        .catch(() => null);
      if (answer === null) break;
      assert([200, 429].includes(answer.status), JSON.stringify(answer.json));
      if (answer.status === 200) ids.push(answer.json.id);
      else await wait(50);
    }
    return ids;
  };
  const clients = Array.from({ length: 4 }, create);
  return {
    async stop() {
      isOver = true;
      return (await Promise.all(clients)).flat();
    },
  };
}

async function assertAllThere(service: Service, ids: readonly string[]): Promise<void> {
  const { json } = await service.call('/v1/customers?limit=100', { key });
  assert.equal(json.data.length, count);
  for (const id of ids) {
    const { status } = await service.call(`/v1/payment_intents/${id}`, { key });
    assert.equal(status, 200, id);
  }
}

test('killed while it compacts a stopped service, the folder is whole and the command can be run again', async () => {
  const { child, exited } = await beginCompacting();
  child.kill('SIGKILL');
  await exited;
  await assertWhole();
});

test('a running service gives the room back while it takes payments, and says how much', async () => {
  const service = await startService({ dataDir, env });
  const bytes = bytesNow();
  const creating = createOn(service);
  const { code, out, error } = await payments('compact', '--data-dir', dataDir, '--json');
  assert.equal(code, 0, error);
  const { bytes_before, bytes_after } = JSON.parse(out);
  assert(bytes_before >= bytes && bytes_after < bytes_before / 2, out);
  const ids = await creating.stop();
  assert(ids.length > 0);
  await assertAllThere(service, ids);
  const audit = await payments('audit', '--data-dir', dataDir, '--json');
  assert.match(audit.out, /"action":"compact"/);
  await service.stop();
  await assertWhole();
  assert.equal(checkpoints().length, 1);
});

test('killed while it compacts, the service has everything that it acknowledged', async () => {
  let service = await startService({ dataDir, env });
  const creating = createOn(service);
  const { exited } = await beginCompacting();
  await service.kill();
  const ids = await creating.stop();
  await exited;
  await assertWhole();
  service = await startService({ dataDir, env });
  assert.equal(checkpoints().length, 1);
  await assertAllThere(service, ids);
  await service.stop();
});

test('a stopped service gives the room back, and a second time there is none', async () => {
  const bytes = bytesNow();
  const first = await payments('compact', '--data-dir', dataDir, '--json');
  assert.equal(first.code, 0, first.error);
  const { bytes_before, bytes_after } = JSON.parse(first.out);
  assert.deepEqual([bytes_before, bytes_after], [bytes, bytesNow()]);
  assert.equal(checkpoints().length, 1);
  await assertWhole();
  const again = JSON.parse((await payments('compact', '--data-dir', dataDir, '--json')).out);
  assert.equal(again.bytes_after, again.bytes_before);
});
