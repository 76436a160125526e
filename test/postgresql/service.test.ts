// The service with its log in PostgreSQL: a primary and two standbys.

import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { test } from 'node:test';
import { paymentsWith } from '../main/payments-command.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { leftOut, moreAdvanced, startServers } from './servers.ts';

const skip = { skip: leftOut };
const intent = { amount: 12_500, currency: 'mad' };

test('payments go on after the primary is lost and a standby is promoted', skip, async (context) => {
  const servers = await startServers(context, 2);
  const [a, b, c] = servers.all as [
    (typeof servers.all)[0],
    (typeof servers.all)[0],
    (typeof servers.all)[0],
  ];
  const env = { PAYMENTS_JOURNAL_URL: servers.url, PAYMENTS_SHARDS: '2' };
  const service = await startService({ env });
  context.after(() => service.kill());
  const create = (key: string) =>
    service.call('/v1/payment_intents', { method: 'POST', body: intent, idempotencyKey: key });
  const first = await create('first');
  assert.equal(first.status, 200, first.text);
  assert.deepEqual((await create('first')).json, first.json);
  await a.stop('kill');
  const [next, other] = await moreAdvanced(b, c);
  await next.promote();
  await other.follow(next);
  const second = await service.until(async () => {
    const answer = await create('second');
    return answer.status === 200 ? answer : undefined;
  });
  assert.deepEqual((await create('first')).json, first.json);
  const { json } = await service.call(`/v1/payment_intents/${second.json.id}`);
  assert.equal(json.amount, intent.amount);
  const checks = await service.operate<{ name: string; ok: boolean; detail: string }[]>('doctor', {});
  const check = checks.find(({ name }) => name === 'postgresql');
  assert.match(check?.detail ?? '', /^PostgreSQL 18\.\d+ at 127\.0\.0\.1:\d+, timeline 2; 1 standby[,;]/);
  const status = await paymentsWith({}, 'status', '--data-dir', service.dataDir);
  assert.match(status.out, /^postgresql +PostgreSQL 18\.\d+ at 127\.0\.0\.1:\d+, timeline 2; 1 standby[,;]/m);
  await next.stop('kill');
  const { out } = await paymentsWith({}, 'status', '--data-dir', service.dataDir);
  assert.match(out, /^postgresql +WRONG: no (PostgreSQL takes writes: |server has answered)/m);
  await next.start();
  await service.until(async () => ((await create('third')).status === 200 ? true : undefined));
  assert.equal(await service.stop(), 0);
});

test(
  'an empty data folder becomes another one of the service, with organizations and payments',
  skip,
  async (context) => {
    const servers = await startServers(context, 1);
    const env = { PAYMENTS_JOURNAL_URL: servers.url, PAYMENTS_SHARDS: '2' };
    const first = await startService({ env });
    context.after(() => first.kill());
    const { secret } = first.keys!;
    const create = (service: typeof first) =>
      service.call('/v1/payment_intents', {
        method: 'POST',
        body: intent,
        idempotencyKey: 'one',
        key: secret,
      });
    const created = await create(first);
    assert.equal(created.status, 200, created.text);
    await first.stop();
    const dataDir = temporaryFolder();
    cpSync(`${first.dataDir}.secrets-key`, `${dataDir}.secrets-key`);
    // The number of shards is that of the service.
    const second = await startService({ dataDir, env: { PAYMENTS_JOURNAL_URL: servers.url } });
    context.after(() => second.kill());
    assert.deepEqual((await create(second)).json, created.json);
    await second.operate('key.revoke', { key: secret });
    assert.equal((await create(second)).status, 401);
    await second.stop();
    // What the one has revoked is revoked at the other.
    const again = await startService({ dataDir: first.dataDir, env });
    context.after(() => again.kill());
    assert.equal((await create(again)).status, 401);
    assert.equal(await again.stop(), 0);
  },
);

test('a start without PostgreSQL waits, says why, and can be stopped', async () => {
  const env = {
    PAYMENTS_JOURNAL_URL: 'postgresql://payments@127.0.0.1:1/payments',
    PAYMENTS_LOG_LEVEL: 'info',
  };
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const started = startService({
    env,
    onSpawn(child) {
      child.stdout?.on('data', (text: Buffer) => {
        if (String(text).includes('no PostgreSQL takes writes: 127.0.0.1:1')) child.kill('SIGTERM');
      });
      child.on('exit', resolve);
    },
  });
  await assert.rejects(started);
  assert.equal(await promise, 0);
});

test(
  'PostgreSQL that does not hold what it acknowledges is refused, with what to set',
  skip,
  async (context) => {
    const servers = await startServers(context, 0);
    const dataDir = temporaryFolder();
    const env = { PAYMENTS_JOURNAL_URL: servers.url, PAYMENTS_SHARDS: '1' };
    const doctor = async (more: object = {}) => {
      const { out } = await paymentsWith({ ...env, ...more }, 'doctor', '--data-dir', dataDir);
      return out;
    };
    assert.match(
      await doctor(),
      /synchronous_standby_names is empty, so nobody else has what is acknowledged/,
    );
    const single = { PAYMENTS_JOURNAL_SINGLE: 'true' };
    assert.match(await doctor(single), /PostgreSQL 18\.\d+ at .*one server alone, as configured/);
    await servers.all[0]!.query('alter role payments set synchronous_commit = off');
    assert.match(await doctor(single), /synchronous_commit is off: set synchronous_commit = on/);
    await servers.all[0]!.query('alter role payments reset synchronous_commit');
    const service = await startService({ dataDir, env: { ...env, ...single } });
    context.after(() => service.kill());
    const answer = await service.call('/v1/payment_intents', {
      method: 'POST',
      body: intent,
      idempotencyKey: 'one',
    });
    assert.equal(answer.status, 200, answer.text);
    const { out } = await paymentsWith({}, 'status', '--data-dir', dataDir);
    assert.match(out, /one server alone, as configured/);
    assert.equal(await service.stop(), 0);
  },
);
