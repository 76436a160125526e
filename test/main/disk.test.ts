// A shard with a damaged or full disk, and another shard that is not affected by the damage.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import '../on-disk.ts';
import { freePort } from '../free-port.ts';
import { type Answer, assertUnavailable, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { Merchant } from './merchant.ts';
import { payments } from './payments-command.ts';
import { type Shop, shopOnEachShard } from './shops.ts';

const launcher = join(import.meta.dirname, '../../src/main/launch.mjs');
const env = { PAYMENTS_SHARDS: '2', PAYMENTS_BASE_URL: 'https://pay.example' };

function create(service: Service, { key }: Shop, idempotencyKey: string): Promise<Answer> {
  const body = { amount: 12_000, currency: 'mad', description: idempotencyKey };
  return service.call('/v1/payment_intents', { key, body, idempotencyKey });
}

/** Ten payments on each shard, none of them in a checkpoint; then the service is killed. */
async function fillAndKill(dataDir: string): Promise<{ shops: Shop[]; created: Answer[] }> {
  const noCheckpoint = { PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '3600000' };
  const service = await startService({ dataDir, env: { ...env, ...noCheckpoint } });
  const shops = await shopOnEachShard(service, 2);
  const created: Answer[] = [];
  for (let number = 0; number < 10; number++) {
    await create(service, shops[0]!, `near-${number}`);
    created.push(await create(service, shops[1]!, `payment-${number}`));
  }
  await service.kill();
  return { shops, created };
}

/** Flips a bit of every `text` in the shard's log. */
function damage(dataDir: string, shard: number, text: string): void {
  const log = join(dataDir, `shard-${shard}`, 'log');
  for (const segment of readdirSync(log)) {
    const file = join(log, segment, 'data.mdb');
    const bytes = readFileSync(file);
    let found = 0;
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1), found++) bytes[at]! ^= 1;
    assert(found > 0, 'the text is in the log');
    writeFileSync(file, bytes);
  }
}

test('damage in the middle of a log keeps that shard down, says what to do, and the other serves', async () => {
  const dataDir = temporaryFolder();
  const { shops } = await fillAndKill(dataDir);
  damage(dataDir, 1, 'payment-4');
  const service = await startService({ dataDir, env });
  const down = /shard 1 stays down: .*damaged in segment 0{15}1 .*at sequence \d+: .*restore .*from a backup/;
  await service.until(() => (down.test(service.output()) ? true : undefined));
  assert.equal((await create(service, shops[0]!, 'later')).status, 200);
  assertUnavailable(await create(service, shops[1]!, 'later'));
  assertUnavailable(await service.call('/v1/payment_intents', { key: shops[1]!.key }));
  const ready = await service.call('/readyz');
  assert.deepEqual([ready.status, ready.text], [503, 'not ready: shard 1\n']);
  assert.equal((await service.call('/healthz')).status, 200);
  const text = await service.metrics();
  assert.match(text, /payments_shard_up\{shard="0"\} 1\n/);
  assert.match(text, /payments_shard_up\{shard="1"\} 0\n/);
  assert.equal(await service.stop(), 0);
});

test('a damaged batch at the end of a log was acknowledged: it goes only when an operator gives it up', async () => {
  const dataDir = temporaryFolder();
  const { shops, created } = await fillAndKill(dataDir);
  damage(dataDir, 1, 'payment-9');
  const down = await startService({ dataDir, env });
  const said = /shard 1 stays down: [^\n]*payments wal truncate (1:\d+)/;
  const [, place] = await down.until(() => said.exec(down.output()) ?? undefined);
  assertUnavailable(await create(down, shops[1]!, 'payment-9'));
  assert.equal((await create(down, shops[0]!, 'later')).status, 200);
  assert.match((await payments('wal', 'truncate', place!, '--data-dir', dataDir)).error, /stop it first/);
  assert.equal(await down.stop(), 0);

  const unasked = await payments('wal', 'truncate', place!, '--data-dir', dataDir);
  assert.deepEqual(
    [unasked.code, unasked.error],
    [1, 'payments: this cannot be undone: confirm it with --yes\n'],
  );
  assert.match(unasked.out, /^The batch 1:\d+ in .*: its checksum does not match\.\n/);
  const other = await payments('wal', 'truncate', '1:1', '--yes', '--data-dir', dataDir);
  assert.match(other.error, /the damaged batch at the end of that log is 1:\d+, not 1:1\n/);
  const { code, out, error } = await payments(
    'wal',
    'truncate',
    place!,
    '--yes',
    '--json',
    '--data-dir',
    dataDir,
  );
  assert.equal(code, 0, error);
  assert.deepEqual([JSON.parse(out).place, JSON.parse(out).defect], [place, 'its checksum does not match']);
  const audit = await payments('audit', '--data-dir', dataDir, '--json');
  const [row] = JSON.parse(audit.out).filter(({ action }: { action: string }) => action === 'log.truncate');
  assert.deepEqual([row.outcome, row.params.place], ['done', place]);

  const service = await startService({ dataDir, env });
  const { key } = shops[1]!;
  for (const [number, { text, json }] of created.slice(0, 9).entries()) {
    assert.equal((await service.call(`/v1/payment_intents/${json.id}`, { key })).text, text);
    assert.equal((await create(service, shops[1]!, `payment-${number}`)).text, text);
  }
  const again = await create(service, shops[1]!, 'payment-9');
  assert.equal(again.status, 200);
  assert.equal(again.headers.get('idempotent-replayed'), null);
  assert.equal(await service.stop(), 0);
});

