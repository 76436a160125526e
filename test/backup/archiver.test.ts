// The archiver of a part: it goes on where its archive ends, and only with the log that the archive is of.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Archiver, directorySource, lagsOf, shardSource } from '../../src/backup/archiver.ts';
import { archivedSequence, positionIn } from '../../src/data-folder/archive-folder.ts';
import { Directory } from '../../src/directory/directory.ts';
import { createDirectory } from '../../src/directory/directory-store.ts';
import { partOf } from '../../src/disk/identity.ts';
import { RowStore } from '../../src/disk/row-store.ts';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import { JournalCopy } from '../../src/journal/copy-journal.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { logFilesIn } from '../../src/journal/log-files.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { appendTurns, identity, segmentEachTurn, startMs } from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const mapSizes = { log: 1 << 20, state: 1 << 20 };
const part = partOf(identity, 'log');
const laterMs = 1_000_000;
const refused = /^DataFolderError: the log does not go on where \S+ ends, at \d+: .*move this archive away/;

interface Folders {
  /** The shard's folder, or the directory's. */
  readonly dir: string;
  readonly archive: string;
  readonly carry?: (path: string) => Promise<void>;
  readonly onGap?: (first: number, last: number) => void;
  /** What is younger is not due; left out: all is. */
  readonly ageMaxMs?: number;
  readonly wall?: () => number;
}

const clocks = { wall: () => startMs + laterMs, monotonic: () => 0 };

function foldersFor(context: TestContext): Folders {
  const folder = temporaryFolder(context);
  return { dir: join(folder, 'shard-1'), archive: join(folder, 'archive', 'shard-1') };
}

async function append(dir: string, turns: readonly number[], timeMs = startMs): Promise<void> {
  const journal = await openJournal({ dir, identity, indexRowsOf, mapSizes });
  for await (const _ of journal.replay());
  await appendTurns(journal, turns, timeMs);
  await journal.close();
}

/** Has `use` run an archiver, as a process of the archive that starts, for which everything is due. */
async function archiving<T>(
  {
    dir,
    archive,
    carry = async () => {},
    onGap = (first, last) => assert.fail(`a gap from ${first} to ${last}`),
    ageMaxMs = 0,
    wall = clocks.wall,
  }: Folders,
  use: (archiver: Archiver) => Promise<T>,
): Promise<T> {
  const copy = new JournalCopy({ dir, identity, segmentBytesMax: 1 << 20 });
  const archiver = new Archiver({
    source: shardSource(copy),
    folder: archive,
    part,
    type: 'batch',
    write: { recipients: [], pace: async () => {} },
    ageMaxMs,
    clocks: { ...clocks, wall },
    carry,
    onGap,
  });
  try {
    return await use(archiver);
  } finally {
    await copy.close();
  }
}

const run = (folders: Folders) => archiving(folders, (archiver) => archiver.run());
const rangesIn = (folder: string) => logFilesIn(folder).map(({ first, last }) => [first, last]);

/** What a log that is another one than the archive's comes to, and that it stays so however far it goes. */
async function assertRefused(folders: Folders): Promise<void> {
  const before = rangesIn(folders.archive);
  for (let times = 0; times < 2; times++) {
    await archiving(folders, async (archiver) => {
      for (let round = 0; round < 2; round++) await assert.rejects(archiver.run(), refused);
      assert.equal(await archiver.lagMs(), laterMs, 'nothing of this log counts as archived');
      assert.equal(archiver.archived, 0);
    });
    assert.deepEqual(rangesIn(folders.archive), before);
    assert.equal(archivedSequence(folders.archive), 0, 'nothing of this log is dropped as archived');
    await append(folders.dir, [1, 9]);
  }
}

