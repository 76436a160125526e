// `payments wal` beside a running service that goes on writing, and on what it leaves behind.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { openLogAt } from '../../src/backup/log-folders.ts';
import { nameOfAsker } from '../../src/operator/audit/audit-row.ts';
import { asker } from '../../src/operator/socket/operator-client.ts';
import { Customer, goodCard } from '../journeys/customer.ts';
import { pasteBlock } from '../main/payments-command.ts';
import { type Printed, runCommandLine } from '../operator/cli/command-line.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';

const root = join(import.meta.dirname, '..', '..');
const shards = 2;
const tenMinutesMs = 600_000;

let service: Service;
/** What the tests below look for. */
const made = {
  org: '',
  other: '',
  intent: '',
  late: '',
  refund: '',
  review: '',
  customer: '',
  endpoint: '',
  secret: '',
};

before(async () => {
  service = await startService({
    env: {
      PAYMENTS_SHARDS: String(shards),
      // Everything stays in the log alone.
      PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '600000',
      PAYMENTS_ATTEMPTS_CARD_ATTEMPT_SECONDS: '1',
      ...webhookEnv,
    },
  });
  const { id, key } = await newOrganization(service);
  made.org = id;
  made.other = (await newOrganization(service, 'Other')).id;
  const send = async (path: string, body: object, idempotencyKey?: string) => {
    const { status, json } = await service.call(path, {
      key,
      body,
      ...(idempotencyKey && { idempotencyKey }),
    });
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  };
  const endpoint = await send(
    '/v1/webhook_endpoints',
    { url: 'http://127.0.0.1:9/x', enabled_events: ['charge.succeeded'] },
    'hook',
  );
  made.endpoint = endpoint.id;
  made.secret = endpoint.secret;
  const intent = await send('/v1/payment_intents', { amount: 12_000, currency: 'mad' }, 'order-1');
  made.intent = intent.id;
  const confirmed = await send(`/v1/payment_intents/${intent.id}/confirm`, {}, 'confirm-1');
  const customer = new Customer();
  await customer.open(confirmed.next_action.redirect_to_url.url);
  await customer.send(goodCard);
  await service.until(async () => {
    const { json } = await service.call(`/v1/payment_intents/${intent.id}`, { key });
    return json.status === 'succeeded' || undefined;
  });
  made.refund = (await send('/v1/refunds', { payment_intent: intent.id }, 'refund-1')).id;
  made.customer = (await send('/v1/customers', { email: 'a@shop.example' })).id;
  const late = await send('/v1/payment_intents', { amount: 500, currency: 'mad' }, 'order-2');
  made.late = late.id;
  await send(`/v1/payment_intents/${late.id}/confirm`, {}, 'confirm-2');
  await service.operate('trigger', { org: id, type: 'review.closed' });
  made.review = (
    await service.operate<{ id: string }[]>('review.list', { org: id, mode: 'test', openOnly: false })
  )[0]!.id;
  await service.until(async () => {
    const { json } = await service.call(`/v1/payment_intents/${late.id}`, { key });
    return json.last_payment_error === null ? undefined : true;
  });
});

after(() => service.stop());

function log(...args: readonly string[]): Promise<Printed> {
  return runCommandLine(['wal', ...args], {
    dataDir: (given) => given ?? service.dataDir,
    openLog: async (place) => openLogAt(place),
  });
}

interface Summary {
  readonly shard: number;
  readonly sequence: number;
  readonly time: string;
  readonly by: string;
  readonly name: string | null;
  readonly requests: readonly string[];
  readonly idempotency_key: string | null;
  readonly organization: string;
  readonly events: readonly string[];
  readonly objects: readonly string[];
}

