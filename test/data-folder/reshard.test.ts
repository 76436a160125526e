// Changing the number of shards: everything is there afterwards, stored responses are replayed as before, and killing the
// process does no harm.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { existingDataFolder } from '../../src/data-folder/data-folder.ts';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { shardOfSlot } from '../../src/shard/shard-map.ts';
import { hurriedRestMs, Merchant } from '../main/merchant.ts';
import { makeLink, openLink } from '../main/payment-links.ts';
import { type Shop, shopOnEachShard } from '../main/shops.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const entry = join(import.meta.dirname, '../../src/main/payments.ts');
const env = { PAYMENTS_BASE_URL: 'https://pay.example' };

interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs `payments reshard`; with `killAfterMs`, kills it then if it still runs. */
async function reshard(dataDir: string, shards: number, killAfterMs?: number): Promise<Outcome> {
  const args = [entry, '--data-dir', dataDir, 'reshard', '--shards', String(shards), '--json'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_ENV: 'test', PAYMENTS_JOURNAL_SEGMENT_BYTES_MAX: String(1024 * 1024) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const timer = killAfterMs === undefined ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [out, error, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  if (timer !== null) clearTimeout(timer);
  return { code, out, error };
}

async function trade(service: Service, merchants: readonly Merchant[], count: number): Promise<void> {
  await Promise.all(
    merchants.map(async (merchant) => {
      const enough = merchant.acknowledged + count;
      merchant.work(service.url, 2, hurriedRestMs);
      await service.until(() => merchant.acknowledged >= enough || undefined);
    }),
  );
}

async function check(service: Service, merchants: readonly Merchant[], everything = true): Promise<void> {
  for (const merchant of merchants) {
    await merchant.check(service.url, everything);
    await merchant.settle(service.url);
    await merchant.checkLists(service.url);
    assert.deepEqual(merchant.findings, { lost: [], doubled: [], half: [] });
  }
}

/** Spends what is left of the day's requests. */
async function checkCap(service: Service, { key }: Shop, left: number): Promise<void> {
  for (let request = 0; request < left; request++) {
    assert.equal((await service.call('/v1/account', { key })).status, 200);
  }
  const { json } = await service.call('/v1/account', { key });
  assert.equal(json.error?.code, 'test_daily_cap_reached');
}

/** The shards' folders that are left, whatever their generation. */
function shardFolders(dataDir: string): string[] {
  const names = readdirSync(dataDir).filter((name) => /^(shard|generation)-/.test(name));
  return names.flatMap((name) => (name.startsWith('shard') ? [name] : readdirSync(join(dataDir, name))));
}

/** The answers that a folder's shards hold, each of them its own ones only. */
async function countAnswers(dataDir: string): Promise<number> {
  const folder = await existingDataFolder(dataDir);
  let answers = 0;
  for (let number = 0; number < folder.shards; number++) {
    const [dir, identity] = [folder.shardDir(number), folder.shardIdentity(number)];
    const journal = await openJournal({ dir, identity, indexRowsOf });
    for (const { slot } of journal.checkpoint.idempotencyRecords(0)) {
      assert.equal(shardOfSlot(slot, folder.shards), number);
      answers++;
    }
    await journal.close();
  }
  return answers;
}

test('from one shard to three and back, nothing is lost and nothing runs again', async (t) => {
  const dataDir = temporaryFolder();
  let service = await startService({ dataDir, env: { ...env, PAYMENTS_SHARDS: '1' } });
  const shops = await shopOnEachShard(service, 3);
  const merchants = shops.map(({ key }, number) => new Merchant(t, `shop${number}`, key));
  const capped = await newOrganization(service);
  const cap = { org: capped.id, mode: 'test', requests: 2, paymentCreations: 2 };
  await service.operate('limits.daily', cap);
  const session = { amount: 12_000, currency: 'mad', success_url: 'https://shop.example/' };
  const { key } = await newOrganization(service);
  const openSession = (more: object) =>
    service.call('/v1/checkout/sessions', {
      key,
      idempotencyKey: 'session',
      body: { ...session, ...more },
    });
  const opened = await openSession({});
  const links = await Promise.all(
    (await shopOnEachShard(service, 3)).map(async (shop) => {
      const path = await makeLink(service, shop);
      return { path, session: await openLink(service, path) };
    }),
  );
  const running = await reshard(dataDir, 3);
  assert.match(running.error, /"message":"the service runs on [^\n]+: stop it first"\}\}\n$/);
  assert.equal(running.code, 1);

  await trade(service, merchants, 150);
  // Killed: what the checkpoint doesn't hold yet must move along.
  await service.kill();
  for (const merchant of merchants) await merchant.pause();

  for (const shards of [3, 1]) {
    const { code, out, error } = await reshard(dataDir, shards);
    assert.equal(error, '');
    assert.equal(code, 0);
    const { from, to, records, answers } = JSON.parse(out);
    assert.deepEqual([from, to], shards === 3 ? [1, 3] : [3, 1]);
    assert(records > 400 && answers > 400, out);
    assert.equal(shardFolders(dataDir).length, shards);
    service = await startService({ dataDir, env: { ...env, PAYMENTS_SHARDS: String(shards) } });
    await check(service, merchants);
    // Its end, which was not sent at first, is known wherever the answer is.
    for (const more of [{}, { expires_at: opened.json.expires_at }]) {
      assert.equal((await openSession(more)).text, opened.text);
    }
    for (const { path, session } of links) assert.equal(await openLink(service, path), session);
    await checkCap(service, capped, shards === 3 ? 2 : 0);
    await trade(service, merchants, 20);
    await Promise.all(merchants.map((merchant) => merchant.pause()));
    await check(service, merchants);
    assert.equal(await service.stop(), 0);
  }
  // An answer lies in one shard, however often it moves: the one that owns its organization.
  const moved: number[] = [];
  for (const shards of [3, 2, 1]) {
    moved.push(JSON.parse((await reshard(dataDir, shards)).out).answers);
    assert.equal(await countAnswers(dataDir), moved[0]);
  }
  assert.deepEqual(moved, [moved[0], moved[0], moved[0]]);
  const same = await reshard(dataDir, 1);
  assert.deepEqual(JSON.parse(same.out), { from: 1, to: 1, records: 0, answers: 0 });
});

