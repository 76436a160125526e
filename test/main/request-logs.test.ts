// The request logs of a running service, as `payments logs` shows them.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import type { LoggedRequest } from '../../src/contract/routes/logged-request.ts';
import { runCommandLine } from '../operator/cli/command-line.ts';
import { newOrganization, type Service, startService, withRequestLogs } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { pasteBlock } from './payments-command.ts';

const card = '4242424242424242';
const dataDir = temporaryFolder();
let service: Service;
let shop: { readonly id: string; readonly key: string };
before(async () => {
  service = await startService({
    dataDir,
    env: { ...withRequestLogs, ...webhookEnv },
  });
  shop = await newOrganization(service);
});
after(() => service.stop());

const run = (...args: string[]) => runCommandLine(['logs', ...args], { dataDir: () => dataDir });
const logs = async (...args: string[]) => {
  const { code, out, error } = await run('--json', ...args);
  assert.equal(code, 0, error);
  return out
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LoggedRequest & { organization: string; mode: string });
};
/** The entry of a request, once it is written. */
const logged = (request: string) =>
  service.until(async () => (await logs('--org', shop.id)).find((entry) => entry.request === request));

test('a request is in the log of its organization with its answer, and nothing of its key', async () => {
  const call = { key: shop.key, idempotencyKey: 'order-1', body: { amount: 12_000, currency: 'mad' } };
  const created = await service.call('/v1/payment_intents', call);
  const replayed = await service.call('/v1/payment_intents', call);
  const entry = await logged(replayed.headers.get('request-id')!);
  assert.equal(entry.original_request, created.headers.get('request-id'));
  const [first] = await logs(created.headers.get('request-id')!);
  assert.deepEqual(JSON.parse(first!.request_body), call.body);
  assert.deepEqual(JSON.parse(first!.answer_body), created.json);
  assert.equal(first!.organization, shop.id);
  const { time: _, duration_ms, key, request_body, answer_body, ...rest } = first!;
  assert.match(key!, /^key_/);
  assert.deepEqual(rest, {
    organization: shop.id,
    mode: 'test',
    request: created.headers.get('request-id'),
    status: 200,
    code: null,
    method: 'POST',
    path: '/v1/payment_intents',
    query: '',
    idempotency_key: 'order-1',
    replayed: false,
    original_request: null,
    api_version: null,
    member: null,
    address: '127.0.0.1',
    object: created.json.id,
    request_cut: false,
    answer_cut: false,
    masked: false,
  });
  assert.ok(!JSON.stringify(await logs('--org', shop.id)).includes(shop.key));
  const found = async (...args: string[]) =>
    (await logs('--org', shop.id, ...args)).map(({ request }) => request);
  const both = [first!.request, entry.request];
  assert.deepEqual(await found('--key', 'order-1', '--mode', 'test'), both);
  assert.deepEqual(await found('--object', created.json.id, '--since', '1h'), both);
  assert.deepEqual(await found('--mode', 'live'), []);
  const shown = await run(first!.request);
  assert.match(shown.out, /^status +200$/m);
  assert.match(shown.out, /^ {2}"amount": 12000,$/m);
});

test('a refusal at the edge, a refused card number and a secret are logged as they may be', async () => {
  const wrong = await service.call('/v1/nothing', { key: shop.key });
  const refused = await service.call('/v1/payment_intents', {
    key: shop.key,
    idempotencyKey: 'order-2',
    body: { amount: 100, currency: 'mad', description: card },
  });
  assert.equal(refused.status, 400);
  const endpoint = await service.call('/v1/webhook_endpoints', {
    key: shop.key,
    body: { url: 'http://127.0.0.1:9/hook', enabled_events: ['*'] },
  });
  assert.match(endpoint.json.secret, /^svc_whsec_/);
  const unknown = await service.call('/v1/account', { key: 'svc_sk_test_nobody' });
  await logged(endpoint.headers.get('request-id')!);
  const all = await logs('--org', shop.id);
  const entryOf = ({ headers }: typeof wrong) =>
    all.find(({ request }) => request === headers.get('request-id'));
  assert.deepEqual([entryOf(wrong)?.status, entryOf(wrong)?.code], [404, 'unrecognized_request_url']);
  assert.equal(entryOf(refused)?.masked, true);
  assert.equal(JSON.parse(entryOf(endpoint)!.answer_body).secret, '[redacted]');
  const text = JSON.stringify(all);
  assert.ok(!text.includes(card) && !text.includes(endpoint.json.secret));
  assert.equal(entryOf(unknown), undefined);
  const failed = await logs('--org', shop.id, '--status', '4xx', '--limit', '2');
  assert.deepEqual(
    failed.map(({ request }) => request),
    [wrong, refused].map(({ headers }) => headers.get('request-id')),
  );
});