async function found(...args: readonly string[]): Promise<Summary[]> {
  const { code, out, error } = await log('search', '--json', ...args);
  assert.equal(code, 0, error);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

test('an entry says who gave its command', async () => {
  const [created, confirmed, opened, ...rest] = await found('--object', made.intent);
  assert.deepEqual(
    [created!.by, created!.events, created!.requests.length],
    ['request', ['payment_intent.created'], 1],
  );
  assert.equal(confirmed!.by, 'request');
  // The network's answer is what opens the charge, on behalf of the request that waits for it.
  assert.deepEqual(
    [opened!.by, opened!.events, opened!.requests],
    ['network', ['payment_intent.requires_action'], confirmed!.requests],
  );
  const paid = rest.find(({ events }) => events.includes('payment_intent.processing'));
  assert.equal(paid!.by, 'customer');
  const succeeded = rest.find(({ events }) => events.includes('payment_intent.succeeded'));
  assert.equal(succeeded!.by, 'network');
  const expired = (await found('--object', made.late)).find(({ events }) => events.includes('charge.failed'));
  assert.equal(expired!.by, 'time');
  const [reviewOpened, closed] = await found('--object', made.review);
  assert.equal(reviewOpened!.by, 'request');
  assert.deepEqual([closed!.by, closed!.name], ['operator', nameOfAsker(asker())]);
  const attempts = await service.until(async () => {
    const list = (await found('--org', made.org)).filter(({ by }) => by === 'webhook');
    return list.length > 0 ? list : undefined;
  });
  assert.match(attempts[0]!.objects.join(), /wha_\w+,whd_/);
  // No response is stored without a key, and the entry names its request all the same.
  const [customer] = await found('--object', made.customer);
  assert.match(customer!.requests.join(), /^req_\w+$/);
});

test('entries are found by object, request, key, organization, sequence and time', async () => {
  const [created] = await found('--object', made.intent);
  const [request] = created!.requests;
  const same = (list: readonly Summary[]) => assert.deepEqual(list, [created]);
  same(await found('--request', request!));
  same(await found('--key', 'order-1', '--org', made.org, '--mode', 'test'));
  same(await found('--sequence', String(created!.sequence), '--shard', String(created!.shard)));
  assert.deepEqual(await found('--key', 'order-1', '--org', made.org, '--mode', 'live'), []);
  assert.deepEqual(await found('--key', 'order-1', '--org', made.other, '--mode', 'test'), []);
  const all = await found('--org', made.org);
  assert(all.length > 10 && all.every(({ organization }) => organization === made.org));
  // Some may have come since.
  assert.deepEqual((await found('--since', '10m', '--org', made.org)).slice(0, all.length), all);
  assert.deepEqual(await found('--since', new Date(Date.now() + tenMinutesMs).toISOString()), []);
  assert.deepEqual(await found('--until', '10m', '--org', made.org), []);
  const { time } = created!;
  assert(
    (await found('--since', time, '--until', time)).some(({ sequence }) => sequence === created!.sequence),
  );
  const from = await found('--sequence', `${created!.sequence}-`, '--shard', String(created!.shard));
  assert.deepEqual(from[0], created);
  const times = (await found('--since', '1h')).map((entry) => entry.time);
  assert.deepEqual(times, [...times].sort());
});

test('the newest entries are listed oldest first', async () => {
  const all = await found('--since', '1h');
  const { out } = await log('list', '--limit', '5', '--json');
  const listed: Summary[] = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const key = ({ shard, sequence }: Summary) => `${shard}:${sequence}`;
  assert.equal(listed.length, 5);
  // The service goes on writing.
  assert(all.map(key).includes(key(listed[0]!)));
  const lines = (await log('list', '--object', made.intent)).out.trim().split('\n');
  assert.equal(lines.length, (await found('--object', made.intent)).length);
  assert.match(
    lines[0]!,
    /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}\d:\d+ +payment_intent.created +request req_\w+ {2}pi_/,
  );
});

test('all of an entry is shown, and no secret', async () => {
  const [{ shard, sequence }] = (await found('--object', made.endpoint)) as [Summary];
  const human = await log('show', `${shard}:${sequence}`);
  const machine = await log('show', `${shard}:${sequence}`, '--json');
  const shown = JSON.parse(machine.out);
  assert.equal(shown.response.body.id, made.endpoint);
  assert.equal(shown.response.body.secret, null);
  assert.equal(shown.changes[0].secrets, '(hidden)');
  assert.match(human.out, /webhook_endpoint we_\w+\n(.*\n)* {2}secrets: \(hidden\)/);
  for (const { out } of [human, machine]) {
    assert(!out.includes(made.secret));
    assert(!out.includes('whsec'));
  }
  const [{ sequence: created }] = (await found('--object', made.intent)) as [Summary];
  const intent = JSON.parse((await log('show', `${shard}:${created}`, '--json')).out);
  assert.equal(intent.changes[0].amount, 12_000);
  assert.equal(intent.changes[1].object.id, made.intent);
  assert.equal(intent.response.body.id, made.intent);
});