test('a damaged end of a log that the checkpoint has keeps its shard down, and is given up in the same way', async () => {
  const dataDir = temporaryFolder();
  const first = await startService({ dataDir, env });
  const shops = await shopOnEachShard(first, 2);
  const { json } = await create(first, shops[1]!, 'payment-0');
  // A stop writes the checkpoint.
  assert.equal(await first.stop(), 0);
  damage(dataDir, 1, 'payment-0');
  const { out } = await payments('doctor', '--stopped', '--data-dir', dataDir);
  assert.match(out, /shard 1 would stay down: .*payments wal truncate 1:\d+/);
  const down = await startService({ dataDir, env });
  const said = /shard 1 stays down: [^\n]*payments wal truncate (1:\d+)/;
  const [, place] = await down.until(() => said.exec(down.output()) ?? undefined);
  assert.equal((await create(down, shops[0]!, 'later')).status, 200);
  assert.equal(await down.stop(), 0);
  const given = await payments('wal', 'truncate', place!, '--yes', '--data-dir', dataDir);
  assert.equal(given.code, 0, given.error);
  for (let start = 0; start < 2; start++) {
    const service = await startService({ dataDir, env });
    const { key } = shops[1]!;
    assert.equal((await service.call(`/v1/payment_intents/${json.id}`, { key })).status, 200);
    assert.equal((await create(service, shops[1]!, 'payment-0')).status, 500, 'its answer is gone');
    assert.equal(await service.stop(), 0);
  }
});

test('a damaged object of the checkpoint is answered with an error, and all else goes on', async () => {
  const dataDir = temporaryFolder();
  const first = await startService({ dataDir, env });
  const [, shop] = await shopOnEachShard(first, 2);
  const { key } = shop!;
  const made = [];
  for (const name of ['damaged', 'sound']) made.push(await create(first, shop!, `the ${name} one`));
  const [damaged, sound] = made.map(({ json }) => json.id) as [string, string];
  assert.equal(await first.stop(), 0);
  const file = join(dataDir, 'shard-1', 'state', 'data.mdb');
  const bytes = readFileSync(file, 'latin1');
  writeFileSync(file, bytes.replaceAll('the damaged one', 'the damagfd one'), 'latin1');

  const service = await startService({ dataDir, env });
  const refused: [path: string, call: object][] = [
    [`/v1/payment_intents/${damaged}`, {}],
    ['/v1/payment_intents', {}],
    [`/v1/payment_intents/${damaged}/confirm`, { body: {}, idempotencyKey: 'confirm' }],
    [`/v1/payment_intents/${damaged}/cancel`, { body: {}, idempotencyKey: 'cancel' }],
    ['/v1/refunds', { body: { payment_intent: damaged }, idempotencyKey: 'refund' }],
  ];
  for (const [path, call] of refused) {
    const { status, json } = await service.call(path, { key, ...call });
    assert.deepEqual([status, json.error?.code], [500, 'api_error'], path);
  }
  const read = await service.call(`/v1/payment_intents/${sound}`, { key });
  assert.equal(read.text, made[1]!.text);
  assert.equal((await create(service, shop!, 'later')).status, 200);
  assert.equal((await create(service, shop!, 'the damaged one')).text, made[0]!.text, 'its answer is kept');
  const said = new RegExp(`state/data\\.mdb is damaged: the record ${damaged} is not as it was written`);
  await service.until(() => said.test(service.output()) || undefined);
  assert.doesNotMatch(service.output(), /started again|stays down/);
  assert.equal(await service.stop(), 0);
});

