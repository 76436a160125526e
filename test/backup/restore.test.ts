// Backups of a running service, and what is restored from them: each moment of a history is what clients saw at that moment.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { filesOf, type Manifest, saveFinished } from '../../src/backup/backup-manifest.ts';
import { openLogAt } from '../../src/backup/log-folders.ts';
import { restore as restoreFolder } from '../../src/backup/restore.ts';
import { restoreInto, verifyBackup } from '../../src/backup/restore-command.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { CliHost } from '../../src/operator/cli/context.ts';
import type { BackedUp, Restored, RestoreTarget } from '../../src/operator/results/folder-results.ts';
import { calmRestMs, Merchant } from '../main/merchant.ts';
import { payments } from '../main/payments-command.ts';
import { type Shop, shopOnEachShard } from '../main/shops.ts';
import { runCommandLine } from '../operator/cli/command-line.ts';
import { type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';
import { live, type Moment, shownIn, shownTo } from './history.ts';

const shards = 2;
const env = {
  PAYMENTS_SHARDS: String(shards),
  PAYMENTS_BASE_URL: 'https://pay.example',
  ...webhookEnv,
};
/** The checkpoint stays where it is, so the whole log can be had. */
const logOnly = { ...env, PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '86400000' };

async function backUp(
  service: Service | string,
  ...args: readonly string[]
): Promise<{ to: string } & BackedUp> {
  const to = join(temporaryFolder(), 'backup');
  const dataDir = typeof service === 'string' ? service : service.dataDir;
  const { code, out, error } = await payments('backup', '--to', to, '--data-dir', dataDir, '--json', ...args);
  assert.equal(code, 0, error);
  return { ...JSON.parse(out), to };
}

/** Restores by the command, and brings the key of the signing secrets along. */
async function restoreByCommand(
  service: Service,
  from: string,
  ...args: readonly string[]
): Promise<Restored> {
  const data = join(temporaryFolder(), 'data');
  const { code, out, error } = await payments(
    'restore',
    '--from',
    from,
    '--data-dir',
    data,
    '--json',
    ...args,
  );
  assert.equal(code, 0, error);
  return checked(service, JSON.parse(out) as Restored);
}

const inThisProcess = { archive: null, identities: [], segmentBytesMax: 1 << 28, onProgress: () => {} };

/** The same in this process, which takes less time. */
async function restore(
  service: Service,
  from: string,
  target: RestoreTarget = { kind: 'end' },
): Promise<Restored> {
  const data = join(temporaryFolder(), 'data');
  return checked(service, await restoreFolder({ ...inThisProcess, from, dataDir: data, target }));
}

function checked(service: Service, restored: Restored): Restored {
  cpSync(`${service.dataDir}.secrets-key`, `${restored.data}.secrets-key`);
  assert.deepEqual(restored.findings, []);
  assert.deepEqual(restored.warnings, []);
  return restored;
}

/** What a command says that is refused. */
const refusal = (...args: readonly string[]) => refused(payments(...args));

const config = loadConfig({ NODE_ENV: 'test' }, join(import.meta.dirname, '../../config'));
const reader: Partial<CliHost> = {
  dataDir: (given) => given ?? assert.fail('the data folder is named'),
  restore: (command) => restoreInto(config, command, () => {}),
  verifyBackup: (backup) => verifyBackup(config, backup, () => {}),
  openLog: openLogAt,
};

/** The same of one that reads a backup, in this process, which takes less time. */
const refusalHere = (...args: readonly string[]) => refused(runCommandLine(args, reader));

async function refused(command: Promise<{ code: number | null; error: string }>): Promise<string> {
  const { code, error } = await command;
  assert.equal(code, 1, error);
  assert.equal(error.split('\n').length, 2, error);
  return error;
}

/** What the restored folder's service shows, which must refuse to change anything. */
async function shownBy(restored: Restored, shops: readonly Shop[]): Promise<string[]> {
  const service = await startService({ dataDir: restored.data, env });
  const [{ key }] = shops as [Shop];
  const body = { amount: 10_000, currency: 'mad' };
  const refused = await service.call('/v1/payment_intents', { key, body, idempotencyKey: 'while-paused' });
  assert.equal(refused.status, 503, refused.text);
  const shown = await shownTo(service, shops);
  assert.equal(await service.stop(), 0);
  return shown;
}

test('ten moments of a history are restored, each as clients saw it', async () => {
  const service = await startService({ env: logOnly });
  const shops = await shopOnEachShard(service, shards);
  const moments = await live(service, shops, 30);
  const { to } = await backUp(service);
  await service.kill();
  const all = await restore(service, to);
  assert.deepEqual(await shownBy(all, shops), moments.at(-1)!.shown);
  assert.deepEqual(all.later, { entries: 0, directoryChanges: 0, objects: {} });
  const targetOf = ({ atMs, sequences, next }: Moment, at: number): RestoreTarget => {
    if (at % 3 === 0) return { kind: 'time', ms: atMs };
    if (at % 3 === 1) return { kind: 'before_request', requestId: next!.requestId };
    // All else is as of the last entry's time, so it must be the last of all entries.
    const { shard } = moments[at - 1]!.next!;
    return { kind: 'sequence', shard, sequence: sequences[shard]! };
  };
  /** What a service shows of one restored to each kind of target; of the others the same is read in this process. */
  const served = [2, 3, 7];
  for (const at of [2, 3, 7, 11, 14, 16, 21, 24, 28]) {
    const moment = moments[at]!;
    const restored = await restore(service, to, targetOf(moment, at));
    assert.deepEqual(
      restored.shards.map(({ sequence }) => sequence),
      moment.sequences,
    );
    const shown = served.includes(at) ? await shownBy(restored, shops) : await shownIn(restored.data, shops);
    assert.deepEqual(shown, moment.shown, `moment ${at}`);
    const left = moments
      .at(-1)!
      .sequences.reduce((sum, end, shard) => sum + end - moment.sequences[shard]!, 0);
    assert.equal(restored.later.entries, left);
    const rows = readFileSync(restored.later_file, 'utf8').trim().split('\n');
    const counted = Object.values(restored.later.objects).reduce((sum, count) => sum + count, 0);
    assert.equal(rows.filter((row) => row !== '').length, counted);
  }
});

test('the directory is restored as of the same moment', async () => {
  const service = await startService({ env: logOnly });
  const shops = await shopOnEachShard(service, shards);
  const [before] = await live(service, shops, 1);
  // The backup has the directory as it was when it began and the changes since: these come in between.
  const to = join(temporaryFolder(), 'backup');
  await fillUntil(service, shops, (sent) => sent >= 40);
  const slow = start('backup', '--to', to, '--data-dir', service.dataDir, '--rate', '1');
  await eventually(() => existsSync(join(to, 'directory', 'state.rows')));
  const atMs = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const { id } = await service.operate<{ id: string }>('org.create', { name: 'Late' });
  assert.deepEqual(await once(slow, 'exit'), [0, null]);
  await service.kill();
  const known = async (restored: Restored) => {
    const { out } = await payments('verify', '--data-dir', restored.data, '--json');
    assert.deepEqual(JSON.parse(out).findings, []);
    const again = await startService({ dataDir: restored.data, env });
    const list = await again.operate<{ id: string }[]>('org.list', {});
    await again.stop();
    return list.some((each) => each.id === id);
  };
  const whole = await restore(service, to);
  assert.equal(await known(whole), true);
  const earlier = await restoreByCommand(service, to, '--to-time', new Date(atMs).toISOString());
  assert.equal(earlier.later.directoryChanges > 0, true);
  assert.equal(await known(earlier), false);
  assert.notEqual(before, undefined);
});

function start(...args: readonly string[]): ChildProcess {
  const entry = join(import.meta.dirname, '../../src/main/payments.ts');
  const child = spawn(process.execPath, [entry, ...args], {
    env: { ...process.env, NODE_ENV: 'test' },
    stdio: 'ignore',
  });
  process.on('exit', () => child.kill('SIGKILL'));
  return child;
}

/** As large as a payment may be: so few requests fill a log. */
const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`filler${n}`, 'x'.repeat(500)]));