test('killed at any moment, it leaves the folder as it was or as it is to be', async (t) => {
  const dataDir = temporaryFolder();
  let service = await startService({ dataDir, env: { ...env, PAYMENTS_SHARDS: '1' } });
  const merchants = (await shopOnEachShard(service, 3)).map(({ key }, n) => new Merchant(t, `shop${n}`, key));
  await trade(service, merchants, 200);
  await Promise.all(merchants.map((merchant) => merchant.pause()));
  assert.equal(await service.stop(), 0);
  const outcomes = new Set<string>();
  const rounds = 10;
  let shards = 1;
  for (let round = 1; round <= rounds; round++) {
    const to = shards === 1 ? 3 : 1;
    const { code } = await reshard(dataDir, to, 150 + round * 100);
    outcomes.add(code === 0 ? 'done' : 'killed');
    const before = shards;
    ({ shards } = await existingDataFolder(dataDir));
    assert([before, to].includes(shards), `${shards} shards`);
    if (code === 0) assert.equal(shards, to);
    // Of what a round leaves, a service is told every second time, and else the next reshard.
    if (round % 2 !== 0) continue;
    service = await startService({ dataDir, env });
    assert.equal(shardFolders(dataDir).length, shards);
    // What one round loses, the later ones can't bring back: the lists and some answers tell in which two it was.
    await check(service, merchants, round >= rounds - 1);
    assert.equal(await service.stop(), 0);
  }
  assert(outcomes.has('killed'));
});

test('a key whose answer is damaged or gone stays used: its request does not run again', async () => {
  const dataDir = temporaryFolder();
  const path = '/v1/payment_intents';
  const body = { amount: 12_000, currency: 'mad' };
  let service = await startService({ dataDir, env: { ...env, PAYMENTS_SHARDS: '1' } });
  const { key } = await newOrganization(service);
  const retry = (idempotencyKey: string) => service.call(path, { key, body, idempotencyKey });
  const restart = async (between: () => unknown) => {
    assert.equal(await service.stop(), 0);
    await between();
    service = await startService({ dataDir, env, args: ['--accept-loss'] });
  };
  const segmentOf = (created: { request_id: string }) => {
    const log = join(dataDir, 'shard-0', 'log');
    const file = readdirSync(log).map((name) => join(log, name, 'data.mdb'));
    return file.find((path) => readFileSync(path).includes(created.request_id))!;
  };
  const requestOf = async (key: string) => ({ request_id: (await retry(key)).headers.get('request-id')! });
  const gone = await requestOf('gone');
  await restart(() => rmSync(dirname(segmentOf(gone)), { recursive: true }));
  const damaged = await requestOf('damaged');
  await requestOf('after it'); // a damaged end of the log would stop the shard
  await restart(() => {
    const file = segmentOf(damaged);
    const text = readFileSync(file, 'latin1').replaceAll(
      damaged.request_id,
      'req_x'.padEnd(damaged.request_id.length, '0'),
    );
    writeFileSync(file, text, 'latin1');
  });
  const kept = await requestOf('kept');
  for (const shards of [2, 1]) {
    await restart(async () => assert.equal((await reshard(dataDir, shards)).error, ''));
    for (const lost of ['gone', 'damaged']) {
      const { status, json } = await retry(lost);
      assert.deepEqual([status, json.error?.code], [500, 'api_error'], lost);
    }
    const replay = await retry('kept');
    assert.equal(replay.headers.get('original-request'), kept.request_id);
  }
  assert.equal(await service.stop(), 0);
});

test('a folder that can not be resharded is left alone, with one line that says why', async () => {
  const empty = temporaryFolder();
  for (const dataDir of [join(empty, 'missing'), empty]) {
    const { code, error } = await reshard(dataDir, 2);
    assert.equal(code, 1);
    assert.ok(
      error.endsWith(`"message":"there is no data folder ${dataDir}: name it with --data-dir"}}\n`),
      error,
    );
  }
  assert.deepEqual(readdirSync(empty), []);
});