test('a log that was put back to an earlier moment is not archived behind what came after that', async (context) => {
  const folders = foldersFor(context);
  const { dir, archive } = folders;
  await append(dir, [2, 2]);
  await run(folders);
  cpSync(dir, `${dir}.copy`, { recursive: true });
  await append(dir, [3]);
  await run(folders);
  assert.deepEqual(rangesIn(archive), [
    [1, 4],
    [5, 7],
  ]);
  renameSync(dir, `${dir}.newest`);
  cpSync(`${dir}.copy`, dir, { recursive: true });
  await assertRefused(folders);
  assert.equal(positionIn(archive).sequence, 7, 'the archive is as it was');

  // The right folder is put back.
  rmSync(dir, { recursive: true });
  renameSync(`${dir}.newest`, dir);
  await append(dir, [1]);
  await run(folders);
  assert.equal(archivedSequence(archive), 8);
  assert.deepEqual(rangesIn(archive).at(-1), [8, 8]);

  // The archive is moved away instead.
  rmSync(dir, { recursive: true });
  renameSync(`${dir}.copy`, dir);
  rmSync(archive, { recursive: true });
  await append(dir, [5]);
  await run(folders);
  assert.deepEqual(rangesIn(archive), [[1, 9]]);
});

test('a log that has gone another way is not archived, however far it has come', async (context) => {
  const folders = foldersFor(context);
  const { dir, archive } = folders;
  await append(dir, [2, 2]);
  cpSync(dir, `${dir}.copy`, { recursive: true });
  await append(dir, [3]);
  await run(folders);
  rmSync(dir, { recursive: true });
  renameSync(`${dir}.copy`, dir);
  await append(dir, [3, 1], startMs + 1);
  await assertRefused(folders);
  assert(positionIn(archive).isOfOtherLog);
});

test('what was written and not carried away is of one log, too', async (context) => {
  const folders = {
    ...foldersFor(context),
    carry: async () => {
      throw new Error('away');
    },
  };
  const { dir } = folders;
  await append(dir, [2]);
  cpSync(dir, `${dir}.copy`, { recursive: true });
  await append(dir, [3]);
  await assert.rejects(run(folders), /away/);
  assert.equal(archivedSequence(folders.archive), 0);
  rmSync(dir, { recursive: true });
  renameSync(`${dir}.copy`, dir);
  await append(dir, [3], startMs + 1);
  await assertRefused(folders);
});

test('an archive of 0.1.0 goes on with a log that is as long, and with no shorter one', async (context) => {
  const folders = foldersFor(context);
  const { dir, archive } = folders;
  await append(dir, [2]);
  cpSync(dir, `${dir}.copy`, { recursive: true });
  await append(dir, [3]);
  await run(folders);
  const older = '{"sequence":5}\n';
  const position = join(archive, 'position.json');
  assert.match(
    readFileSync(position, 'utf8'),
    /^\{"sequence":5,"end":\{"sequence":5,"checksum":\d+\},"untilMs":\d+\}\n$/,
  );
  writeFileSync(position, older);
  await append(dir, [1]);
  await run(folders);
  assert.equal(archivedSequence(archive), 6);

  writeFileSync(position, older);
  rmSync(dir, { recursive: true });
  renameSync(`${dir}.copy`, dir);
  await assertRefused(folders);
});

test('the changes of a directory are of one history, too', async (context) => {
  const { dir, archive } = foldersFor(context);
  const of = { folder: identity.folder, generation: 0, part: 'directory' };
  mkdirSync(dirname(dir), { recursive: true });
  await createDirectory(dir, of);
  const create = async (name: string) => {
    const directory = new Directory({ folder: dir, part: of, now: () => startMs });
    await directory.createOrganization(name, ['test']);
    await directory.closeStore();
  };
  const runDirectory = async () => {
    const store = new RowStore(dir, of, true);
    const archiver = new Archiver({
      source: directorySource(store),
      folder: archive,
      part: of,
      type: 'rows',
      write: { recipients: [], pace: async () => {} },
      ageMaxMs: 0,
      clocks,
      carry: async () => {},
      onGap: (first, last) => assert.fail(`a gap from ${first} to ${last}`),
    });
    try {
      await archiver.run();
    } finally {
      await store.close();
    }
  };
  await create('Souk');
  await runDirectory();
  cpSync(dir, `${dir}.copy`, { recursive: true });
  await create('Riad');
  await runDirectory();
  const { sequence } = positionIn(archive);
  await create('Medina');
  await runDirectory();
  assert(positionIn(archive).sequence > sequence);

  rmSync(dir, { recursive: true });
  renameSync(`${dir}.copy`, dir);
  await assert.rejects(runDirectory(), refused);
  for (const name of ['Kasbah', 'Oasis', 'Atlas']) await create(name);
  await assert.rejects(runDirectory(), refused);
  assert.equal(archivedSequence(archive), 0);
});

