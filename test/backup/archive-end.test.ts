// Whether the last files of an archive are missing, while the service goes on to archive.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backUp } from '../../src/backup/backup.ts';
import { restore } from '../../src/backup/restore.ts';
import { archiveFolderOf, notePosition } from '../../src/data-folder/archive-folder.ts';
import { openDataFolder } from '../../src/data-folder/data-folder.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('what is archived while a restore runs is not missing in it', async (context) => {
  const base = temporaryFolder(context);
  const at = (name: string) => join(base, name);
  const quick = { segmentBytesMax: 1 << 20, onProgress: () => {} };
  mkdirSync(at('source'));
  const folder = await openDataFolder(at('source'), 1, 1);
  await backUp({ ...quick, folder, to: at('backup'), recipients: [], pace: async () => {} });
  const parts = ([0, 'directory'] as const).map((part) => archiveFolderOf(at('archive'), folder, part));
  for (const part of parts) mkdirSync(part, { recursive: true });
  const warningsOf = async (dataDir: string, onProgress: () => void) => {
    const options = { ...quick, from: at('backup'), archive: at('archive'), identities: [], onProgress };
    return (await restore({ ...options, target: { kind: 'end' }, dataDir: at(dataDir) })).warnings;
  };
  const archive = () => {
    for (const part of parts) notePosition(part, { sequence: 7 });
  };
  assert.deepEqual(await warningsOf('during', archive), []);
  assert.equal((await warningsOf('before', () => {})).length, 2);
});
