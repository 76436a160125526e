// Stops: requests that were taken are answered, everything that was acknowledged is there, and no client can delay the stop.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { newOrganization, type Service, startService, withRequestLogs } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hurriedRestMs, Merchant } from './merchant.ts';

const stopMsMax = 5_000;
const env = { ...withRequestLogs, PAYMENTS_BASE_URL: 'https://pay.example' };

/** Stops the service with the signals given; returns what is checked of it: code 0, in time. */
async function stopWith(service: Service, ...signals: NodeJS.Signals[]): Promise<void> {
  const startedAt = performance.now();
  for (const signal of signals) service.process.kill(signal);
  assert.equal(await service.stop(), 0, service.output());
  const tookMs = performance.now() - startedAt;
  assert(tookMs < stopMsMax, `it took ${tookMs} ms`);
}

/** A connection that has sent `text`, and what came back on it. */
async function open(service: Service, text: string): Promise<{ socket: Socket; received: () => string }> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  // Being cut off is what some of them are here for.
  socket.on('error', () => {});
  socket.write(text);
  return { socket, received: () => received };
}

test('stopped under load, it loses nothing that it acknowledged', async (t) => {
  const dataDir = temporaryFolder();
  const service = await startService({ dataDir, env });
  const { key } = await newOrganization(service);
  const shop = new Merchant(t, 'shop', key);
  shop.work(service.url, 8, hurriedRestMs);
  await service.until(() => shop.acknowledged > 100 || undefined);
  await stopWith(service, 'SIGTERM');
  await shop.pause();
  const again = await startService({ dataDir, env });
  await shop.check(again.url, true);
  await shop.settle(again.url);
  await shop.checkLists(again.url);
  assert.deepEqual(shop.findings, { lost: [], doubled: [], half: [] });
  assert.equal(await again.stop(), 0);
});

test('what is in flight is answered, although it waits for a network', async () => {
  const service = await startService({ env: { ...env, PAYMENTS_SIMULATOR_LATENCY_MS: '800' } });
  const { key } = await newOrganization(service);
  const body = { amount: 12_000, currency: 'mad' };
  const confirmations = await Promise.all(
    Array.from({ length: 20 }, async (_, number) => {
      const created = await service.call('/v1/payment_intents', {
        key,
        body,
        idempotencyKey: `create-${number}`,
      });
      const path = `/v1/payment_intents/${created.json.id}/confirm`;
      return () => service.call(path, { key, body: {}, idempotencyKey: `confirm-${number}` });
    }),
  );
  const answers = confirmations.map((confirm) => confirm());
  // The last one is under way when the service says so.
  await service.until(async () => {
    const { json } = await confirmations.at(-1)!();
    return json.error?.code === 'idempotency_in_progress' || undefined;
  });
  await stopWith(service, 'SIGTERM');
  for (const answer of answers) assert.equal((await answer).json.status, 'requires_action');
});

test('it is not ready from the moment that it is told to stop, and says so while it answers what is in flight', async () => {
  const service = await startService({ env: { ...env, PAYMENTS_LOG_LEVEL: 'info' } });
  const { key } = await newOrganization(service);
  const body = JSON.stringify({ name: 'A customer whose request takes its time' });
  const head = `POST /v1/customers HTTP/1.1\r\nHost: pay\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n`;
  const inFlight = await open(service, head + body.slice(0, 10));
  const ask = 'GET /readyz HTTP/1.1\r\nHost: pay\r\n\r\n';
  const probe = await open(service, ask);
  await service.until(() => probe.received().endsWith('ready\n') || undefined);
  service.process.kill('SIGTERM');
  await service.until(() => service.output().includes('"stopping"') || undefined);
  // The edge learns of it a moment after the main thread: it is asked until it knows.
  await service.until(() => {
    const answers = probe.received();
    if (/ 503 [\s\S]*stopping\n/.test(answers)) return true;
    if (answers.endsWith('\nready\n')) probe.socket.write(ask);
    return undefined;
  });
  assert.match(probe.received(), /connection: close/i);
  inFlight.socket.write(body.slice(10));
  await service.until(() => / 200 OK[\s\S]*A customer whose/.test(inFlight.received()) || undefined);
  assert.equal(await service.stop(), 0);
});