test('it is noted until when all is archived, each minute, and not while something is not', async (context) => {
  const folders = foldersFor(context);
  await append(folders.dir, [2]);
  const archiveAt = async (ms: number, options = {}) => {
    await archiving({ ...folders, ...options, wall: () => startMs + ms }, (archiver) => archiver.run());
    return (positionIn(folders.archive).untilMs ?? 0) - startMs;
  };
  assert.equal(await archiveAt(1_000), 1_000);
  assert.equal(await archiveAt(60_999), 1_000);
  assert.equal(await archiveAt(61_000), 61_000);
  await append(folders.dir, [1]);
  assert.equal(await archiveAt(200_000, { ageMaxMs: laterMs }), 61_000, 'the last entry is not due');
  const refusing = archiveAt(laterMs, { carry: () => Promise.reject(new Error('no room')) });
  await assert.rejects(refusing, /no room/);
  assert.equal(positionIn(folders.archive).untilMs, startMs + 61_000);
  assert.equal(await archiveAt(laterMs), laterMs);
  assert.equal(await archiveAt(300_000), 300_000, 'the clock was put back');
});

test('an archive that can not be opened is told, has nothing, and goes on when it can', async (context) => {
  const folders = foldersFor(context);
  await append(folders.dir, [2]);
  // In the place of the archive's disk.
  writeFileSync(dirname(folders.archive), '');
  await archiving(folders, async (archiver) => {
    assert.equal(await archiver.lagMs(), laterMs);
    await assert.rejects(archiver.run(), { code: 'ENOTDIR' });
    assert.deepEqual([archiver.archived, await archiver.lagMs()], [0, laterMs]);
    rmSync(dirname(folders.archive));
    await archiver.run();
    assert.deepEqual([archiver.archived, await archiver.lagMs()], [2, 0]);
  });
});

test('no lag is told while that of one part can not be known, and all are when it can again', async (context) => {
  const [sound, damaged] = [foldersFor(context), foldersFor(context)];
  for (const { dir } of [sound, damaged]) {
    const journal = await openJournal(segmentEachTurn(dir));
    await appendTurns(journal, [1, 1]);
    await journal.close();
  }
  const lags = () =>
    archiving(sound, (one) =>
      archiving(damaged, async (other) => {
        const archivers = new Map(Object.entries({ 'shard-0': one, 'shard-1': other }));
        return [...(await lagsOf(archivers)).values()];
      }),
    );
  assert.deepEqual(await lags(), [laterMs, laterMs]);
  const file = join(damaged.dir, 'log', '0000000000000001', 'data.mdb');
  const before = readFileSync(file);
  writeFileSync(file, Buffer.alloc(before.length, 0xff));
  await assert.rejects(run(damaged), JournalDamaged);
  assert.deepEqual(await lags(), []);
  writeFileSync(file, before);
  assert.deepEqual(await lags(), [laterMs, laterMs]);
});

test('the archive goes on behind what was given up, which only the checkpoint has', async (context) => {
  const gaps: unknown[] = [];
  const folders = {
    ...foldersFor(context),
    onGap: (first: number, last: number) => gaps.push([first, last]),
  };
  const { dir, archive } = folders;
  const journal = await openJournal(segmentEachTurn(dir));
  await appendTurns(journal, [2, 1, 1, 1]);
  await journal.checkpointer.write(4);
  await journal.close();
  // What is left of a log that ended before its checkpoint, and went on behind that.
  for (const lost of ['0000000000000003', '0000000000000004'])
    rmSync(join(dir, 'log', lost), { recursive: true });
  await archiving(folders, async (archiver) => {
    await archiver.run();
    assert.deepEqual([archiver.archived, await archiver.lagMs()], [5, 0]);
  });
  assert.deepEqual([gaps, rangesIn(archive)], [[[3, 4]], [[1, 5]]]);
  // It had ended there already.
  rmSync(archive, { recursive: true });
  mkdirSync(archive, { recursive: true });
  writeFileSync(join(archive, 'position.json'), '{"sequence":2}\n');
  await archiving(folders, async (archiver) => {
    assert.equal(await archiver.lagMs(), laterMs);
    await archiver.run();
  });
  assert.deepEqual([gaps.length, rangesIn(archive)], [2, [[5, 5]]]);
  // What comes behind it is not due yet: the gap is told once all the same.
  rmSync(archive, { recursive: true });
  await archiving({ ...folders, ageMaxMs: 2 * laterMs }, async (archiver) => {
    for (let round = 0; round < 3; round++) await archiver.run();
  });
  assert.deepEqual([gaps.length, rangesIn(archive)], [3, [[1, 2]]]);
});

