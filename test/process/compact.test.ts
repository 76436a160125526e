// `payments compact`: a checkpoint of which much was removed becomes smaller and loses nothing; killed on the way, it leaves a
// folder that is as good as before.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { newOrganization, startService, temporaryFolder } from '../service.ts';
import { payments } from './payments-command.ts';

const env = { PAYMENTS_SHARDS: '1', PAYMENTS_BASE_URL: 'https://pay.example' };
const dataDir = temporaryFolder();
const file = join(dataDir, 'shard-0', 'state', 'data.mdb');
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
  const { code, out } = await payments('verify', '--data', dataDir, '--json');
  assert.equal(code, 0, out);
}

test('killed on the way, the folder is whole and the command can be run again', async () => {
  const entry = join(import.meta.dirname, '../../src/process/payments.ts');
  const child = spawn(process.execPath, [entry, 'compact', '--data', dataDir], {
    env: { ...process.env, NODE_ENV: 'test' },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  // As soon as there is a copy, or when it was too quick.
  while (!existsSync(`${file}.compact`) && child.exitCode === null) await wait(1);
  child.kill('SIGKILL');
  await exited;
  await assertWhole();
});

test('the file becomes smaller, and everything is there', async () => {
  const bytes = statSync(file).size;
  const { code, out, error } = await payments('compact', '--data', dataDir, '--json');
  assert.equal(code, 0, error);
  const { bytes_before, bytes_after } = JSON.parse(out);
  assert.deepEqual([bytes_before, bytes_after], [bytes, statSync(file).size]);
  assert.deepEqual(
    readdirSync(join(dataDir, 'shard-0', 'state')).filter((name) => name.includes('compact')),
    [],
  );
  await assertWhole();
  const again = JSON.parse((await payments('compact', '--data', dataDir, '--json')).out);
  assert.equal(again.bytes_after, again.bytes_before);
  const service = await startService({ dataDir, env });
  const { json } = await service.call('/v1/customers?limit=100', { key });
  assert.equal(json.data.length, count);
  const running = await payments('compact', '--data', dataDir);
  assert.match(running.error, /^payments: the service runs on [^\n]+: stop it first\n$/);
  await service.stop();
});