test('the log can be followed', async () => {
  const entry = join(import.meta.dirname, '..', '..', 'src', 'main', 'payments.ts');
  const args = ['logs', '--org', shop.id, '--status', '404', '--follow', '--limit', '1', '--json'];
  const child = spawn(process.execPath, [entry, ...args, '--data-dir', dataDir], {
    env: { ...process.env, NODE_ENV: 'test' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  await lines.next();
  const { headers } = await service.call('/v1/payment_intents/pi_1', { key: shop.key });
  assert.equal(JSON.parse((await lines.next()).value).request, headers.get('request-id'));
  child.kill();
  await once(child, 'exit');
});

test('what was answered before a stop is in the log after it, and the log goes on after a kill', async () => {
  const last = await service.call('/v1/account', { key: shop.key });
  assert.equal(await service.stop(), 0);
  const [entry] = await logs(last.headers.get('request-id')!);
  assert.equal(entry?.path, '/v1/account');
  service = await startService({ dataDir, env: withRequestLogs });
  await logged((await service.call('/v1/account', { key: shop.key })).headers.get('request-id')!);
  await service.kill();
  service = await startService({ dataDir, env: withRequestLogs });
  const { headers } = await service.call('/v1/account', { key: shop.key });
  await logged(headers.get('request-id')!);
  assert.ok((await logs('--org', shop.id)).some(({ request }) => request === entry!.request));
});

test('the commands of the runbook find what they are for', async () => {
  const { json, headers } = await service.call('/v1/payment_intents', {
    key: shop.key,
    idempotencyKey: 'order-1001',
    body: { amount: 500, currency: 'mad' },
  });
  const REQ = headers.get('request-id')!;
  await logged(REQ);
  const { code, out, error } = await pasteBlock('docs/operations.md', '## Request logs', {
    REQ,
    ORG: shop.id,
    PI: json.id,
    PAYMENTS_DATA_DIR: dataDir,
  });
  assert.equal(code, 0, error);
  const [whole, ...lines] = out.split(/(?=^\d{4}-|^\{"org)/m);
  assert.match(whole!, new RegExp(`^request +${REQ}$`, 'm'));
  assert.equal(lines.length, 2);
  for (const line of lines) assert.match(line, new RegExp(REQ));
});

test('a folder without request logs is not taken for one in which nothing is logged', async () => {
  const empty = temporaryFolder();
  for (const [folder, message] of [
    [empty, `${empty} has no request logs: name the data folder with --data-dir`],
    [`${empty}/none`, `there is no folder ${empty}/none (ENOENT): name the data folder with --data-dir`],
  ] as const)
    for (const args of [['--org', shop.id], ['req_1']]) {
      const { code, error } = await runCommandLine(['logs', ...args], { dataDir: () => folder });
      assert.deepEqual([code, error], [1, `payments: ${message}\n`]);
    }
});

test('wrong usage is refused with a word about it', async () => {
  const cases: readonly (readonly [args: string[], message: RegExp])[] = [
    [[], /name a request, or an organization/],
    [['--org', 'pi_1'], /pi_1 is no id of an organization/],
    [['--org', shop.id, '--status', '6xx'], /It must be a status such as 404/],
    [['req_nothing'], /no request log has req_nothing/],
  ];
  for (const [args, message] of cases) {
    const { code, error } = await run(...args);
    assert.notEqual(code, 0);
    assert.match(error, message);
  }
});
