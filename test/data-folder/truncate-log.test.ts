// `payments wal truncate` beside an archive: what that has is not given up, carried away or not.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Archiver, shardSource } from '../../src/backup/archiver.ts';
import { loadConfig } from '../../src/config/config.ts';
import { archivedSequence, archiveFolderOf } from '../../src/data-folder/archive-folder.ts';
import { journalOf, openDataFolder } from '../../src/data-folder/data-folder.ts';
import { truncateStopped } from '../../src/data-folder/truncate-log.ts';
import { openEnvironment } from '../../src/disk/environment.ts';
import { partOf } from '../../src/disk/identity.ts';
import { JournalCopy } from '../../src/journal/copy-journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { appendTurns, recovered, startMs } from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const configDir = join(import.meta.dirname, '../../config');
const segmentBytesMax = 1 << 20;

test('a damaged batch is given up unless the archive has it, also where that waits to be carried away', async (context) => {
  const place = temporaryFolder(context);
  const [dataDir, archive] = [join(place, 'data'), join(place, 'archive')];
  mkdirSync(dataDir);
  const folder = await openDataFolder(dataDir, 1, 1);
  const identity = folder.shardIdentity(0);
  const journal = await recovered(await openJournal(journalOf(folder, 0)));
  await appendTurns(journal, [2, 3]);
  await journal.close();

  const copy = new JournalCopy({ dir: folder.shardDir(0), identity, segmentBytesMax });
  const part = archiveFolderOf(archive, folder, 0);
  const archiver = new Archiver({
    source: shardSource(copy),
    folder: part,
    part: partOf(identity, 'log'),
    type: 'batch',
    write: { recipients: [], pace: async () => {} },
    ageMaxMs: 0,
    clocks: { wall: () => startMs, monotonic: () => 0 },
    carry: async () => {
      throw new Error('no way to the bucket');
    },
    onGap: () => assert.fail(),
  });
  await assert.rejects(archiver.run(), /no way to the bucket/);
  assert.equal(archivedSequence(part), 0);
  await copy.close();

  const environment = openEnvironment({
    folder: join(folder.shardDir(0), 'log', '1'.padStart(16, '0')),
    part: partOf(identity, 'log'),
    mapSize: segmentBytesMax,
    check: 'none',
  });
  environment.putSync(3, Buffer.alloc(0));
  await environment.close();

  const truncate = (PAYMENTS_LOG_ARCHIVE_DIR: string) =>
    truncateStopped(
      loadConfig({ NODE_ENV: 'test', PAYMENTS_DATA_DIR: dataDir, PAYMENTS_LOG_ARCHIVE_DIR }, configDir),
      { shard: 0, sequence: 3, confirm: async () => {} },
    );
  await assert.rejects(truncate(archive), {
    name: 'CommandFailure',
    message: `${part} has this batch as it was written: restore a backup with this archive, and nothing is lost`,
  });
  assert.equal((await truncate(join(place, 'other'))).place, '0:3');
});
