// The archive of the log: it has what the service has acknowledged some seconds ago, so that a machine that is lost takes no
// more than that with it.

import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { restore } from '../../src/backup/restore.ts';
import { archivedSequence, archiveFolderOf } from '../../src/data-folder/archive-folder.ts';
import { lookAtDataFolder } from '../../src/data-folder/data-folder.ts';
import type { RestoreTarget } from '../../src/operator/results/folder-results.ts';
import { payments } from '../main/payments-command.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { eventually } from '../webhooks/service-webhooks.ts';
import { live, shownTo } from './history.ts';

const shards = 2;
const base = { PAYMENTS_SHARDS: String(shards), PAYMENTS_BASE_URL: 'https://pay.example' };

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.log(\.age)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Waits until everything that is durable is archived. */
async function archived(service: Service): Promise<void> {
  await eventually(async () => {
    const text = await service.metrics();
    const lags = [...text.matchAll(/^payments_archive_lag_seconds\{part="[\w-]+"\} (\S+)$/gm)].map(
      ([, lag]) => Number(lag),
    );
    return lags.length === shards + 1 && lags.every((lag) => lag === 0);
  });
}

test('a machine that is lost is restored from an early backup and the archive', async () => {
  const archive = temporaryFolder();
  const bucket = temporaryFolder();
  const script = join(temporaryFolder(), 'carry.sh');
  // Each file is refused once.
  writeFileSync(
    script,
    `#!/bin/sh
set -e
mkdir -p "$(dirname "${bucket}/$PAYMENTS_ARCHIVE_NAME")"
[ -e "$PAYMENTS_ARCHIVE_FILE.seen" ] || { touch "$PAYMENTS_ARCHIVE_FILE.seen"; echo no room >&2; exit 1; }
rm "$PAYMENTS_ARCHIVE_FILE.seen"
cp "$PAYMENTS_ARCHIVE_FILE" "${bucket}/$PAYMENTS_ARCHIVE_NAME"
`,
  );
  chmodSync(script, 0o700);
  const key = await generateX25519Identity();
  const env = {
    ...base,
    PAYMENTS_LOG_ARCHIVE_DIR: archive,
    PAYMENTS_LOG_ARCHIVE_MAX_AGE_SECONDS: '1',
    PAYMENTS_LOG_ARCHIVE_COMMAND: script,
    PAYMENTS_LOG_ARCHIVE_RECIPIENTS: await identityToRecipient(key),
    PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '86400000',
  };
  const service = await startService({ env });
  const shops = await shopOnEachShard(service, shards);
  await live(service, shops, 4);
  // The backup holds all of the archive's first files.
  await archived(service);
  const to = join(temporaryFolder(), 'backup');
  const made = await payments('backup', '--to', to, '--data-dir', service.dataDir);
  assert.equal(made.code, 0, made.error);

  const moments = await live(service, shops, 8);
  const late = await newOrganization(service, 'Late');
  await archived(service);
  const status = await service.operate<{ archive: { lag_seconds: number; failures: number } }>('status', {});
  assert(status.archive.failures >= 1, 'the command has failed, and was run again');
  await service.kill();
  assert.deepEqual(filesBelow(bucket), filesBelow(archive));
  const unread = await payments('verify', '--archive', bucket);
  assert.match(unread.error, /^payments: [^\n]*encrypted[^\n]*\n$/);
  for (const name of filesBelow(bucket))
    assert.deepEqual(readFileSync(join(bucket, name)), readFileSync(join(archive, name)));
  rmSync(service.dataDir, { recursive: true });

  const restored = async (target: RestoreTarget) => {
    const dataDir = join(temporaryFolder(), 'data');
    const options = { identities: [key], segmentBytesMax: 1 << 28, onProgress: () => {} };
    const result = await restore({ ...options, from: to, archive: bucket, dataDir, target });
    assert.deepEqual(result.findings, []);
    assert.deepEqual(result.warnings, []);
    // The key of the signing secrets lies elsewhere, so it was not lost.
    writeFileSync(`${dataDir}.secrets-key`, readFileSync(`${service.dataDir}.secrets-key`), { mode: 0o600 });
    const again = await startService({ dataDir, env: base });
    const shown = await shownTo(again, shops);
    const lateStatus = (await again.call('/v1/account', { key: late.key })).status;
    await again.stop();
    return { ...result, shown, lateStatus };
  };
  const all = await restored({ kind: 'end' });
  assert.deepEqual(all.shown, moments.at(-1)!.shown);
  assert.equal(all.lateStatus, 200);
  assert.deepEqual(all.later.entries, 0);

  const moment = moments[4]!;
  const earlier = await restored({ kind: 'time', ms: moment.atMs });
  assert.deepEqual(earlier.shown, moment.shown);
  assert.equal(earlier.lateStatus, 401, 'the organization was not there yet');
  assert(earlier.later.entries > 0 && earlier.later.directoryChanges > 0);

  const [first] = filesBelow(bucket).filter((name) => name.includes('shard-0'));
  rmSync(join(bucket, first!));
  // What the backup holds is not missed in the archive; what comes later is.
  assert.deepEqual((await restored({ kind: 'end' })).shown, moments.at(-1)!.shown);
  const last = filesBelow(bucket).filter((name) => name.includes('shard-1'));
  for (const name of last.slice(0, -1)) rmSync(join(bucket, name));
  const dataDir = join(temporaryFolder(), 'data');
  const options = { identities: [key], segmentBytesMax: 1 << 28, onProgress: () => {} };
  if (last.length > 2)
    await assert.rejects(
      restore({ ...options, from: to, archive: bucket, dataDir, target: { kind: 'end' } }),
      /goes on at sequence \d+: \d+ to \d+ are in no file/,
    );
});

