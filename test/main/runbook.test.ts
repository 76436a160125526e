// The runbook: every block of commands in docs/operations.md is run by a test word for word as it is written there. Those of its
// procedures that no other test runs are run here, one after the other, as on a bad day.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newOrganization, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { blocksOf, type Ended, pasteBlock, payments, paymentsWith } from './payments-command.ts';

const page = 'docs/operations.md';

/** Blocks that can't be run here, and why. */
const notRun: Readonly<Record<string, string>> = {
  '### Under systemd':
    'it makes a user and starts a unit: service-manager.test.ts runs the unit as far as the machine allows',
  '### In a container': 'it needs a container engine: container.test.ts runs the steps of the container file',
};

test('every block of commands in the runbook is pasted by a test, or says why it is not', () => {
  const blocks = blocksOf(page);
  const unnamed = blocks.filter(({ language }) => language !== 'sh' && language !== 'text');
  assert.deepEqual(unnamed, [], 'a fence says whether it has commands (sh) or not (text)');
  const headings = blocks.filter(({ language }) => language === 'sh').map(({ heading }) => heading);
  assert.deepEqual(headings, [...new Set(headings)], 'a heading has one block of commands');
  const folder = join(import.meta.dirname, '..');
  const tests = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const pasted = [...tests.matchAll(/(?:pasteBlock\(\s*'docs\/operations\.md'|paste\()[,\s]*'(#+ [^']+)'/g)];
  const run = [...Object.keys(notRun), ...pasted.map((match) => match[1]!)];
  assert.deepEqual(run.sort(), headings.toSorted());
});

async function paste(heading: string, variables: Readonly<Record<string, string>>): Promise<Ended> {
  const ended = await pasteBlock(page, heading, { PAYMENTS_LOG_LEVEL: 'silent', ...variables });
  assert.equal(ended.code, 0, `${heading}: ${ended.error}`);
  return ended;
}

test('a key, a backup, room given back, a restore to before a request, a resume, more shards: as written', async () => {
  const folder = temporaryFolder();
  const keyFile = join(folder, 'secrets-key');
  await paste('## The key of the signing secrets', { PAYMENTS_SECRETS_KEY_FILE: keyFile });
  assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  const env = {
    PAYMENTS_SHARDS: '1',
    PAYMENTS_BASE_URL: 'https://pay.example',
    PAYMENTS_SECRETS_KEY_FILE: keyFile,
    PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '86400000',
  };
  const service = await startService({ dataDir: join(folder, 'data'), env });
  const { key } = await newOrganization(service);
  const create = async (target: typeof service, idempotencyKey: string) => {
    const body = { amount: 10_000, currency: 'mad' };
    return target.call('/v1/payment_intents', { key, body, idempotencyKey });
  };
  assert.equal((await create(service, 'good')).status, 200);
  const unwanted = await create(service, 'unwanted');
  assert.equal((await create(service, 'later')).status, 200);

  const BACKUPS = join(folder, 'backups');
  const backup = await paste('### A backup while the service runs', {
    BACKUPS,
    PAYMENTS_DATA_DIR: service.dataDir,
  });
  assert.match(backup.out, /Everything fits together: \d+ records/);
  const room = await paste('### Giving room back', { PAYMENTS_DATA_DIR: service.dataDir });
  assert.match(room.out, /MB were given back\.$/m);
  assert.equal(await service.stop(), 0);

  const NEW = join(folder, 'new');
  const REQ = unwanted.headers.get('request-id')!;
  const restored = await paste('### Restoring to a moment', { BACKUPS, NEW, REQ });
  assert.match(restored.out, /2 × payment_intent\b[\s\S]*Everything fits together/);
  const again = await startService({ dataDir: NEW, env });
  assert.equal((await create(again, 'too-early')).status, 503);
  const resumed = await paste('### After a restore', { NEW });
  assert.match(resumed.out, /paused .*restored from[\s\S]*Resumed\./);
  assert.equal((await create(again, 'at-last')).status, 200);
  const { json } = await again.call('/v1/payment_intents', { key });
  assert.equal(json.data.length, 2, 'the good one, and the one after the restore');
  assert.equal(await again.stop(), 0);

  await paste('## Changing the number of shards', { PAYMENTS_DATA_DIR: NEW, SHARDS: '2' });
  const { code, out } = await payments('verify', '--data-dir', NEW, '--json');
  assert.deepEqual([code, JSON.parse(out).shards], [0, 2]);
});

test('a folder that has lost a shard, or whose checkpoint is damaged: each command says what, where, and what to do', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const env = { PAYMENTS_SHARDS: '2', PAYMENTS_BASE_URL: 'https://pay.example' };
  const service = await startService({ dataDir: data, env });
  assert.equal(await service.stop(), 0);
  const said = async (...args: readonly string[]) => {
    const { code, out, error } = await paymentsWith({ ...env, PAYMENTS_LOG_LEVEL: 'silent' }, ...args);
    assert.equal(code, 1, args.join(' '));
    assert.equal(error.trim().split('\n').length, 1, error);
    return out + error;
  };
  const file = join(data, 'shard-1', 'state', 'data.mdb');
  const sound = readFileSync(file);
  writeFileSync(file, Buffer.concat([sound.subarray(0, 8192), Buffer.alloc(sound.length - 8192, 7)]));
  const doctor = await said('doctor', '--stopped', '--data-dir', data);
  assert.match(
    doctor,
    /shard 1 would stay down: .*shard-1\/state\/data\.mdb is damaged: .*Restore the data folder/,
  );
  for (const command of [
    ['compact', '--data-dir', data],
    ['backup', '--to', join(folder, 'damaged'), '--data-dir', data],
    ['export', '--data-dir', data, '--to', join(folder, 'damaged.ndjson')],
  ])
    assert.match(
      await said(...command),
      /shard-1\/state\/data\.mdb is damaged: .*Restore the data folder from a backup, with "payments restore"\n$/,
    );

  rmSync(join(data, 'shard-1'), { recursive: true });
  const commands = [
    ['doctor', '--stopped', '--data-dir', data],
    ['verify', '--data-dir', data],
    ['compact', '--data-dir', data],
    ['backup', '--to', join(folder, 'backup'), '--data-dir', data],
    ['wal', 'list', '--data-dir', data],
    ['wal', 'verify', '--data-dir', data],
    ['history', 'pi_0VZog99i0U00jlPNTXUZwbadX', '--data-dir', data],
    ['export', '--data-dir', data, '--to', join(folder, 'all.ndjson')],
    ['reshard', '--shards', '3', '--data-dir', data],
  ];
  for (const command of commands)
    assert.match(
      await said(...command),
      new RegExp(`${data}/shard-1 is missing: restore all of ${data} from a backup`),
    );
});
