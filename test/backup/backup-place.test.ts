// Where a backup may not lie: in the folder that it is of, and where another one is being made.

import assert from 'node:assert/strict';
import fs, { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { backUpConfigured } from '../../src/backup/backup-command.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openDataFolder } from '../../src/data-folder/data-folder.ts';
import { tryLock } from '../../src/data-folder/folder-lock.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const configDir = join(import.meta.dirname, '..', '..', 'config');

async function dataFolder(context: TestContext) {
  const parent = temporaryFolder(context);
  const dataDir = join(parent, 'data');
  mkdirSync(dataDir);
  await openDataFolder(dataDir, 1, 1);
  const config = loadConfig({ PAYMENTS_DATA_DIR: dataDir }, configDir);
  const backUp = (to: string, recipients: readonly string[] = []) =>
    backUpConfigured(config, { to, recipients, mibPerSecond: 50 }, () => {});
  return { parent, dataDir, backUp };
}

test('a backup is refused in the data folder, and made beside it', async (context) => {
  const { parent, dataDir, backUp } = await dataFolder(context);
  for (const to of [dataDir, join(dataDir, 'backups', 'monday')])
    await assert.rejects(backUp(to), {
      name: 'CommandFailure',
      message: `${to} is in the data folder, with which the backup would be lost: name a folder elsewhere`,
    });
  assert.ok(!readdirSync(dataDir).includes('backups'));
  await backUp(join(parent, 'data-backup'));
});

test('a backup for what is no recipient leaves nothing behind', async (context) => {
  const { parent, backUp } = await dataFolder(context);
  await assert.rejects(backUp(join(parent, 'backup'), ['age1typo']), /age1typo is no recipient of age: /);
  assert.deepEqual(readdirSync(parent), ['data']);
});

test('a backup that finds no room says whose disk is full, and goes on when there is some', async (context) => {
  const { parent, backUp } = await dataFolder(context);
  const to = join(parent, 'backup');
  const open = fs.openSync;
  context.mock.method(fs, 'openSync', (...args: Parameters<typeof open>) => {
    if (String(args[0]).includes('manifest'))
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    return open(...args);
  });
  syncBuiltinESMExports();
  context.after(syncBuiltinESMExports);
  await assert.rejects(backUp(to), {
    name: 'CommandFailure',
    message: `the disk of ${to} is full: make room, and run the same command again, which goes on with the backup`,
  });
  context.mock.restoreAll();
  syncBuiltinESMExports();
  await backUp(to);
});

test('a backup where no folder can be made is refused', async (context) => {
  const { parent, backUp } = await dataFolder(context);
  const file = join(parent, 'file');
  writeFileSync(file, '');
  for (const to of [file, join(file, 'backup')])
    await assert.rejects(backUp(to), {
      name: 'CommandFailure',
      message: `no backup can be made in ${to} (ENOTDIR): name a folder that can be written`,
    });
});

test('two backups into one folder are not made at a time', async (context) => {
  const { parent, backUp } = await dataFolder(context);
  const to = join(parent, 'backup');
  mkdirSync(to);
  const release = tryLock(join(to, 'backup.lock'));
  await assert.rejects(backUp(to), {
    name: 'CommandFailure',
    message: `another process makes a backup in ${to}: wait for it, or name another folder`,
  });
  release?.();
  await backUp(to);
  assert.deepEqual(readdirSync(to).sort(), ['audit', 'directory', 'manifest.json', 'shard-0']);
});
