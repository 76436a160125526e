// The client for Node against a running service: as it is packed, with no answer, with refusals that pass and that stay, page by
// page, and with deliveries that the service's own code has signed.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { Payments, PaymentsError, verifyWebhook } from '../../clients/node/payments.ts';
import { typeFiles } from '../../clients/write-types.ts';
import { signatureHeader } from '../../src/crypto/signed-message.ts';
import { type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startStumbling } from './stumbling-server.ts';

const root = join(import.meta.dirname, '../..');
let service: Service;
let network: Awaited<ReturnType<typeof startStumbling>>;
let waits: number[];
let payments: Payments;
before(async () => {
  service = await startService();
  network = await startStumbling(service.url);
});
beforeEach(() => {
  waits = [];
  network.stumbles.length = 0;
  network.arrived.length = 0;
  const wait = async (ms: number) => void waits.push(ms);
  payments = new Payments({ url: network.url, key: service.keys!.secret, wait });
});
after(async () => {
  network?.close();
  await service?.stop();
});

test('the types are what `npm run docs` writes', () => {
  for (const [path, text] of Object.entries(typeFiles())) {
    assert.equal(readFileSync(join(root, 'clients', path), 'utf8'), text, path);
  }
});

test('a payment is created, paid, refunded and looked at', async () => {
  const intent = await payments.send(
    'POST /v1/payment_intents',
    { amount: 25_000, currency: 'mad', metadata: { order_id: '1' } },
    { idempotencyKey: 'order-1' },
  );
  const { latest_charge: id } = await payments.send(
    'POST /v1/payment_intents/{id}/confirm',
    { id: intent.id },
    { idempotencyKey: 'confirm-1' },
  );
  await payments.send('POST /v1/test_helpers/charges/{id}/complete', { id: id! });
  const refund = await payments.send(
    'POST /v1/refunds',
    { payment_intent: intent.id, amount: 10_000 },
    { idempotencyKey: 'refund-1' },
  );
  assert.deepEqual([refund.amount, refund.status], [10_000, 'pending']);
  const paid = await payments.send('GET /v1/payment_intents/{id}', { id: intent.id });
  assert.equal(paid.status, 'succeeded');
  assert.match(await payments.send('GET /v1/exports/refunds', { format: 'csv' }), /^id,/);
});

test('what stumbles is sent again with the same key, and runs once', async () => {
  network.stumbles.push(
    'no answer',
    'answer lost',
    { status: 503, code: 'api_error' },
    { status: 409, code: 'idempotency_in_progress' },
  );
  const order = { amount: 30_000, currency: 'mad' } as const;
  const { id } = await payments.send('POST /v1/payment_intents', order, { idempotencyKey: 'order-2' });
  assert.deepEqual([...new Set(network.arrived.map((each) => each.idempotencyKey))], ['order-2']);
  assert.equal(network.arrived.length, 5);
  assert.equal(waits.length, 4);
  assert.ok(waits[3]! > waits[0]! * 2, String(waits));
  const same = await payments.send('POST /v1/payment_intents', order, { idempotencyKey: 'order-2' });
  assert.equal(same.id, id);
  const made = (await service.call('/v1/payment_intents?limit=100')).json.data;
  assert.equal(made.filter(({ amount }: { amount: number }) => amount === 30_000).length, 1);
});

test('a call without a key of its own has one for all its attempts', async () => {
  network.stumbles.push('answer lost');
  await payments.send('POST /v1/customers', { email: 'amina@shop.example' });
  const [first, second] = network.arrived.map((each) => each.idempotencyKey);
  assert.match(first!, /^[0-9a-f-]{36}$/);
  assert.equal(first, second);
});

test('a rate limit is waited for as long as it says, and the daily cap is not', async () => {
  network.stumbles.push({ status: 429, code: 'rate_limit_exceeded', retryAfter: 2 });
  await payments.send('GET /v1/account');
  assert.deepEqual(waits, [2_000]);
  network.stumbles.push({ status: 429, code: 'test_daily_cap_reached', retryAfter: 3_600 });
  await assert.rejects(payments.send('GET /v1/account'), { code: 'test_daily_cap_reached' });
  assert.equal(waits.length, 1);
});

test('waits grow while a service that recovers says to wait for a second', async () => {
  network.stumbles.push(
    ...Array.from({ length: 4 }, () => ({ status: 503, code: 'api_error', retryAfter: 1 })),
  );
  await payments.send('GET /v1/account');
  assert.ok(waits[0] === 1_000 && waits[3]! >= 3_000, String(waits));
});

test('a Retry-After that is no number of seconds is as good as none', async () => {
  const retryAfter = 'Thu, 26 Nov 2026 17:00:00 GMT';
  network.stumbles.push({ status: 503, code: 'api_error', retryAfter }, { status: 503, code: 'api_error' });
  await payments.send('GET /v1/account');
  assert.ok(waits[0]! >= 375 && waits[1]! > waits[0]!, String(waits));
});

test('other refusals are not sent again, and say what they are', async () => {
  const refused = payments.send('GET /v1/payment_intents/{id}', { id: 'pi_none' });
  const error = await refused.catch((caught: unknown) => caught);
  assert.ok(error instanceof PaymentsError);
  assert.deepEqual(
    [error.status, error.code, error.type],
    [404, 'resource_missing', 'invalid_request_error'],
  );
  assert.match(error.requestId!, /^req_/);
  assert.equal(network.arrived.length, 1);
  network.stumbles.push(...Array.from({ length: 9 }, () => 'no answer' as const));
  await assert.rejects(payments.send('GET /v1/account'));
  assert.equal(network.arrived.length, 1 + 5);
});