/** Sends payments until there are enough. */
async function fillUntil(
  service: Service,
  shops: readonly Shop[],
  isEnough: (sent: number) => boolean,
): Promise<void> {
  let sent = 0;
  const send = async () => {
    while (!isEnough(sent)) {
      const number = sent++;
      const { key } = shops[number % shops.length]!;
      const body = { amount: 10_000, currency: 'mad', metadata };
      const answer = await fetch(`${service.url}/v1/payment_intents`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': `fill-${number}`,
        },
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 200, await answer.text());
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
}

test('a backup under load that is killed goes on, and everything acknowledged before it is there', async (context) => {
  const service = await startService({ env: { ...env, PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '200' } });
  const shops = await shopOnEachShard(service, shards);
  await fillUntil(
    service,
    shops,
    () => statSync(join(service.dataDir, 'shard-0/state/data.mdb')).size > 2_000_000,
  );
  const merchants = shops.map(({ key }, i) => new Merchant(context, `merchant-${i}`, key));
  for (const merchant of merchants) merchant.work(service.url, 3, calmRestMs);
  const to = join(temporaryFolder(), 'backup');
  const slow = start('backup', '--to', to, '--data-dir', service.dataDir, '--rate', '1');
  const partial = join(to, 'manifest.json.partial');
  const done = await eventually(() => {
    const shard =
      existsSync(partial) &&
      JSON.parse(readFileSync(partial, 'utf8').split('\n').slice(1).join('\n')).shards[0];
    return shard && shard.state !== null && join(to, shard.state.file);
  });
  slow.kill('SIGKILL');
  await once(slow, 'exit');
  const { ino } = statSync(done);
  const refused = await refusal('restore', '--from', to, '--data-dir', join(temporaryFolder(), 'data'));
  assert.match(refused, /is unfinished: run "payments backup --to .*" again, which goes on with it/);
  const other = await startService({ env });
  const foreign = await refusal('backup', '--to', to, '--data-dir', other.dataDir);
  assert.match(foreign, /holds an unfinished backup of another data folder/);
  await other.stop();
  // What is acknowledged by now must be in it.
  for (const merchant of merchants) await merchant.pause();
  for (const merchant of merchants) await merchant.settle(service.url);
  const expected = await Promise.all(shops.map(({ key }) => idsOf(service, key)));
  for (const merchant of merchants) merchant.work(service.url, 3, calmRestMs);
  const { code, error } = await payments('backup', '--to', to, '--data-dir', service.dataDir);
  assert.equal(code, 0, error);
  assert.equal(statSync(done).ino, ino, 'what was written before is not written again');
  for (const merchant of merchants) await merchant.pause();
  assert.equal(await service.stop(), 0);
  const restored = await restore(service, to);
  const again = await startService({ dataDir: restored.data, env });
  for (const [i, { key }] of shops.entries()) {
    const found = new Set(await idsOf(again, key));
    assert.deepEqual(
      expected[i]!.filter((id) => !found.has(id)),
      [],
    );
  }
  await again.stop();
});

async function idsOf(service: Service, key: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ''; ; after = `&starting_after=${ids.at(-1)}`) {
    const { json } = await service.call(`/v1/payment_intents?limit=100${after}`, { key });
    ids.push(...json.data.map(({ id }: { id: string }) => id));
    if (!json.has_more) return ids;
  }
}

