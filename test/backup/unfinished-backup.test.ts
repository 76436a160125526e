// A backup that was interrupted goes on only with the data folder as it has gone on since.

import assert from 'node:assert/strict';
import fs, { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { backUp, type HoldCheckpoint } from '../../src/backup/backup.ts';
import { backUpConfigured } from '../../src/backup/backup-command.ts';
import { unfinishedManifest } from '../../src/backup/backup-manifest.ts';
import type { Config } from '../../src/config/config-schema.ts';
import { journalOf, lookAtDataFolder, openDataFolder } from '../../src/data-folder/data-folder.ts';
import { dataFile } from '../../src/disk/environment.ts';
import { foldersOfJournal, openJournal } from '../../src/journal/open-journal.ts';
import { openSocket } from '../../src/operator/socket/server.ts';
import { OperatorFailure } from '../../src/operator/use-cases/failures.ts';
import { appendTurns, startMs } from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

async function append(dataDir: string, turns: number, timeMs: number): Promise<void> {
  const journal = await openJournal(journalOf(lookAtDataFolder(dataDir), 0));
  for await (const _ of journal.replay());
  await appendTurns(journal, Array(turns).fill(1), timeMs);
  await journal.close();
}

function backUpUnless(dataDir: string, to: string, isInterrupted: () => boolean, hold?: HoldCheckpoint) {
  return backUp({
    hold,
    folder: lookAtDataFolder(dataDir),
    to,
    recipients: [],
    segmentBytesMax: 1 << 28,
    pace: async () => {
      if (isInterrupted()) throw new Error('interrupted');
    },
    onProgress: () => {},
  });
}

const neverInterrupted = () => false;

/** A data folder with one shard, and where its backup is to be. */
async function folderAndBackup(context: TestContext) {
  const parent = temporaryFolder(context);
  const [dataDir, to] = [join(parent, 'data'), join(parent, 'backup')];
  mkdirSync(dataDir);
  await openDataFolder(dataDir, 1, 1);
  await append(dataDir, 2, startMs);
  return { parent, dataDir, to };
}

test('a checkpoint whose shard ends while it is read is no damage, and the backup goes on', async (context) => {
  const { parent, dataDir, to } = await folderAndBackup(context);
  let released = 0;
  const hold = (isLost: boolean, folder: string | null) => async () => ({
    folder,
    isLost,
    release: () => {
      released++;
    },
  });
  const gone = join(parent, 'gone');
  const lost = backUpUnless(dataDir, to, neverInterrupted, hold(true, gone));
  await assert.rejects(lost, /^DataFolderError: shard 0 was started again .* run the same command again/);
  const damaged = backUpUnless(dataDir, to, neverInterrupted, hold(false, gone));
  await assert.rejects(damaged, /ENOENT|missing/);
  const { moment } = await backUpUnless(dataDir, to, neverInterrupted, hold(false, null));
  assert.notEqual(moment, null);
  assert.equal(released, 3);
});

test('damage of a checkpoint whose shard does not serve is told as such', async (context) => {
  const { dataDir, to } = await folderAndBackup(context);
  const server = await openSocket({ dataDir, onFailure: () => {} }, async ({ command, params }) => {
    if (command === 'backup') return params;
    throw new OperatorFailure('refused', 'shard 0 does not serve now');
  });
  context.after(() => server.close());
  const config = { dataDir, journal: { segmentBytesMax: 1 << 28 } } as unknown as Config;
  const options = { to, recipients: [], mibPerSecond: 100 };
  const { checkpoint } = foldersOfJournal(journalOf(lookAtDataFolder(dataDir), 0).dir);
  const file = dataFile(checkpoint);
  writeFileSync(file, readFileSync(file).fill(0, 0, 8_192));
  await assert.rejects(
    backUpConfigured(config, options, () => {}),
    /data\.mdb is damaged/,
  );
});

test('an unfinished backup does not go on with a data folder that went back in time', async (context) => {
  const parent = temporaryFolder(context);
  const [dataDir, older, newer, to] = [
    join(parent, 'data'),
    join(parent, 'older'),
    join(parent, 'newer'),
    join(parent, 'backup'),
  ];
  mkdirSync(dataDir);
  await openDataFolder(dataDir, 1, 1);
  await append(dataDir, 2, startMs);
  cpSync(dataDir, older, { recursive: true });
  await append(dataDir, 3, startMs + 1);
  // When all files of the log are written, and are read again.
  const isWritten = () => unfinishedManifest(to)?.audit !== null;
  await assert.rejects(backUpUnless(dataDir, to, isWritten), /interrupted/);
  renameSync(dataDir, newer);
  cpSync(older, dataDir, { recursive: true });
  const refused =
    /^DataFolderError: \S+backup holds an unfinished backup that \S+data does not go on with: .*name another folder/;
  await assert.rejects(backUpUnless(dataDir, to, neverInterrupted), refused, 'shorter');
  await append(dataDir, 5, startMs + 2);
  await assert.rejects(backUpUnless(dataDir, to, neverInterrupted), refused, 'gone another way');
  await append(newer, 1, startMs + 2);
  const { moment, shards } = await backUpUnless(newer, to, neverInterrupted);
  assert.notEqual(moment, null);
  assert.equal(shards[0]!.end?.sequence, 6);
});

test('a backup names what it has read once that is on the disk', async (context: TestContext) => {
  const { dataDir, to } = await folderAndBackup(context);
  const synced = new Set<string>();
  const named: string[] = [];
  const [open, rename] = [fs.openSync, fs.renameSync];
  context.mock.method(fs, 'openSync', (...args: Parameters<typeof open>) => {
    const [, part] = /data\/(directory|shard-0\/log)\/.*\.mdb$/.exec(String(args[0])) ?? [];
    if (part !== undefined && args[1] === 'r') synced.add(part);
    return open(...args);
  });
  context.mock.method(fs, 'renameSync', (...args: Parameters<typeof rename>) => {
    rename(...args);
    if (existsSync(join(to, 'manifest.json'))) return;
    const { directory, shards } = unfinishedManifest(to) ?? {};
    const isNew = (name: string, isThere: boolean) => isThere && !named.includes(name);
    const news = [
      ...(isNew('directory', directory?.state != null) ? ['directory'] : []),
      ...(isNew('shard-0/log', (shards?.[0]?.log.length ?? 0) > 0) ? ['shard-0/log'] : []),
    ];
    for (const part of news) assert.ok(synced.has(part), part);
    named.push(...news);
  });
  syncBuiltinESMExports();
  await backUpUnless(dataDir, to, neverInterrupted);
  context.mock.restoreAll();
  syncBuiltinESMExports();
  assert.deepEqual(named, ['directory', 'shard-0/log']);
});
