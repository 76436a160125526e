// The package `payments-cli`, packed and installed as a developer without a checkout has it, beside a real service.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Stripe from 'stripe';
import { liveKey, newOrganization, type Service, startService, withRequestLogs } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startReceiver } from '../webhooks/receiver.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let service: Service;
let key = '';
let cli = '';
before(async () => {
  service = await startService({ env: withRequestLogs });
  ({ key } = await newOrganization(service));
  const folder = temporaryFolder();
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  npm(root, 'run', 'pack:cli', '--', '--pack-destination', folder);
  const [packed] = readdirSync(folder);
  npm(folder, 'install', '--offline', '--no-audit', '--no-fund', `./${packed}`);
  cli = join(folder, 'node_modules/.bin/payments-cli');
});
after(() => service.stop());

const environment = (apiKey = key) => ({ PATH: process.env.PATH, PAYMENTS_API_KEY: apiKey });

function run(args: readonly string[], apiKey = key) {
  return new Promise<{ code: number; out: string; error: string }>((resolve) => {
    const given = [...args, '--url', service.url];
    execFile(process.execPath, [cli, ...given], { env: environment(apiKey) }, (failure, out, error) =>
      resolve({ code: Number(failure?.code ?? 0), out, error }),
    );
  });
}

test('listen shows the events that trigger makes, and forwards them with a signature', async () => {
  const receiver = await startReceiver();
  const args = ['--json', 'listen', '--forward-to', `${receiver.origin}/hooks`, '--url', service.url];
  const listening = spawn(process.execPath, [cli, ...args], { env: environment() });
  try {
    const lines = createInterface(listening.stdout)[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value);
    const { secret } = await next();
    const { code, out } = await run(['trigger', 'payment_intent.succeeded']);
    assert.equal(code, 0);
    assert.match(out, /^type +payment_intent\.succeeded$/m);
    let shown = await next();
    while (shown.event.type !== 'payment_intent.succeeded') shown = await next();
    assert.equal(shown.forwarded.status, 200);
    const { body, headers } = receiver.requests.at(-1)!;
    const signature = String(headers['svc-signature'] ?? headers['x-service-signature']);
    assert.doesNotThrow(() => new Stripe('sk_test_1').webhooks.constructEvent(body, signature, secret));
  } finally {
    listening.kill();
    await once(listening, 'close');
    await receiver.close();
  }
});

test('logs that follow wait before they go on after a stream that has ended', async () => {
  const asked: { readonly position: string | undefined; readonly ms: number }[] = [];
  const third = Promise.withResolvers<void>();
  const ending = createServer(({ headers }, response) => {
    asked.push({ position: headers['last-event-id'] as string | undefined, ms: performance.now() });
    if (asked.length === 3) third.resolve();
    response.end('event: now\nid: 5-1\ndata: {}\n\n');
  }).listen(0, '127.0.0.1');
  await once(ending, 'listening');
  const url = `http://127.0.0.1:${(ending.address() as AddressInfo).port}`;
  const following = spawn(process.execPath, [cli, 'logs', '--follow', '--url', url], { env: environment() });
  try {
    await third.promise;
  } finally {
    following.kill();
    await once(following, 'close');
    ending.close();
  }
  const [first, second, last] = asked as [(typeof asked)[0], (typeof asked)[0], (typeof asked)[0]];
  assert.deepEqual([first.position, second.position, last.position], [undefined, '5-1', '5-1']);
  assert(last.ms - first.ms > 1_000, 'two pauses');
});

test('logs lists requests, finds one by its id at once, and follows new ones', async () => {
  const missing = await service.call('/v1/payment_intents/pi_none', { key });
  const id = missing.headers.get('request-id')!;
  const one = await run(['logs', id]);
  assert.equal(one.code, 0, one.error);
  assert.match(one.out, /^path +\/v1\/payment_intents\/pi_none$/m);
  const listed = await run(['logs', '--status', '4xx']);
  assert.match(listed.out, new RegExp(`test  ${id}  404  GET /v1/payment_intents/pi_none  resource_missing`));
  assert.equal((await run(['logs', '--path', '/v1/refunds'])).out, '');
  const json = (await run(['--json', 'logs', '--limit', '1', '--object', 'pi_none'])).out;
  assert.equal(JSON.parse(json).request, id);

  const following = spawn(
    process.execPath,
    [cli, '--json', 'logs', '--follow', '--limit', '1', '--url', service.url],
    {
      env: environment(),
    },
  );
  try {
    const lines = createInterface(following.stdout)[Symbol.asyncIterator]();
    await lines.next();
    await service.call('/v1/account', { key });
    let entry = JSON.parse((await lines.next()).value);
    while (entry.path !== '/v1/account') entry = JSON.parse((await lines.next()).value);
    assert.equal(entry.status, 200);
  } finally {
    following.kill();
    await once(following, 'close');
  }
});

test('a reader that closes early, as head does, ends it without a word', async () => {
  const following = spawn(process.execPath, [cli, 'logs', '--follow', '--url', service.url], {
    env: environment(),
  });
  let error = '';
  following.stderr.on('data', (text) => (error += text));
  await service.call('/v1/account', { key });
  await once(following.stdout, 'data');
  following.stdout.destroy();
  const closed = once(following, 'close');
  while (following.exitCode === null) await service.call('/v1/account', { key });
  await closed;
  assert.deepEqual([following.exitCode, error], [0, '']);
});

test('another organization sees none of it', async () => {
  const { key: stranger } = await newOrganization(service);
  const missing = await service.call('/v1/payment_intents/pi_mine', { key });
  const { code, error } = await run(['logs', missing.headers.get('request-id')!], stranger);
  assert.deepEqual([code, /no request log has req_/.test(error)], [1, true], error);
  assert.doesNotMatch((await run(['logs'], stranger)).out, /pi_mine/);
});

test('what can not be is refused in one line', async () => {
  const { id } = await newOrganization(service);
  const live = await liveKey(service, id);
  const cases: readonly (readonly [args: string[], key: string, code: number, said: RegExp])[] = [
    [['logs'], '', 2, /PAYMENTS_API_KEY/],
    [['logs'], 'sk_test_wrong', 1, /\(api_key_invalid\)|api_key/],
    [['listen'], live, 1, /test_mode_only/],
    [['trigger', 'nonsense'], key, 2, /there is no event type nonsense/],
    [['logs', '--status', '9xx'], key, 1, /status/],
    [['nonsense'], key, 2, /unknown command/],
  ];
  for (const [args, apiKey, code, said] of cases) {
    const { error, ...rest } = await run(args, apiKey);
    assert.equal(rest.code, code, `${args}: ${error}`);
    assert.match(error, said);
    assert.equal(error.trim().split('\n').length, 1, error);
    if (apiKey.length > 20) assert.ok(!error.includes(apiKey));
  }
});

test('a path with escapes of a terminal is shown without them', async () => {
  await service.call('/v1/payment_intents/%1b%5b2J', { key });
  await fetch(`${service.url}/v1/payment_intents?limit=\u001b[31mred`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const { out } = await run(['logs', '--limit', '5']);
  assert.ok(!out.includes('\u001b'), JSON.stringify(out));
});
