// `payments history`, and `payments wal` on a backup and an archive: on a running service, on what it leaves, and where the
// log does not reach back any more.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openLogAt } from '../../src/backup/log-folders.ts';
import { nameOfAsker } from '../../src/operator/audit/audit-row.ts';
import { asker } from '../../src/operator/socket/operator-client.ts';
import { pasteBlock, payments } from '../main/payments-command.ts';
import { type Printed, runCommandLine } from '../operator/cli/command-line.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';

let service: Service;
const made = { intent: '', charge: '', review: '', endpoint: '', secret: '', requests: [] as string[] };
const backup = join(temporaryFolder(), 'backup');
const archive = temporaryFolder();

before(async () => {
  service = await startService({ env: { PAYMENTS_SHARDS: '1', ...webhookEnv } });
  const { id: org, key } = await newOrganization(service);
  const send = async (path: string, body: object, idempotencyKey: string) => {
    const { status, json, headers } = await service.call(path, { key, body, idempotencyKey });
    assert.equal(status, 200, JSON.stringify(json));
    made.requests.push(headers.get('request-id')!);
    return json;
  };
  const order = { amount: 12_000, currency: 'mad', metadata: { order: 'A', note: 'x' } };
  made.intent = (await send('/v1/payment_intents', order, 'order-1')).id;
  await send(`/v1/payment_intents/${made.intent}`, { metadata: { order: 'B', note: '' } }, 'change-1');
  made.charge = (await send(`/v1/payment_intents/${made.intent}/confirm`, {}, 'confirm-1')).latest_charge;
  await send(`/v1/payment_intents/${made.intent}/cancel`, {}, 'cancel-1');
  const endpoint = await send(
    '/v1/webhook_endpoints',
    { url: 'http://127.0.0.1:9/x', enabled_events: ['*'] },
    'hook',
  );
  made.endpoint = endpoint.id;
  made.secret = endpoint.secret;
  await service.operate('trigger', { org, type: 'review.closed' });
  made.review = (
    await service.operate<{ id: string }[]>('review.list', { org, mode: 'test', openOnly: false })
  )[0]!.id;
  const { code, error } = await payments('backup', '--to', backup, '--data-dir', service.dataDir);
  assert.equal(code, 0, error);
});

after(() => service.stop());

function run(...args: readonly string[]): Promise<Printed> {
  return runCommandLine(args, { dataDir: (given) => given ?? service.dataDir, openLog: openLogAt });
}

interface Step {
  readonly what: string;
  readonly by: string | null;
  readonly name: string | null;
  readonly place: string | null;
  readonly requests: readonly string[];
  readonly idempotency_key: string | null;
  readonly events: readonly string[];
  readonly changes: readonly { readonly field: string; readonly from?: unknown; readonly to: unknown }[];
}

async function historyOf(id: string, ...args: readonly string[]) {
  const { code, out, error } = await run('history', id, '--json', ...args);
  assert.equal(code, 0, error);
  return JSON.parse(out) as { steps: Step[]; record: Record<string, unknown>; log_since: string | null };
}

const changeOf = ({ changes }: Step, name: string) => changes.find(({ field }) => field === name);

async function expectWhole(...args: readonly string[]): Promise<void> {
  const { steps, record } = await historyOf(made.intent, ...args);
  const [created, changed, called, opened, canceled] = steps as [Step, Step, Step, Step, Step];
  assert.equal(steps.length, 5, JSON.stringify(steps));
  assert.deepEqual(
    steps.map(({ what, by, events }) => [what, by, events.join()]),
    [
      ['created', 'request', 'payment_intent.created'],
      ['changed', 'request', ''],
      ['changed', 'request', ''],
      ['changed', 'network', 'payment_intent.requires_action'],
      ['changed', 'request', 'payment_intent.canceled'],
    ],
  );
  assert.deepEqual(
    steps.map(({ requests }) => requests),
    [0, 1, 2, 2, 3].map((request) => [made.requests[request]]),
  );
  assert.equal(created.idempotency_key, 'order-1');
  assert.deepEqual(changeOf(created, 'amount'), { field: 'amount', from: null, to: 12_000 });
  assert.deepEqual(changed.changes, [
    { field: 'metadata.order', from: 'A', to: 'B' },
    { field: 'metadata.note', from: 'x', to: null },
  ]);
  assert.match(String(changeOf(called, 'network_call')!.to), /^op_/);
  assert.deepEqual(changeOf(opened, 'latest_charge'), {
    field: 'latest_charge',
    from: null,
    to: made.charge,
  });
  assert.deepEqual(changeOf(canceled, 'status'), {
    field: 'status',
    from: 'requires_action',
    to: 'canceled',
  });
  assert.equal(record.status, 'canceled');
}