test('webhooks and network calls of a restored folder wait until it is resumed', async () => {
  const receiver = await startReceiver({ respond: (response) => response.writeHead(500).end() });
  // However long each step takes, another attempt is due soon after it.
  const retrying = { ...env, PAYMENTS_WEBHOOKS_RETRY_SECONDS: Array(60).fill(5).join(',') };
  const service = await startService({ env: { ...retrying, PAYMENTS_SIMULATOR_LATENCY_MS: '3600000' } });
  const shops = await shopOnEachShard(service, shards);
  const [{ key }] = shops as [Shop];
  const endpoint = { url: `${receiver.origin}/hooks`, enabled_events: ['payment_intent.created'] };
  assert.equal((await service.call('/v1/webhook_endpoints', { key, body: endpoint })).status, 200);
  const intent = { amount: 10_000, currency: 'mad', payment_method_types: ['card'] };
  const { json } = await service.call('/v1/payment_intents', { key, body: intent, idempotencyKey: 'a' });
  // The network never answers: its call is open in the backup, once the second of two confirmations is told that the first is
  // under way.
  const confirm = () =>
    service.call(`/v1/payment_intents/${json.id}/confirm`, {
      key,
      body: { return_url: 'https://shop.example' },
      idempotencyKey: 'b',
    });
  const confirmations = [confirm(), confirm()];
  for (const each of confirmations) each.catch(() => {});
  assert.equal((await Promise.race(confirmations)).json.error?.code, 'idempotency_in_progress');
  await eventually(() => receiver.requests.length > 0);
  const canceled = await service.call(`/v1/payment_intents/${json.id}/cancel`, {
    key,
    body: {},
    idempotencyKey: 'c',
  });
  assert.equal(canceled.json.error?.code, 'payment_intent_busy');
  const { to } = await backUp(service);
  await service.kill();
  const sentBefore = receiver.requests.length;

  const { data } = await restoreByCommand(service, to);
  const again = await startService({ dataDir: data, env: retrying });
  const audit = JSON.parse((await payments('audit', '--operators', '--data-dir', data, '--json')).out);
  const actions = audit.map(({ action, outcome }: Record<string, string>) => `${action} ${outcome}`);
  assert.deepEqual([actions[0], ...actions.slice(-2)], ['org.create done', 'backup done', 'restore done']);
  const status = await again.operate<{ paused: { reason: string } | null }>('status', {});
  assert.match(status.paused!.reason, /^restored from /);
  const text = await again.metrics();
  assert.match(text, /^payments_paused 1$/m);
  const ready = await again.call('/readyz');
  assert.deepEqual([ready.status, /^ready, and paused: .*"payments resume"$/m.test(ready.text)], [200, true]);
  const { out: shownStatus } = await payments('status', '--data-dir', data);
  assert.match(shownStatus, /paused.*restored from .*payments resume/);
  const checks = await again.operate<{ name: string; ok: boolean }[]>('doctor', {});
  assert.equal(checks.find(({ name }) => name === 'pause')?.ok, false);
  assert.equal(await again.stop(), 0);

  // The pause outlasts a restart.
  const third = await startService({ dataDir: data, env: retrying });
  const shown = await third.call(`/v1/payment_intents/${json.id}`, { key });
  assert.equal(shown.json.status, 'requires_payment_method');
  assert.equal(receiver.requests.length, sentBefore);
  const { code, out } = await payments('resume', '--data-dir', data);
  assert.equal(code, 0);
  assert.match(out, /^Resumed\. It was paused since /);
  assert.equal((await third.call('/readyz')).text, 'ready\n');
  await eventually(() => receiver.requests.length > sentBefore);
  await eventually(
    async () =>
      (await third.call(`/v1/payment_intents/${json.id}`, { key })).json.status === 'requires_action',
  );
  await third.stop();
  const stopped = await payments('resume', '--data-dir', data);
  assert.match(stopped.out, /^It is not paused\./);
  await receiver.close();
});

