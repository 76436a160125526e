// Where a restore begins: only with room on the disk, and not over what a killed one has left.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs, { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { backUp } from '../../src/backup/backup.ts';
import { restore } from '../../src/backup/restore.ts';
import { lookAtDataFolder, openDataFolder } from '../../src/data-folder/data-folder.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const common = { archive: null, identities: [], segmentBytesMax: 1 << 28, target: { kind: 'end' } } as const;

async function backupIn(parent: string): Promise<string> {
  const dataDir = join(parent, 'data');
  const to = join(parent, 'backup');
  mkdirSync(dataDir);
  const folder = await openDataFolder(dataDir, 1, 1);
  const quick = { pace: async () => {}, onProgress: () => {} };
  await backUp({ folder, to, recipients: [], segmentBytesMax: 1 << 28, ...quick });
  return to;
}

test('a restore without room on the disk is refused before it begins', async (context: TestContext) => {
  const parent = temporaryFolder(context);
  const from = await backupIn(parent);
  const dataDir = join(parent, 'new');
  const statfs = context.mock.method(fs, 'statfsSync', () => ({ bavail: 100, bsize: 4096 }));
  syncBuiltinESMExports();
  context.after(syncBuiltinESMExports);
  const restored = restore({ ...common, from, dataDir, onProgress: () => assert.fail('it has begun') });
  await assert.rejects(
    restored,
    /^DataFolderError: restoring \S+backup may need 65 MB, and 1 MB are free: make room, or use a larger disk/,
  );
  statfs.mock.restore();
  assert.equal(existsSync(dataDir), false);
});

test('a restore into what is no folder says so', async (context) => {
  const parent = temporaryFolder(context);
  const from = await backupIn(parent);
  const file = join(from, 'manifest.json');
  await assert.rejects(restore({ ...common, from, dataDir: file, onProgress: () => {} }), {
    name: 'DataFolderError',
    message: `the data folder ${file} is not a folder: choose another with PAYMENTS_DATA_DIR`,
  });
  assert.equal(existsSync(file), true);
});

test('a folder in which a restore was killed says so, and takes another one when it is empty', async (context) => {
  const parent = temporaryFolder(context);
  const from = await backupIn(parent);
  const dataDir = join(parent, 'new');
  const module = JSON.stringify(new URL('../../src/backup/restore.ts', import.meta.url).href);
  const options = JSON.stringify({ ...common, from, dataDir });
  const program = `const { restore } = await import(${module});
    await restore({ ...${options}, onProgress: () => process.kill(process.pid, 'SIGKILL') });`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  assert.equal(signal, 'SIGKILL');
  const unfinished = {
    name: 'DataFolderError',
    message:
      `${dataDir} holds a restore that was ended in the middle, or is still under way: ` +
      'if no process is at it any more, remove all that is in the folder, and restore again',
  };
  const again = () => restore({ ...common, from, dataDir, onProgress: () => {} });
  await assert.rejects(again(), unfinished);
  assert.throws(() => lookAtDataFolder(dataDir), unfinished);
  await assert.rejects(openDataFolder(dataDir, 1, 1), unfinished);
  for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true });
  const { findings } = await again();
  assert.deepEqual(findings, []);
  assert.ok(!readdirSync(dataDir).includes('restore.unfinished'));
  // As a crash leaves it that comes before the mark is gone from the disk.
  writeFileSync(join(dataDir, 'restore.unfinished'), '');
  assert.equal(lookAtDataFolder(dataDir).shards, 1);
  await assert.rejects(again(), /^DataFolderError: \S+new is not empty: name a folder/);
});
