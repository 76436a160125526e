// What is missing in an archive: its last files, files in the middle, and all that came after it.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Archiver, shardSource } from '../../src/backup/archiver.ts';
import { backUp } from '../../src/backup/backup.ts';
import { restore } from '../../src/backup/restore.ts';
import { archiveFolderOf, notePosition } from '../../src/data-folder/archive-folder.ts';
import { journalOf, openDataFolder } from '../../src/data-folder/data-folder.ts';
import { partOf } from '../../src/disk/identity.ts';
import { JournalCopy } from '../../src/journal/copy-journal.ts';
import { logFilesIn } from '../../src/journal/log-files.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import type { RestoreTarget } from '../../src/operator/results/folder-results.ts';
import { appendTurns, recovered, startMs } from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const quick = { segmentBytesMax: 1 << 20, onProgress: () => {} };

/** A data folder of one shard, and what appends to that. */
async function sourceIn(context: TestContext) {
  const base = temporaryFolder(context);
  const at = (name: string) => join(base, name);
  mkdirSync(at('source'));
  const folder = await openDataFolder(at('source'), 1, 1);
  const append = async (wallMs: number) => {
    const journal = await recovered(await openJournal(journalOf(folder, 0)));
    await appendTurns(journal, [2], wallMs);
    await journal.close();
  };
  return { at, folder, append };
}

test('what is archived while a restore runs is not missing in it', async (context) => {
  const { at, folder } = await sourceIn(context);
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
  // As it is when it was moved away, because the folder went back in time.
  for (const part of parts) notePosition(part, { sequence: 7, isOfOtherLog: true });
  assert.equal((await warningsOf('away', () => {})).length, 2);
});

test('a moment before what is missing in the middle of an archive can be restored', async (context) => {
  const { at, folder, append } = await sourceIn(context);
  const [identity, part] = [folder.shardIdentity(0), archiveFolderOf(at('archive'), folder, 0)];
  await append(startMs);
  await backUp({ ...quick, folder, to: at('backup'), recipients: [], pace: async () => {} });
  for (const minute of [1, 2, 3]) {
    await append(startMs + minute * 60_000);
    const copy = new JournalCopy({
      dir: folder.shardDir(0),
      identity,
      segmentBytesMax: quick.segmentBytesMax,
    });
    await new Archiver({
      source: shardSource(copy),
      folder: part,
      part: partOf(identity, 'log'),
      type: 'batch',
      write: { recipients: [], pace: async () => {} },
      ageMaxMs: 0,
      clocks: { wall: () => startMs, monotonic: () => 0 },
      carry: async () => {},
      onGap: () => assert.fail(),
    }).run();
    await copy.close();
  }
  rmSync(logFilesIn(part)[1]!.path);
  let restores = 0;
  const restored = (target: RestoreTarget) =>
    restore({
      ...quick,
      from: at('backup'),
      archive: at('archive'),
      identities: [],
      target,
      dataDir: at(`restored-${restores++}`),
    });
  for (const [target, sequence] of [
    [{ kind: 'sequence', shard: 0, sequence: 4 }, 4],
    [{ kind: 'sequence', shard: 0, sequence: 3 }, 3],
    [{ kind: 'time', ms: startMs }, 2],
  ] as const) {
    const { shards, warnings } = await restored(target);
    assert.equal(shards[0]!.sequence, sequence);
    assert.match(
      warnings.join('\n'),
      /not all .* after that is known: .* goes on at sequence 7: 5 to 6 are in no file$/m,
    );
  }
  // Nobody knows of when they are.
  for (const target of [{ kind: 'time', ms: startMs + 60_000 }, { kind: 'end' }] as const)
    await assert.rejects(
      restored(target),
      /5 to 6 are in no file\. Add the file that holds them, or restore up to/,
    );
});

test('a moment after all that a backup and an archive have is restored with a warning', async (context) => {
  const { at, folder, append } = await sourceIn(context);
  const backedUp = async (to: string) => {
    const { moment } = await backUp({ ...quick, folder, to: at(to), recipients: [], pace: async () => {} });
    return Date.parse(moment!);
  };
  let restores = 0;
  const told = async (from: string, ms: number) => {
    const dataDir = at(`to-${restores++}`);
    const options = { ...quick, from: at(from), archive: null, identities: [], dataDir };
    const { warnings } = await restore({ ...options, target: { kind: 'time', ms } });
    return warnings.filter((warning) => warning.includes('nothing that is later'));
  };
  await append(startMs);
  const moment = await backedUp('quiet');
  assert.deepEqual(await told('quiet', moment), [], 'until then it is known that nothing came');
  const [warning] = await told('quiet', moment + 1);
  assert.match(warning!, new RegExp(`later than ${new Date(moment).toISOString()}: .* is missing`));
  const ahead = moment + 3_600_000;
  await append(ahead);
  await backedUp('ahead');
  assert.deepEqual(await told('ahead', ahead - 1), []);
  assert.deepEqual(await told('ahead', ahead), []);
  assert.equal((await told('ahead', ahead + 1)).length, 1);
});

test('an archive of a shard that ends long before that of the rest is restored with a warning', async (context) => {
  const { at, folder, append } = await sourceIn(context);
  await append(startMs);
  const { moment } = await backUp({
    ...quick,
    folder,
    to: at('backup'),
    recipients: [],
    pace: async () => {},
  });
  const minutesLater = (minutes: number) => Date.parse(moment!) + minutes * 60_000;
  const archivedUntil = (part: 0 | 'directory', minutes: number) => {
    const dir = archiveFolderOf(at('archive'), folder, part);
    mkdirSync(dir, { recursive: true });
    notePosition(dir, { sequence: 0, untilMs: minutesLater(minutes) });
  };
  let restores = 0;
  const warningsOf = async (target: RestoreTarget) => {
    const places = { from: at('backup'), archive: at('archive'), dataDir: at(`restored-${restores++}`) };
    return (await restore({ ...quick, ...places, identities: [], target })).warnings;
  };
  archivedUntil(0, 2);
  archivedUntil('directory', 30);
  const short = new RegExp(
    `nothing of shard 0 that is later than ${new Date(minutesLater(2)).toISOString()}: .* is missing`,
  );
  assert.match((await warningsOf({ kind: 'end' })).join('\n'), short);
  assert.match((await warningsOf({ kind: 'time', ms: minutesLater(3) })).join('\n'), short);
  assert.doesNotMatch((await warningsOf({ kind: 'time', ms: minutesLater(2) })).join('\n'), /nothing/);
  archivedUntil(0, 29);
  assert.doesNotMatch((await warningsOf({ kind: 'end' })).join('\n'), /nothing/);
});

test('what comes after the moment is left out, also when a clock that was put back has dated it before', async (context) => {
  const { at, folder, append } = await sourceIn(context);
  for (const minute of [0, 5, 2]) await append(startMs + minute * 60_000);
  await backUp({ ...quick, folder, to: at('backup'), recipients: [], pace: async () => {} });
  const options = { ...quick, from: at('backup'), archive: null, identities: [], dataDir: at('restored') };
  const { shards } = await restore({ ...options, target: { kind: 'time', ms: startMs + 180_000 } });
  assert.equal(shards[0]!.sequence, 2);
});