test('a folder that no service runs on is resumed, too', async () => {
  const service = await startService({ env });
  const { to } = await backUp(service);
  await service.stop();
  const { data } = await restore(service, to);
  assert.match((await payments('resume', '--data-dir', data)).out, /^Resumed\./);
  const again = await startService({ dataDir: data, env });
  assert.equal((await again.operate<{ paused: unknown }>('status', {})).paused, null);
  await again.stop();
});

test('what can not be restored is refused in one line, and leaves nothing', async () => {
  const service = await startService({ env });
  const shops = await shopOnEachShard(service, shards);
  await live(service, shops, 4);
  await service.stop();
  const { to } = await backUp(service.dataDir);
  const data = join(temporaryFolder(), 'data');
  const refusedOf = (...args: readonly string[]) =>
    refusalHere('restore', '--from', to, '--data-dir', data, ...args);

  assert.match(
    await refusal('restore', '--from', to, '--data-dir', service.dataDir),
    /is not empty: name a folder that does not exist yet/,
  );
  assert.match(
    await refusalHere('restore', '--from', data, '--data-dir', data),
    /holds no backup: there is no manifest\.json/,
  );
  assert.match(
    await refusedOf('--to-sequence', '0:4711'),
    /ends with sequence \d+, in the backup and the archive: 4711 is not in it/,
  );
  assert.match(await refusedOf('--to-sequence', '7:1'), /there is no shard 7: the backup has shards 0 to 1/);
  assert.match(
    await refusedOf('--before-request', 'req_none'),
    /no entry of the log.* was caused by the request req_none/,
  );
  assert.match(
    await refusedOf('--to-time', '2020-01-01'),
    /this is before the checkpoint of shard 0 .*restore an earlier backup/,
  );
  const archive = temporaryFolder();
  assert.match(await refusedOf('--archive', archive), /is no archive of the data folder/);
  const { id } = readManifest(to).folder;
  assert.match(
    await refusedOf('--archive', join(archive, id)),
    new RegExp(`is a folder of an archive: name the one above it, ${archive}$`, 'm'),
  );
  assert(!existsSync(data));

  const manifest = readManifest(to);
  const files = filesOf(manifest);
  assert(files.some(({ file }) => file === 'audit/audit.rows'));
  for (const { file, bytes } of files) {
    const path = join(to, file);
    const sound = readFileSync(path);
    const damaged = Buffer.from(sound);
    damaged[Math.floor(bytes / 2)]! ^= 1;
    writeFileSync(path, damaged);
    const damage = new RegExp(`${file} is damaged at byte \\d+: `);
    const target = { kind: 'end' } as const;
    const options = { ...inThisProcess, from: to, dataDir: data, target };
    await assert.rejects(restoreFolder(options), ({ message }) => {
      assert.match(message, damage);
      assert.equal(message.split('\n').length, 1);
      return true;
    });
    if (file.startsWith('shard-1/')) {
      assert.match(await refusedOf(), damage);
      assert.match(await refusalHere('verify', '--from', to), damage);
    }
    rmSync(path);
    const missing = new RegExp(
      `^JournalDamaged: \\S+${file} is missing: put it back, or use another backup$`,
    );
    await assert.rejects(restoreFolder(options), missing);
    writeFileSync(path, sound);
    assert(!existsSync(data));
  }

  // A folder for another node has the generation of the service, and here no file is of that one.
  mkdirSync(data);
  saveFinished(to, { ...manifest, folder: { ...manifest.folder, generation: 1 } });
  const asNode = {
    ...inThisProcess,
    from: to,
    dataDir: data,
    target: { kind: 'end' },
    asNode: true,
  } as const;
  await assert.rejects(restoreFolder(asNode), /is from before a reshard/);
  assert.deepEqual(readdirSync(data), []);
  saveFinished(to, manifest);
  rmSync(data, { recursive: true });

  const text = readFileSync(join(to, 'manifest.json'), 'utf8');
  writeFileSync(join(to, 'manifest.json'), text.replace('"generation": 0', '"generation": 1'));
  assert.match(await refusedOf(), /manifest\.json is damaged: its digest does not match/);
});

