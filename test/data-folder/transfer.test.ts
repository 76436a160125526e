// `payments export` and `payments import`: a folder that was exported, imported into another number of shards and exported
// again is the same, a service goes on from it, and a file that is not whole makes no folder.

import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { type BusyFolder, busyEnv, busyFolder } from '../main/busy-folder.ts';
import { openLink } from '../main/payment-links.ts';
import { payments } from '../main/payments-command.ts';
import type { Shop } from '../main/shops.ts';
import { send, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const dataDir = temporaryFolder();
const place = temporaryFolder();
const file = join(place, 'all.ndjson');
let shops: readonly Shop[];
let links: BusyFolder['links'];
let exported: { records: number; responses: number; api_keys: number };

function linesOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  assert.ok(text.endsWith('\n'));
  return text.slice(0, -1).split('\n');
}

/** What an export holds, in no order: all lines but the first and the last, with parts of those. */
function contentsOf(path: string): unknown[] {
  const lines = linesOf(path).map((line) => JSON.parse(line));
  const { revision, secrets_key_check, layouts, clock } = lines[0];
  const { sha256, ...counts } = lines.at(-1).end;
  assert.match(sha256, /^[0-9a-f]{64}$/);
  const between = lines.slice(1, -1).map((line) => JSON.stringify(line));
  return [{ revision, secrets_key_check, layouts, clock }, counts, between.sort()];
}

async function importFrom(
  from: string,
  shards: number,
): Promise<{ folder: string; error: string; code: number | null }> {
  const folder = join(temporaryFolder(), 'imported');
  const ended = await payments(
    'import',
    '--from',
    from,
    '--data-dir',
    folder,
    '--shards',
    String(shards),
    '--json',
  );
  return { folder, error: ended.error, code: ended.code };
}

before(async () => {
  ({ shops, links } = await busyFolder(dataDir));
  const { code, out, error } = await payments('export', '--data-dir', dataDir, '--to', file, '--json');
  assert.equal(code, 0, error);
  exported = JSON.parse(out);
});

