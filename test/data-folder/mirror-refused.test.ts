// Commands that write to a folder which holds the log alone: a mirror of PostgreSQL's log is refused before anything changes.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { type DataFolder, openDataFolder } from '../../src/data-folder/data-folder.ts';
import { reshardStopped } from '../../src/data-folder/reshard.ts';
import { rollSecretsKey } from '../../src/data-folder/roll-secrets-key.ts';
import { mirroredRows } from '../../src/directory/directory-mirror.ts';
import { RowStore } from '../../src/disk/row-store.ts';
import { markMirror } from '../../src/journal/open-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const configDir = join(import.meta.dirname, '../../config');

async function markDirectory({ directory, directoryPart }: DataFolder): Promise<void> {
  const rows = new RowStore(directory, directoryPart);
  await rows.write(mirroredRows(new Map(), { sequence: 1, checksum: 1 }));
  await rows.close();
}

for (const [what, mark] of [
  ['of a shard', async ({ shardDir }: DataFolder) => markMirror(shardDir(1))],
  ['of the directory', markDirectory],
] as const)
  test(`a mirror ${what} keeps its secrets key and its shards`, async (context) => {
    const folder = temporaryFolder(context);
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const config = loadConfig({ NODE_ENV: 'test', PAYMENTS_DATA_DIR: dataDir }, configDir);
    const made = await openDataFolder(dataDir, 2, 2);
    await rollSecretsKey(config, 'test');
    await mark(made);
    const before = readdirSync(folder);
    const key = readFileSync(`${dataDir}.secrets-key`, 'utf8');
    const refused = {
      name: 'CommandFailure',
      message: /is the mirror of a log in PostgreSQL, and this command [^\n]+export --from-postgresql" first/,
    };
    await assert.rejects(rollSecretsKey(config, 'test'), refused);
    await assert.rejects(reshardStopped(config, 3), refused);
    assert.equal(readFileSync(`${dataDir}.secrets-key`, 'utf8'), key);
    assert.deepEqual(readdirSync(folder), before);
  });