test('what can not be is refused in one line', async () => {
  const [{ shard }] = (await found('--object', made.intent)) as [Summary];
  for (const [args, message, code] of [
    [['show', `${shard}:99999999`], /has no entry 99999999: it has 1 to \d+/, 1],
    [['show', '7:1'], /has no shard 7: its shards are 0 to 1/, 1],
    [['show', 'first'], /no place in the log: name shard and sequence, such as 0:17/, 1],
    [['search'], /say what to search for/, 1],
    [['search', '--key', 'order-1'], /--key needs --org and --mode, too/, 1],
    [['search', '--since', 'yesterday'], /or how long ago, such as 90s, 15m, 2h or 3d/, 2],
    [['search', '--sequence', '9-3'], /a sequence such as 17, or a range such as 17-90/, 2],
    [
      ['list', '--data-dir', '/nonexistent'],
      /there is no data folder \/nonexistent: name it with --data-dir/,
      1,
    ],
  ] as const) {
    const printed = await log(...args);
    assert.equal(printed.code, code, args.join(' '));
    assert.match(printed.error, message);
    assert.equal(printed.error.trim().split('\n').length, 1, printed.error);
  }
});

test('the examples of the operations page work as they stand', async () => {
  const [{ shard, sequence, requests }] = (await found('--object', made.intent)) as [Summary];
  const [request = ''] = requests;
  const names = { ORG: made.org, PI: made.intent, REQ: request, PLACE: `${shard}:${sequence}` };
  const { code, out, error } = await pasteBlock('docs/operations.md', '## Reading the log', {
    PAYMENTS_DATA_DIR: service.dataDir,
    ...names,
  });
  assert.equal(code, 0, error);
  assert.doesNotMatch(error, /payments:|damaged/);
  assert.match(out, new RegExp(`^payment_intent ${made.intent}$`, 'm'));
  assert.match(out, /The log in \S+ is as it was written/);
});

test('what comes is printed as it comes', async () => {
  const entry = join(root, 'src/main/payments.ts');
  const args = [
    entry,
    'wal',
    'tail',
    '--limit',
    '1',
    '--org',
    made.other,
    '--json',
    '--data-dir',
    service.dataDir,
  ];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_ENV: 'test' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async (): Promise<Summary> => JSON.parse((await lines.next()).value);
  await service.operate('trigger', { org: made.other, type: 'payment_intent.created' });
  const first = await next();
  for (const type of ['payment_intent.canceled', 'refund.created']) {
    await service.operate('trigger', { org: made.other, type });
    let seen = await next();
    while (!seen.events.includes(type)) seen = await next();
    assert(seen.sequence > first.sequence);
  }
  child.kill();
  await once(child, 'exit');
});

test('a log is verified while it is written, and damage is told with its place', async () => {
  const printed = await log('verify', '--json');
  assert.equal(printed.code, 0, printed.error);
  const sound = JSON.parse(printed.out);
  assert.deepEqual(sound.findings, []);
  assert.equal(sound.shards.length, shards);
  for (const { first_sequence: first, last_sequence: last, entries } of sound.shards)
    assert.deepEqual([first, last], entries === 0 ? [null, null] : [1, entries]);
  assert.match((await log('verify')).out, /The log in \S+ is as it was written\.\n$/);

  await service.kill();
  const entries = await found('--object', made.intent);
  const { shard } = entries[0]!;
  const file = join(service.dataDir, `shard-${shard}/log/0000000000000001/data.mdb`);
  const bytes = readFileSync(file);
  const at = bytes.indexOf(made.intent);
  bytes[at]! ^= 1;
  writeFileSync(file, bytes);
  const damaged = await log('verify', '--json');
  assert.equal(damaged.code, 1);
  assert.match(damaged.error, /the log is damaged in 1 place/);
  const [finding] = JSON.parse(damaged.out).findings;
  assert.equal(finding.file, file);
  assert(finding.byte <= at && at - finding.byte < 10_000, `${finding.byte} ${at}`);
  const damagedEntry = entries.find(
    ({ sequence }) => finding.from_sequence <= sequence && sequence <= finding.to_sequence,
  );
  assert.match(finding.defect, /its checksum does not match/);
  assert.match(finding.advice, /restore the data folder from a backup/);
  assert.match((await log('verify')).out, /damaged: shard \d, \S+data.mdb, byte \d+: .*\n {2}What to do: /);
  const listed = await log('list');
  assert.equal(listed.code, 0);
  assert.match(listed.error, /^damaged: shard \d/);
  assert.match((await log('show', `${shard}:${damagedEntry!.sequence}`)).error, /it is damaged: /);
});