/** An archiver of a log that nothing holds: its entries go on to `last`. */
function archiverTo(
  log: { last: number; readonly madeMs?: number; readonly sync?: () => void },
  options: Partial<ConstructorParameters<typeof Archiver>[0]> & { readonly folder: string },
): Archiver {
  return new Archiver({
    source: {
      ends: () => ({ first: 1, last: log.last }),
      sync: () => log.sync?.(),
      finished: () => 0,
      timeAfter: async () => log.madeMs ?? startMs,
      checksumAt: (sequence) => sequence,
      async *read(after, upTo) {
        yield { firstSequence: after + 1, lastSequence: upTo, bytes: Buffer.of(1) };
      },
    },
    part,
    type: 'batch',
    write: { recipients: [], pace: async () => {} },
    ageMaxMs: 0,
    clocks,
    carry: async () => {},
    onGap: () => assert.fail('a gap'),
    ...options,
  });
}

test('what was made while the clock was ahead is archived when it has been there for so long', async (context) => {
  const { archive: folder } = foldersFor(context);
  // The clock was a day ahead, and is right again.
  const log = { last: 2, madeMs: startMs + 86_400_000 };
  let monotonicMs = 5_000;
  const clocks = { wall: () => startMs, monotonic: () => monotonicMs };
  const archiver = archiverTo(log, { folder, ageMaxMs: 300_000, clocks });
  const lagAfter = async (ms: number) => {
    monotonicMs += ms;
    await archiver.run();
    return archiver.lagMs();
  };
  assert.equal(await lagAfter(0), 0);
  assert.equal(await lagAfter(299_999), 299_999);
  log.last = 3;
  assert.equal(await lagAfter(1), 0);
  assert.deepEqual(rangesIn(folder), [[1, 3]]);
  await lagAfter(1_000);
  log.last = 4;
  await lagAfter(0);
  assert.equal(await lagAfter(100_000), 100_000, 'of another change');
  assert.deepEqual(rangesIn(folder), [[1, 3]]);
});

test('nothing is archived before it is on the disk of the log', async (context) => {
  const { archive: folder } = foldersFor(context);
  let refuses = true;
  const sync = () => {
    if (refuses) throw new Error('the disk refuses');
  };
  const archiver = archiverTo({ last: 2, sync }, { folder });
  await assert.rejects(archiver.run(), /the disk refuses/);
  assert.deepEqual(rangesIn(folder), []);
  refuses = false;
  await archiver.run();
  assert.deepEqual(rangesIn(folder), [[1, 2]]);
});

test('an archive whose disk is mounted late gets what it lacks', async (context) => {
  const { archive: folder } = foldersFor(context);
  const log = { last: 2 };
  await archiverTo(log, { folder }).run();
  // The service starts while the disk is not there.
  const disk = dirname(folder);
  renameSync(disk, `${disk}.not-mounted`);
  log.last = 4;
  const archiver = archiverTo(log, { folder });
  await archiver.run();
  assert.deepEqual(rangesIn(folder), [[1, 4]]);
  rmSync(disk, { recursive: true });
  renameSync(`${disk}.not-mounted`, disk);
  log.last = 5;
  await archiver.run();
  assert.deepEqual(
    [rangesIn(folder), archiver.archived],
    [
      [
        [1, 2],
        [3, 5],
      ],
      5,
    ],
  );
  // Nothing is there any more: it begins again.
  rmSync(disk, { recursive: true });
  await archiver.run();
  assert.deepEqual([rangesIn(folder), archivedSequence(folder)], [[[1, 5]], 5]);
});
