// Where a backup may not lie.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backUp } from '../../src/backup/backup.ts';
import { openDataFolder } from '../../src/data-folder/data-folder.ts';
import { temporaryFolder } from '../journal/journal-fixtures.ts';

test('a backup is refused in the data folder, and taken beside it', async (context) => {
  const parent = temporaryFolder(context);
  const path = join(parent, 'data');
  mkdirSync(path);
  const folder = await openDataFolder(path, 1, 1);
  const before = readdirSync(path);
  const run = (to: string) =>
    backUp({
      folder,
      to,
      recipients: [],
      segmentBytesMax: 1 << 20,
      pace: async () => {},
      onProgress: () => {},
    });
  for (const to of [path, join(path, 'backups', 'monday')])
    await assert.rejects(run(to), {
      name: 'DataFolderError',
      message: `${to} is in the data folder, with which the backup would be lost: name a folder elsewhere`,
    });
  assert.deepEqual(readdirSync(path), before);
  assert.notEqual((await run(join(parent, 'data-backup'))).moment, null);
});