test('the history of an object has every change with its cause', async () => {
  await expectWhole();
  const human = (await run('history', made.intent)).out;
  assert.match(human, /^ {2}status: "requires_action" → "canceled"$/m);
  assert.match(
    human,
    new RegExp(`changed: payment_intent.canceled, by request ${made.requests[3]} \\(key cancel-1\\)`),
  );
  const { steps } = await historyOf(made.review);
  assert.deepEqual([steps.at(-1)!.by, steps.at(-1)!.name], ['operator', nameOfAsker(asker())]);
  assert.deepEqual(changeOf(steps.at(-1)!, 'open'), { field: 'open', from: true, to: false });
});

test('no secret is in a history', async () => {
  for (const args of [[], ['--json']]) {
    const { out, code } = await run('history', made.endpoint, ...args);
    assert.equal(code, 0);
    assert.match(out, /\(hidden\)/);
    assert(!out.includes(made.secret) && !out.includes('whsec'));
  }
});

test('a backup and an archive are read like a data folder', async () => {
  await expectWhole('--from', backup);
  const { folder } = JSON.parse(
    readFileSync(join(backup, 'manifest.json'), 'utf8').split('\n').slice(1).join('\n'),
  );
  const archived = join(archive, folder.id, 'generation-0', 'shard-0');
  mkdirSync(archived, { recursive: true });
  cpSync(join(backup, 'shard-0/log'), archived, { recursive: true });
  await expectWhole('--archive', archive);
  // What both of them hold counts once.
  await expectWhole('--from', backup, '--archive', archive);
  for (const place of [
    ['--from', backup],
    ['--archive', archive],
  ]) {
    const verified = await run('wal', 'verify', '--json', ...place);
    assert.equal(verified.code, 0, verified.error);
    const [shard] = JSON.parse(verified.out).shards;
    assert.deepEqual([shard.first_sequence, shard.entries], [1, shard.last_sequence]);
    assert.match(
      (await run('wal', 'list', '--limit', '1', ...place)).out,
      new RegExp(` 0:${shard.last_sequence} `),
    );
  }
});

test('the examples of the operations page work as they stand', async () => {
  const names = { BACKUP: backup, ARCHIVE: archive, PI: made.intent };
  const { code, out, error } = await pasteBlock('docs/operations.md', '### The log of a backup', names);
  assert.equal(code, 0, error);
  assert.doesNotMatch(error, /payments:|damaged/);
  assert.match(out, /The log in \S+ is as it was written/);
  assert.match(out, /status: "requires_action" → "canceled"/);
});

test('damage in a backup is told with its place, and what comes before it is read', async () => {
  const copy = join(temporaryFolder(), 'copy');
  cpSync(backup, copy, { recursive: true });
  // Behind a damaged file reading goes on; what the service wrote meanwhile may be in a second one.
  const newest = readdirSync(join(copy, 'shard-0/log')).sort().at(-1)!;
  const file = join(copy, 'shard-0/log', newest);
  const bytes = readFileSync(file);
  const at = Math.floor(bytes.length / 2);
  bytes[at]! ^= 0xff;
  writeFileSync(file, bytes);
  const { code, out } = await run('wal', 'verify', '--json', '--from', copy);
  assert.equal(code, 1);
  const { findings, shards } = JSON.parse(out);
  assert.equal(findings.length, 1);
  assert.equal(findings[0].file, file);
  assert(findings[0].byte <= at && at - findings[0].byte < 10_000);
  assert.equal(findings[0].from_sequence, shards[0].last_sequence + 1);
  assert.match(findings[0].advice, /make another one while the original is good/);
});

test('what is before the log is told by the events and the record', async () => {
  await service.stop();
  await expectWhole();
  const log = join(service.dataDir, 'shard-0/log');
  for (const segment of readdirSync(log)) rmSync(join(log, segment), { recursive: true });
  const { steps, record, log_since } = await historyOf(made.intent);
  assert.equal(log_since, null);
  assert.deepEqual(
    steps.map(({ what, events, requests }) => [what, events.join(), requests.join()]),
    [
      ['event', 'payment_intent.created', made.requests[0]],
      ['event', 'payment_intent.requires_action', made.requests[2]],
      ['event', 'payment_intent.canceled', made.requests[3]],
    ],
  );
  assert.deepEqual([record.status, (record.metadata as { order: string }).order], ['canceled', 'B']);
  assert.match((await run('history', made.intent)).out, /The log is empty: what was before that is told by/);
});

test('an object that is not there is refused', async () => {
  const nobody = made.intent.replace(/.{8}$/, '00000000');
  for (const [args, message] of [
    [[nobody], /has nothing of pi_/],
    [['nothing'], /nothing is no id of an object/],
    [[made.intent, '--from', '/nonexistent'], /holds no backup/],
    [[made.intent, '--archive', '/nonexistent'], /is no archive/],
    [[made.intent, '--archive', import.meta.filename], /^payments: ENOTDIR/],
    [[made.intent, '--data-dir', import.meta.filename], /^payments: ENOTDIR/],
  ] as const) {
    const { code, error } = await run('history', ...args);
    assert.equal(code, 1);
    assert.match(error, message);
  }
});
