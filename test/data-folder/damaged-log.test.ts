// What is damaged of a log without its end being so: whoever looks at the folder while the service is stopped tells what
// the shard would stay down for.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import {
  type DataFolder,
  journalOf,
  openDataFolder,
  withDirectory,
} from '../../src/data-folder/data-folder.ts';
import { checkFolder } from '../../src/data-folder/folder-check.ts';
import { verifyDataFolder } from '../../src/data-folder/verify-folder.ts';
import { examineStopped } from '../../src/health/examine-stopped.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { appendTurns, recovered } from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const configDir = join(import.meta.dirname, '../../config');

/** A folder whose log has three segments, of sequences 1 to 4, 5 to 7 and 8 to 9, and a checkpoint of this one. */
async function written(context: TestContext, checkpointed = 0): Promise<DataFolder> {
  const dataDir = join(temporaryFolder(context), 'data');
  mkdirSync(dataDir);
  const folder = await openDataFolder(dataDir, 1, 1);
  const journal = await recovered(await openJournal({ ...journalOf(folder, 0), segmentBytesMax: 1 }));
  await appendTurns(journal, [4, 3, 2]);
  if (checkpointed > 0) await journal.checkpointer.write(checkpointed);
  await journal.close();
  return folder;
}

/** Why the shard would not start: its own words. */
async function refusalOf(folder: DataFolder): Promise<string> {
  const journal = await openJournal(journalOf(folder, 0));
  try {
    await recovered(journal);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await journal.close();
  }
}

const segmentOf = (folder: DataFolder) => (firstSequence: number) =>
  join(folder.shardDir(0), 'log', String(firstSequence).padStart(16, '0'));

/** What `payments doctor --stopped` says of the folder. */
async function folderCheckOf({ path }: DataFolder) {
  const config = loadConfig({ NODE_ENV: 'test', PAYMENTS_DATA_DIR: path }, configDir);
  const checks = await examineStopped(config, 'test');
  return checks.find(({ name }) => name === 'folder')!;
}

type Damage = (segment: (firstSequence: number) => string) => void;

const damages: readonly [name: string, damage: Damage, told: RegExp][] = [
  [
    'a gap between two segments',
    (segment) => rmSync(segment(5), { recursive: true }),
    /at sequence 5: a segment is missing: sequences 5 to 7 are in none\. .*--accept-loss/,
  ],
  [
    'a batch in the middle',
    (segment) => {
      const file = join(segment(5), 'data.mdb');
      const bytes = readFileSync(file);
      for (let at = bytes.indexOf('mad'); at >= 0; at = bytes.indexOf('mad', at + 1)) bytes[at] = 0x6e;
      writeFileSync(file, bytes);
    },
    /at sequence 5: its checksum does not match\. .*--accept-loss/,
  ],
  [
    'a newest segment that was cut short',
    (segment) => truncateSync(join(segment(8), 'data.mdb'), 100),
    /at sequence 8: .* lies outside of the file, which has 100 bytes\. .*--accept-loss/,
  ],
];

for (const [name, damage, told] of damages)
  test(`what the shard stays down for is told by doctor and verify: ${name}`, async (context) => {
    const folder = await written(context);
    damage(segmentOf(folder));
    const { ok, detail } = await folderCheckOf(folder);
    assert.match(detail, told);
    assert.equal(ok, false);
    const { findings } = await verifyDataFolder(folder.path, () => {});
    assert.ok(
      findings.some(({ what }) => told.test(what)),
      findings.map(({ what }) => what).join('\n'),
    );
    assert.match(await refusalOf(folder), told);
  });

test('a directory that lacks an organization of which the log alone has changes is told by doctor and verify', async (context) => {
  const folder = await written(context);
  const { ok, detail } = await folderCheckOf(folder);
  assert.match(detail, /directory does not know org_\w+, of whom there are payments: .*--accept-loss/);
  assert.equal(ok, false);
  const { findings } = await verifyDataFolder(folder.path, () => {});
  assert.ok(findings.some(({ what }) => /is not in the directory/.test(what)));
});

test('two segments of a log that are swapped are to be put back, and never given up', async (context) => {
  const folder = await written(context);
  const segment = segmentOf(folder);
  const swap = () => {
    renameSync(segment(1), segment(99));
    renameSync(segment(8), segment(1));
    renameSync(segment(99), segment(8));
  };
  swap();
  const told =
    /log\/0{15}8 is the segment of the log that begins with sequence 1: put each part back in its own/;
  const { ok, detail } = await folderCheckOf(folder);
  assert.match(detail, told);
  assert.equal(ok, false);
  const { findings } = await verifyDataFolder(folder.path, () => {});
  for (const { what, advice } of findings) assert.match(`${what}: ${advice}`, told);
  assert.notEqual(findings.length, 0);
  for (const acceptLoss of [false, true]) {
    const start = withDirectory(folder, (directory) =>
      checkFolder({ folder, directory, acceptLoss, warn: () => assert.fail('nothing is lost') }),
    );
    await assert.rejects(start, { name: 'DataFolderError', message: told });
  }
  swap();
  assert.equal(await refusalOf(folder), 'none');
});

test('the stored responses of a segment that is gone or damaged are one finding, with their number', async (context) => {
  const folder = await written(context, 9);
  const segment = segmentOf(folder);
  rmSync(segment(1), { recursive: true });
  writeFileSync(join(segment(5), 'data.mdb'), '');
  const { findings, responses } = await verifyDataFolder(folder.path, () => {});
  assert.equal(responses, 5);
  const found = findings.filter(({ check }) => check === 'stored_response');
  assert.deepEqual(
    found.map(({ object }) => object),
    [null, null],
  );
  assert.match(
    found[0]!.what,
    /^2 stored responses, of commit batch 1, can't be read: the log does not have that any more$/,
  );
  assert.match(
    found[1]!.what,
    /^2 stored responses, of commit batch 5, can't be read: .* which has 0 bytes$/,
  );
});