test('the archive goes on after a restart where it was, and what it has not taken yet is shown', async () => {
  const archive = temporaryFolder();
  const blocked = join(temporaryFolder(), 'blocked');
  writeFileSync(blocked, '');
  const env = {
    ...base,
    PAYMENTS_LOG_ARCHIVE_DIR: archive,
    PAYMENTS_LOG_ARCHIVE_MAX_AGE_SECONDS: '1',
    PAYMENTS_LOG_ARCHIVE_COMMAND: `test ! -e ${blocked}`,
  };
  const service = await startService({ env });
  const shops = await shopOnEachShard(service, shards);
  await live(service, shops, 2);
  const folder = lookAtDataFolder(service.dataDir);
  const part = archiveFolderOf(archive, folder, 0);
  await eventually(() => existsSync(part) && filesBelow(part).length > 0);
  const lagOf = async () =>
    (await service.operate<{ archive: { lag_seconds: number } }>('status', {})).archive.lag_seconds;
  await eventually(async () => (await lagOf()) > 1);
  assert.equal(archivedSequence(part), 0);
  const before = filesBelow(archive);
  await service.kill();
  const backup = join(temporaryFolder(), 'backup');
  assert.equal((await payments('backup', '--to', backup, '--data-dir', service.dataDir)).code, 0);

  rmSync(blocked);
  const again = await startService({ dataDir: service.dataDir, env });
  await archived(again);
  await live(again, shops, 2);
  await archived(again);
  await again.stop();
  const files = filesBelow(archive);
  assert.deepEqual(
    files.slice().filter((name) => before.includes(name)),
    before,
    'what was written is not written again',
  );
  assert(archivedSequence(part) > 0);
  // One file goes on where the other ends.
  const ranges = filesBelow(part).map((name) => name.match(/\d{16}/g)!.map(Number));
  for (const [i, [first]] of ranges.entries()) assert.equal(first, i === 0 ? 1 : ranges[i - 1]![1]! + 1);
  assert(existsSync(join(archive, folder.id, 'directory')));
  await assertVerified(archive, part);
  const ends = archivedSequence(part);
  rmSync(join(part, filesBelow(part).at(-1)!));
  const told = new RegExp(`${part} was written up to ${ends}, and the last file ends with \\d+`);
  const trial = await payments('verify', '--from', backup, '--archive', archive);
  assert.equal(trial.code, 1);
  assert.match(trial.out, told);
  const dataDir = join(temporaryFolder(), 'data');
  assert.match(
    (await payments('restore', '--from', backup, '--archive', archive, '--data-dir', dataDir)).out,
    told,
  );
});

/** `payments verify` of an archive alone finds nothing in it, and what is then done to it. */
async function assertVerified(archive: string, part: string): Promise<void> {
  const verify = async (...more: readonly string[]) => payments('verify', '--archive', archive, ...more);
  const sound = await verify();
  assert.equal(sound.code, 0, sound.out + sound.error);
  assert.match(sound.out, /The log in \S+ is as it was written\.\n$/);
  assert.match((await verify('--data-dir', archive)).error, /--data-dir/);

  const files = filesBelow(part);
  const found = async (spoil: (path: string) => void, file: string, expected: RegExp) => {
    const path = join(part, file);
    const bytes = readFileSync(path);
    spoil(path);
    const { code, out, error } = await verify();
    assert.equal(code, 1);
    assert.match(error, /^payments: the log is damaged in \d places?\n$/);
    assert.match(out, expected);
    assert.match(out, /What to do: this copy can bring nothing back from there on: make another one/);
    writeFileSync(path, bytes);
  };
  const flip = (path: string) => {
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
  };
  const [first] = files as [string];
  await found(flip, first, /damaged: shard 0, \S+\.log[\s\S]* is damaged at byte \d+/);
  const [middle] = files.slice(1, -1);
  if (middle !== undefined) await found(rmSync, middle, /there is no batch with the entries \d+ to \d+/);
  await found(rmSync, files.at(-1)!, /the entries up to \d+ were written, and the last file ends with \d+/);
  const changes = join('..', '..', 'directory');
  const [change] = filesBelow(join(part, changes)) as [string];
  await found(flip, join(changes, change), /the changes of organizations and keys: \S+ is damaged at byte/);
  // A file of another shard is not taken for one of this shard.
  const other = filesBelow(join(part, '..', 'shard-1'))[0]!;
  await found((path) => cpSync(join(part, '..', 'shard-1', other), path), first, /shard 0, \S+: .*shard-1/);
}