test('JSON of something else on the way is no refusal of the service: it is sent again', async () => {
  const bodies = ['{"error":"Bad Gateway"}', '{"error":null}', '{"message":"down"}', '[]'];
  network.stumbles.push(...bodies.map((body) => ({ status: 502, body })));
  assert.equal((await payments.send('GET /v1/account')).object, 'account');
  assert.equal(waits.length, 4);
});

test('what can not be sent as a key is refused, and neither sent nor quoted', async () => {
  const order = { amount: 25_000, currency: 'mad' } as const;
  for (const idempotencyKey of ['order\r\nX: 1', 'commandé', '', 'x'.repeat(256)])
    await assert.rejects(
      payments.send('POST /v1/payment_intents', order, { idempotencyKey }),
      /1 to 255 printable ASCII/,
    );
  const key = `${service.keys!.secret}\n`;
  assert.throws(
    () => new Payments({ url: network.url, key }),
    ({ message }: Error) => /no API key/.test(message) && !message.includes('svc_sk'),
  );
  assert.equal(network.arrived.length, 0);
});

test('a setting that is undefined is as one that is left out', async () => {
  const { url } = network;
  const settings = { url, key: service.keys!.secret, attempts: undefined, timeoutMs: undefined };
  network.stumbles.push(...Array.from({ length: 9 }, () => 'no answer' as const));
  const wait = async () => {};
  await assert.rejects(new Payments({ ...settings, wait }).send('GET /v1/account'), /fetch failed/);
  assert.equal(network.arrived.length, 5);
});

test('a list is read page by page, each object once', async () => {
  for (const number of ['1', '2', '3', '4', '5']) {
    await payments.send('POST /v1/customers', { name: `Page ${number}`, metadata: { page: 'yes' } });
  }
  network.arrived.length = 0;
  const ids: string[] = [];
  for await (const customer of payments.all('GET /v1/customers', { limit: 2 })) ids.push(customer.id);
  assert.equal(ids.length, 6);
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.equal(network.arrived.length, 3);
  const before: string[] = [];
  const params = { limit: 2, ending_before: ids.at(-1)! };
  for await (const customer of payments.all('GET /v1/customers', params)) before.push(customer.id);
  assert.deepEqual(before.toSorted().toReversed(), ids.slice(0, -1));
});

test('a webhook is verified: what the service has signed, and nothing else', () => {
  const body = JSON.stringify({ id: 'evt_1', type: 'payment_intent.succeeded', note: 'é خلاص' }, null, 1);
  const [secret, timestampSeconds] = ['svc_whsec_0123456789ABCDEFGHIJabcdefghij', 1_793_610_000];
  const header = signatureHeader({ secrets: [secret], timestampSeconds, body });
  assert.equal(verifyWebhook(body, header, secret, timestampSeconds + 299)?.id, 'evt_1');
  assert.equal(verifyWebhook(Buffer.from(body), header, secret, timestampSeconds)?.id, 'evt_1');
  assert.equal(verifyWebhook(body, header, secret, timestampSeconds + 301), null);
  assert.equal(verifyWebhook(`${body} `, header, secret, timestampSeconds), null);
  assert.equal(verifyWebhook(body, header, `${secret}x`, timestampSeconds), null);
  for (const wrong of [null, '', 't=1', header.replace(/t=\d+/, 't=x'), header.replace('v1', 'v0')]) {
    assert.equal(verifyWebhook(body, wrong, secret, timestampSeconds), null);
  }
});

test('the package is built with all that it needs, and its types refuse a wrong amount', () => {
  const folder = temporaryFolder();
  cpSync(join(root, 'clients/node'), join(folder, 'client'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const client = join(folder, 'client');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', client]);
  cpSync(join(client, 'types.d.ts'), join(client, 'dist/types.d.ts'));
  assert.deepEqual(readdirSync(join(client, 'dist')).toSorted(), [
    'payments.d.ts',
    'payments.js',
    'types.d.ts',
  ]);
  const program = (amount: string) => `import { Payments } from './client/dist/payments.js';
const payments = new Payments({ url: '${service.url}', key: '${service.keys!.secret}' });
const { amount } = await payments.send('POST /v1/payment_intents', { amount: ${amount}, currency: 'mad' }, { idempotencyKey: 'packed' });
console.log(amount.toFixed(0));\n`;
  const guide = readFileSync(join(root, 'docs/guide/clients.md'), 'utf8');
  const shown = /^```ts\n([\s\S]*?)^```$/m.exec(guide)![1]!;
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'shop.ts'), program('12_000'));
  writeFileSync(join(folder, 'wrong.ts'), program("'12000'"));
  writeFileSync(join(folder, 'guide.ts'), shown.replace("'payments-client'", "'./client/dist/payments.js'"));
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  // All in one run: to read the types of Node takes most of it.
  const compiled = spawnSync(process.execPath, [tsc, ...options, 'shop.ts', 'wrong.ts', 'guide.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const errors = compiled.stdout.split('\n').filter((line) => line.includes('error TS'));
  assert.equal(errors.length, 1, compiled.stdout);
  assert.match(errors[0]!, /^wrong\.ts.* not assignable to type 'number'/);

  assert.equal(execFileSync(process.execPath, ['shop.js'], { cwd: folder }).toString(), '12000\n');
  const env = { ...process.env, URL: service.url, KEY: service.keys!.secret };
  assert.match(
    execFileSync(process.execPath, ['guide.js'], { cwd: folder, env }).toString(),
    /\/checkout\/cs_/,
  );
});
