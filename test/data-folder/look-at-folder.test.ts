// A look at a data folder, before anything in it is opened.

import assert from 'node:assert/strict';
import fs, { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { lookAtDataFolder, openDataFolder } from '../../src/data-folder/data-folder.ts';
import { makePrivate } from '../../src/data-folder/folder-owner.ts';
import { temporaryFolder } from '../temporary-folder.ts';

for (const change of [
  { shards: 65 },
  { shards: 0 },
  { shards: 1e9 },
  { shards: -1 },
  { generation: -1 },
  { generation: 'x' },
])
  test(`a format that names ${JSON.stringify(change)} is damaged`, async (context) => {
    const dataDir = temporaryFolder(context);
    await openDataFolder(dataDir, 1, 1);
    const file = join(dataDir, 'format.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }));
    assert.throws(() => lookAtDataFolder(dataDir), {
      name: 'DataFolderError',
      message:
        /format\.json is damaged: it names \S+ shards, of 1 to 64, in generation \S+\. Restore all of \S+ from a backup$/,
    });
  });

test('a folder and a file that are removed while their permissions are looked at are left out', async (context) => {
  const dataDir = temporaryFolder(context);
  for (const name of ['a-segment', 'b-segment']) mkdirSync(join(dataDir, name));
  writeFileSync(join(dataDir, 'c-file'), '', { mode: 0o644 });
  const list = fs.readdirSync;
  let lists = 0;
  context.mock.method(fs, 'readdirSync', (...args: Parameters<typeof list>) => {
    // One is gone before it is looked at, and the other one between that and its list.
    if (lists++ === 1)
      for (const name of ['a-segment', 'b-segment']) rmSync(join(dataDir, name), { recursive: true });
    return list(...args);
  });
  syncBuiltinESMExports();
  makePrivate(dataDir);
  context.mock.restoreAll();
  syncBuiltinESMExports();
  assert.equal(existsSync(join(dataDir, 'b-segment')), false);
  assert.equal(fs.statSync(join(dataDir, 'c-file')).mode & 0o777, 0o600);
});
