// What an operator is told of a damaged batch that the checkpoint covers, beside what a backup really does with it.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { backUp } from '../../src/backup/backup.ts';
import { openLogAt } from '../../src/backup/log-folders.ts';
import { journalOf, openDataFolder } from '../../src/data-folder/data-folder.ts';
import { openEnvironment } from '../../src/disk/environment.ts';
import { partOf } from '../../src/disk/identity.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { verifiedIn } from '../../src/operator/cli/verify-log.ts';
import { appendTurns, recovered } from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('a damaged segment that the checkpoint covers keeps a backup away until it is dropped, and the advice says so', async (context) => {
  const place = temporaryFolder(context);
  const dataDir = join(place, 'data');
  mkdirSync(dataDir);
  const folder = await openDataFolder(dataDir, 1, 1);
  // A segment for each turn.
  const options = { ...journalOf(folder, 0), segmentBytesMax: 1 };
  const journal = await recovered(await openJournal(options));
  await appendTurns(journal, [2, 2, 2]);
  await journal.checkpointer.write(6);
  await journal.close();
  const environment = openEnvironment({
    folder: join(folder.shardDir(0), 'log', '1'.padStart(16, '0')),
    part: partOf(folder.shardIdentity(0), 'log'),
    mapSize: 1 << 20,
    check: 'none',
  });
  environment.putSync(1, Buffer.from('no batch'));
  await environment.close();

  const verify = async () => {
    const log = await openLogAt({ dataDir: () => dataDir, from: null, archive: null, identityFile: null });
    return (await verifiedIn(log)).findings;
  };
  const make = (to: string) =>
    backUp({
      folder,
      to: join(place, to),
      recipients: [],
      segmentBytesMax: 1,
      pace: async () => {},
      onProgress: () => {},
    });
  const [finding, ...others] = await verify();
  assert.equal(others.length, 0);
  assert.match(finding?.advice ?? '', /no backup can be made before this segment of the log is dropped/);
  assert.doesNotMatch(finding?.advice ?? '', /make a backup/i);
  assert.match(finding?.advice ?? '', /move the folder of this segment out of log/);
  await assert.rejects(make('damaged'), JournalDamaged);

  const again = await recovered(await openJournal(options));
  await again.checkpointer.drop(Number.MAX_SAFE_INTEGER);
  await again.close();
  assert.deepEqual(await verify(), []);
  await make('sound');
});

/** What is advised for a log of three batches in segments of a size, of which `damage` has damaged some. */
async function adviceAfter(
  context: TestContext,
  segmentBytesMax: number,
  damage: (logDir: string, part: ReturnType<typeof partOf>) => Promise<void>,
): Promise<string[]> {
  const dataDir = temporaryFolder(context);
  const folder = await openDataFolder(dataDir, 1, 1);
  const journal = await recovered(await openJournal({ ...journalOf(folder, 0), segmentBytesMax }));
  await appendTurns(journal, [2, 2, 2]);
  await journal.checkpointer.write(6);
  await journal.close();
  await damage(join(folder.shardDir(0), 'log'), partOf(folder.shardIdentity(0), 'log'));
  const log = await openLogAt({ dataDir: () => dataDir, from: null, archive: null, identityFile: null });
  return (await verifiedIn(log)).findings.map(({ advice }) => advice);
}

test('what is missing between segments is no folder to move away', async (context) => {
  const advice = await adviceAfter(context, 1, async (logDir) =>
    rmSync(join(logDir, '3'.padStart(16, '0')), { recursive: true }),
  );
  assert.equal(advice.length, 1);
  assert.match(advice[0]!, /Backups and the archive go on behind it/);
  assert.doesNotMatch(advice[0]!, /move/);
});

test('the newest segment is not to be moved away, because a start needs it', async (context) => {
  const advice = await adviceAfter(context, 1 << 20, async (logDir, part) => {
    const folder = join(logDir, '1'.padStart(16, '0'));
    const environment = openEnvironment({ folder, part, mapSize: 1 << 20, check: 'none' });
    environment.putSync(3, Buffer.from('no batch'));
    await environment.close();
  });
  assert.equal(advice.length, 1);
  assert.match(advice[0]!, /Leave the newest segment where it is/);
  assert.doesNotMatch(advice[0]!, /move the folder/);
});

test('a log that ends before its checkpoint keeps its shard down', async (context) => {
  const advice = await adviceAfter(context, 1, async (logDir) =>
    rmSync(join(logDir, '5'.padStart(16, '0')), { recursive: true }),
  );
  for (const each of advice) assert.match(each, /^a start refuses this shard/);
});