function readManifest(to: string): Manifest {
  return JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8').split('\n').slice(1).join('\n'));
}

test('an encrypted backup shows nothing, and is restored by whoever has the key', async () => {
  const service = await startService({ env: logOnly });
  const shops = await shopOnEachShard(service, shards);
  const moments = await live(service, shops, 3);
  const key = await generateX25519Identity();
  const { to, encrypted } = await backUp(service, '--recipient', await identityToRecipient(key));
  assert.equal(encrypted, true);
  await service.kill();
  const names = readdirSync(to, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name, parentPath } of names) {
    const bytes = readFileSync(join(parentPath, name));
    assert.equal(bytes.indexOf('Customer 2'), -1);
    assert.equal(bytes.indexOf(shops[0]!.id), -1);
    assert(name === 'manifest.json' || name.endsWith('.age'), name);
  }
  const data = join(temporaryFolder(), 'data');
  assert.match(
    await refusal('restore', '--from', to, '--data-dir', data),
    /is encrypted: name the file with its age identity/,
  );
  for (const command of [['verify'], ['wal', 'list'], ['wal', 'show', '0:1'], ['wal', 'verify']])
    assert.match(
      await refusalHere(...command, '--from', to),
      /\.age is encrypted: name the file with its age identity with --identity/,
    );
  const identity = join(temporaryFolder(), 'identity');
  writeFileSync(identity, `# made by a test\n${key}\n`);
  const scratch = temporaryFolder();
  const opened = ['--from', to, '--identity', identity] as const;
  const verified = await payments('verify', ...opened, '--scratch', scratch, '--json');
  assert.equal(verified.code, 0, verified.error);
  const { folder, findings, records } = JSON.parse(verified.out);
  assert.deepEqual([folder, findings, records > 0, readdirSync(scratch)], [to, [], true, []]);
  const last = moments.at(-1)!.sequences;
  const listed = await payments('wal', 'list', ...opened, '--shard', '0', '--limit', '1', '--json');
  assert.equal(JSON.parse(listed.out).sequence, last[0]);
  assert.equal((await payments('wal', 'verify', ...opened)).code, 0);
  const other = join(temporaryFolder(), 'identity');
  writeFileSync(other, `${await generateX25519Identity()}\n`);
  assert.match(
    await refusalHere('wal', 'list', '--from', to, '--identity', other),
    /\.age can't be decrypted: no identity matched/,
  );
  const restored = await restoreByCommand(service, to, '--identity', identity);
  assert.deepEqual(await shownBy(restored, shops), moments.at(-1)!.shown);
});