test('with a notice it is not ready first, and serves on meanwhile, so that a load balancer loses no request', async () => {
  const notice = (ms: number) =>
    startService({ env: { ...env, PAYMENTS_STOP_NOTICE_MS: String(ms), PAYMENTS_LOG_LEVEL: 'info' } });
  const service = await notice(600_000);
  const { key } = await newOrganization(service);
  const kept = await open(service, '');
  // What the example asks, and how it knows a node that is about to stop.
  const example = readFileSync(new URL('../../config/cluster/haproxy.cfg', import.meta.url), 'utf8');
  const [, path, version, host] = /http-check send meth GET uri (\S+) ver (\S+) hdr Host (\S+)/.exec(
    example,
  )!;
  const [, told] = /http-check expect error-status L7OKC ! string "(.+)"/.exec(example)!;
  const probe = () => open(service, `GET ${path} ${version}\r\nHost: ${host}\r\n\r\n`);
  const ready = await probe();
  await service.until(() => / 200 OK[\s\S]*ready\n$/.test(ready.received()) || undefined);
  assert(!ready.received().includes(told!));
  service.process.kill('SIGTERM');
  await service.until(async () => (await service.call('/readyz')).status === 503 || undefined);
  const stopping = await probe();
  await service.until(() => / 503 [\s\S]*stopping\n/.test(stopping.received()) || undefined);
  assert(stopping.received().includes(told!), stopping.received());
  const body = JSON.stringify({ amount: 12_000, currency: 'mad' });
  const create = (idempotencyKey: string) =>
    `POST /v1/payment_intents HTTP/1.1\r\nHost: pay\r\nAuthorization: Bearer ${key}\r\nIdempotency-Key: ${idempotencyKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const [number, { socket, received }] of [kept, await open(service, '')].entries()) {
    const ended = once(socket, 'end');
    socket.write(create(`order-${number}`));
    await ended;
    assert.match(received(), / 200 OK[\s\S]*connection: close/i);
  }
  await service.kill();
  const hurried = await notice(1);
  await stopWith(hurried, 'SIGTERM');
});

test('it runs on, and stops, although nobody reads its output any more', async () => {
  const service = await startService({ env: { ...env, PAYMENTS_LOG_LEVEL: 'info' } });
  service.process.stdout!.destroy();
  service.process.stderr!.destroy();
  const { key } = await newOrganization(service);
  for (let i = 0; i < 100; i++) assert.equal((await service.call('/v1/account', { key })).status, 200);
  await stopWith(service, 'SIGTERM');
});

test('told several times, it stops once', async () => {
  const service = await startService({ env });
  await stopWith(service, 'SIGTERM', 'SIGINT', 'SIGTERM');
});

for (const part of ['format.json', 'directory', 'shard-0', 'operator.sock'])
  test(`told when it has just made ${part}, it stops in order`, async () => {
    const dataDir = temporaryFolder();
    let exited: Promise<unknown[]> = Promise.resolve([]);
    const onSpawn = (child: ChildProcess) => {
      exited = once(child, 'exit');
      const look = () => {
        if (existsSync(join(dataDir, part))) child.kill('SIGTERM');
        else if (child.exitCode === null) setImmediate(look);
      };
      look();
    };
    await startService({ dataDir, env, onSpawn }).then(
      (service) => service.stop(),
      () => {},
    );
    assert.deepEqual(await exited, [0, null]);
    const service = await startService({ dataDir, env });
    assert.equal(await service.stop(), 0);
  });

test('neither idle connections, nor half requests, nor a reader that is stuck hold it up', async () => {
  // The last checkpoint has little to write.
  const service = await startService({ env: { ...env, PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '200' } });
  const { key } = await newOrganization(service);
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`name-${i}`, 'x'.repeat(500)]));
  const body = { amount: 12_000, currency: 'mad', metadata };
  const create = (number: number) =>
    service.call('/v1/payment_intents', { key, body, idempotencyKey: `create-${number}` });
  for (let number = 0; number < 600; number += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => create(number + i)));
  }
  const idle = await open(service, '');
  const kept = await open(service, 'GET /healthz HTTP/1.1\r\nHost: pay\r\n\r\n');
  const half = await open(
    service,
    `POST /v1/payment_intents HTTP/1.1\r\nHost: pay\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{`,
  );
  const stuck = await open(
    service,
    `GET /v1/exports/payment_intents?format=ndjson HTTP/1.1\r\nHost: pay\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
  await service.until(() => /200 OK/.exec(stuck.received()) ?? undefined);
  stuck.socket.pause();
  await service.until(() => /200 OK/.exec(kept.received()) ?? undefined);
  // Time for the export to fill what the kernel takes for a reader that doesn't read.
  await wait(200);
  const closed = Promise.all([idle, kept, half].map(({ socket }) => once(socket, 'close')));
  await stopWith(service, 'SIGTERM');
  await closed;
  stuck.socket.destroy();
});