test('an export holds everything, has no secret in the clear, and is for its owner only', () => {
  const text = readFileSync(file, 'utf8');
  assert.ok(
    exported.records > 100 && exported.responses > 10 && exported.api_keys >= 8,
    JSON.stringify(exported),
  );
  assert.equal(linesOf(file).filter((line) => line.startsWith('{"record":')).length, exported.records);
  assert.doesNotMatch(text, /svc_[sp]k_(test|live)_\w{8}|svc_whsec_\w{8}/);
  assert.match(text, /"secrets":\[\{"sealed":/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(place), ['all.ndjson']);
  const audit = readdirSync(join(dataDir, 'audit')).map((name) =>
    readFileSync(join(dataDir, 'audit', name), 'utf8'),
  );
  assert.match(audit.join(''), /"export"/);
});

describe('imported into three shards', () => {
  let folder: string;
  before(async () => {
    const imported = await importFrom(file, 3);
    assert.equal(imported.code, 0, imported.error);
    ({ folder } = imported);
  });

  test('it is the same, and sound', async () => {
    const again = join(place, 'again.ndjson');
    assert.equal((await payments('export', '--data-dir', folder, '--to', again)).code, 0);
    assert.deepEqual(contentsOf(again), contentsOf(file));
    const [one, other] = [file, again].map((path) => JSON.parse(linesOf(path)[0]!).folder);
    assert.notEqual(one.id, other.id);
    assert.equal(other.shards, 3);
    assert.equal((await payments('verify', '--data-dir', folder)).code, 0);
  });

  test('a service goes on from it: keys, lists, replays, signing secrets and payment links', async () => {
    cpSync(`${dataDir}.secrets-key`, `${folder}.secrets-key`);
    const service = await startService({ dataDir: folder, env: { ...busyEnv, PAYMENTS_SHARDS: '3' } });
    for (const { key } of shops) {
      const list = await service.call('/v1/payment_intents?limit=100', { key });
      assert.ok(list.json.data.length > 10, list.text);
      const { json: customer } = await service.call('/v1/customers?email=a@shop.example', { key });
      const body = { amount: 12_345, currency: 'mad', customer: customer.data[0].id };
      const path = '/v1/payment_intents';
      const replayed = await send(service.url, path, { key, body, idempotencyKey: path });
      assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
      const { json: endpoints } = await service.call('/v1/webhook_endpoints', { key });
      const { secrets } = await service.operate<{ secrets: { secret: string }[] }>('webhooks.show-secret', {
        endpoint: endpoints.data[0].id,
      });
      assert.match(secrets[0]!.secret, /^svc_whsec_/);
    }
    for (const { path, session } of links) assert.equal(await openLink(service, path), session);
    await service.stop();
  });
});

test('a file that is not as it was written makes no folder, and the line at fault is named', async () => {
  const lines = linesOf(file);
  const middle = lines.findIndex((line) => line.startsWith('{"record":'));
  const rows: readonly [change: (lines: string[]) => string[], error: RegExp][] = [
    [(all) => all.slice(0, -1), /is cut off: it has no end/],
    [(all) => all.with(middle, all[middle]!.replace(/"created":\d/, '"created":9')), /its digest differs/],
    [(all) => all.with(middle, all[middle]!.slice(0, -5)), new RegExp(`line ${middle + 1} is not a line`)],
    [
      (all) => all.with(middle, '{"record":{"kind":"payout"}}'),
      new RegExp(`line ${middle + 1}: there is no kind`),
    ],
    [(all) => all.with(middle, '{"other":1}'), new RegExp(`line ${middle + 1}: it is none of the lines`)],
    [(all) => all.slice(1), /line 1: the file was not written by/],
    [(all) => all.with(0, all[0]!.replace('"format":1', '"format":2')), /the format 2 is unknown/],
    [(all) => all.with(0, all[0]!.replace('"charge":1', '"charge":7')), /another layout of charge/],
  ];
  for (const [change, expected] of rows) {
    const broken = join(temporaryFolder(), 'broken.ndjson');
    writeFileSync(broken, `${change(lines).join('\n')}\n`);
    const { folder, error, code } = await importFrom(broken, 1);
    assert.match(JSON.parse(error).error.message, expected);
    assert.equal(code, 1);
    assert.ok(!existsSync(folder) && !existsSync(`${folder}.unfinished`));
  }
});

test('a large file of something else is refused before it is read to its end', async () => {
  const zeros = join(temporaryFolder(), 'disk.img');
  writeFileSync(zeros, '');
  truncateSync(zeros, 64 * 1024 ** 3);
  const { folder, error } = await importFrom(zeros, 1);
  assert.match(JSON.parse(error).error.message, /disk\.img has a line that is longer than any of an export/);
  assert.ok(!existsSync(`${folder}.unfinished`));
});

test('nothing is overwritten, and a folder in use is not exported', async () => {
  assert.match(
    (await payments('export', '--data-dir', dataDir, '--to', file)).error,
    /all\.ndjson exists: name another/,
  );
  const { error } = await payments('import', '--from', file, '--data-dir', dataDir, '--shards', '2');
  assert.match(error, /is not empty/);
  const nowhere = await payments('export', '--data-dir', dataDir, '--to', join(place, 'none', 'all.ndjson'));
  assert.match(nowhere.error, /^payments: ENOENT[^\n]*all\.ndjson\.unfinished'\n$/);
  const ontoFile = await payments('import', '--from', file, '--data-dir', file, '--shards', '2');
  assert.match(ontoFile.error, /^payments: ENOTDIR[^\n]*all\.ndjson'\n$/);
  const none = await payments(
    'import',
    '--from',
    join(place, 'none'),
    '--data-dir',
    join(place, 'x'),
    '--shards',
    '2',
  );
  assert.match(none.error, /^payments: there is no file/);
  const service = await startService({ dataDir, env: busyEnv });
  const running = await payments('export', '--data-dir', dataDir, '--to', join(place, 'running.ndjson'));
  assert.match(running.error, /the service runs on [^\n]+: stop it first/);
  assert.ok(!existsSync(join(place, 'running.ndjson')));
  await service.stop();
});