/** Moves a shard's folder to a file system of its own; null where this process may not mount one. */
function smallDisk(context: TestContext, folder: string): boolean {
  const kept = `${folder}.kept`;
  renameSync(folder, kept);
  mkdirSync(folder);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'none', folder]).status === 0;
  if (mounted) context.after(() => spawnSync('umount', ['-l', folder]));
  cpSync(kept, folder, { recursive: true });
  rmSync(kept, { recursive: true });
  return mounted;
}

/** Takes all room on a disk but `left` bytes. Nothing else may be writing there. */
function fillNearly(folder: string, left: number): void {
  const { status, stderr } = spawnSync('sh', [
    '-c',
    `free=$(df -B1 --output=avail '${folder}' | tail -1); fallocate -l $((free - ${left})) '${folder}/filler'`,
  ]);
  assert.equal(status, 0, String(stderr));
}

/** Takes all room on a disk, whoever else is writing there. */
function fill(folder: string): void {
  const { stderr } = spawnSync('sh', ['-c', `cat /dev/zero > '${folder}/filler'`]);
  assert.match(String(stderr), /No space left on device/);
}

test('a full disk: writes are told to come back, reads go on, and room is noticed', async (context) => {
  const dataDir = temporaryFolder();
  const first = await startService({ dataDir, env });
  const shops = await shopOnEachShard(first, 2);
  const [near, far] = shops as [Shop, Shop];
  await first.stop();
  const folder = join(dataDir, 'shard-1');
  if (!smallDisk(context, folder)) return context.skip('needs the right to mount a file system');
  const port = { PAYMENTS_PORT: String(await freePort()) };
  const service = await startService({ dataDir, env: { ...env, ...port }, launcher });
  const kept = await create(service, far, 'kept');
  assert.equal(kept.status, 200);

  // Nearly full: noticed before anything fails.
  fillNearly(folder, 32 * 1024 * 1024);
  await service.until(async () => (await readOnly(service)) || undefined);
  assertUnavailable(await create(service, far, 'refused'));
  assert.equal((await service.call(`/v1/payment_intents/${kept.json.id}`, { key: far.key })).text, kept.text);
  assert.equal((await service.call('/v1/payment_intents', { key: far.key })).json.data.length, 1);
  assert.equal((await create(service, far, 'kept')).text, kept.text);
  assert.equal((await create(service, near, 'near')).status, 200);
  await service.until(() => /the disk is full/.exec(service.output()) ?? undefined);
  rmSync(join(folder, 'filler'));
  await service.until(async () =>
    (await create(service, far, 'refused')).status === 200 ? true : undefined,
  );
  assert.equal(await readOnly(service), false);
  await service.until(() => /the disk has room again/.exec(service.output()) ?? undefined);

  // Full at once, under load: the process ends when a commit fails of it, and starts again without writing.
  const merchants = [new Merchant(context, 'near', near.key), new Merchant(context, 'far', far.key)] as const;
  for (const merchant of merchants) merchant.work(service.url, 4);
  await service.until(() => merchants[1].acknowledged > 20 || undefined);
  fill(folder);
  await service.until(async () => (await readOnly(service)) || undefined);
  // The full disk may be noticed before a commit fails: then the service starts again meanwhile.
  await service.until(async () => {
    const read = await service
      .call(`/v1/payment_intents/${kept.json.id}`, { key: far.key })
      .catch(() => null);
    return read?.text === kept.text || undefined;
  });
  assertUnavailable(await create(service, far, 'refused again'));
  rmSync(join(folder, 'filler'));
  await service.until(async () => !(await readOnly(service)) || undefined);
  for (const merchant of merchants) {
    await merchant.pause();
    await merchant.settle(service.url);
    await merchant.check(service.url, true);
    assert.deepEqual(merchant.findings, { lost: [], doubled: [], half: [] });
  }
  assert.equal(await service.stop(), 0);
  assert(!existsSync(join(folder, 'room.probe')));
  // The storage engine prints an error of its own for every commit that failed: an I/O error when the write was cut
  // short, no space when none of it was taken. None fails when the full disk is noticed in time.
  const output = service.output();
  assert.doesNotMatch(output, /^Error: /m);
  const failed = /"level":"fatal",[^\n]*the disk is full[^\n]*it ends at once/.test(output);
  const told = /"level":"error",[^\n]*"message":"(No space left on device|Input\/output error)/.test(output);
  assert.equal(told, failed);
  assert.equal(/has ended by SIGKILL and is started again/.test(output), failed);
});

/** What the metrics say of shard 1. */
async function readOnly(service: Service): Promise<boolean> {
  // Nobody answers while it starts again.
  const text = await service.metrics().catch(() => '');
  return text.includes('payments_read_only{shard="1"} 1');
}
