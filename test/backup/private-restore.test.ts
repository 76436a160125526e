// A restore into a folder that is there: nobody else can read it from its first file on.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backUp } from '../../src/backup/backup.ts';
import { restore } from '../../src/backup/restore.ts';
import { openDataFolder } from '../../src/data-folder/data-folder.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const segmentBytesMax = 1 << 20;

test('what a restore writes is for the owner alone while it runs, whatever the folder and the umask were', async (context) => {
  const folder = temporaryFolder(context);
  const source = join(folder, 'source');
  const to = join(folder, 'backup');
  const dataDir = join(folder, 'data');
  mkdirSync(source);
  await backUp({
    folder: await openDataFolder(source, 2, 2),
    to,
    recipients: [],
    segmentBytesMax,
    pace: async () => {},
    onProgress: () => {},
  });
  const umask = process.umask(0o022);
  context.after(() => process.umask(umask));
  mkdirSync(dataDir, { mode: 0o755 });
  const seen = new Set<string>();
  const look = () => {
    for (const name of ['', ...readdirSync(dataDir, { recursive: true })]) {
      const path = join(dataDir, String(name));
      if ((statSync(path).mode & 0o077) !== 0) assert.fail(`others can read ${path}`);
      seen.add(String(name));
    }
  };
  await restore({
    from: to,
    archive: null,
    target: { kind: 'end' },
    dataDir,
    identities: [],
    segmentBytesMax,
    onProgress: look,
  });
  assert(seen.has(join('directory', 'data.mdb')), [...seen].join(' '));
});
