// The log as files of backups and archives: named for what is in them, read in order, and nothing missing or damaged goes
// unnoticed.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ArchiveDamaged } from '../../src/disk/archive-file.ts';
import { ForeignPart, partOf, tagOf } from '../../src/disk/identity.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import {
  entriesOf,
  FiledLogReader,
  followFiles,
  type LogFile,
  logFilesIn,
  type Sequenced,
  writeLogFile,
} from '../../src/journal/log-files.ts';
import { isDefect } from '../../src/journal/log-reader.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { identity, tag, turnAt } from './journal-fixtures.ts';

const part = partOf(identity, 'log');
const other = { ...identity, shard: 2 };
const options = { type: 'batch', recipients: [], pace: async () => {} } as const;

function batch(firstSequence: number, entries: number, batchTag = tag): Sequenced {
  const { bytes } = encodeBatch(turnAt(firstSequence, entries), batchTag, 1);
  return { firstSequence, lastSequence: firstSequence + entries - 1, bytes };
}

async function* given(batches: readonly Sequenced[]) {
  yield* batches;
}

/** Writes one file with these batches, each given by its first and last sequence. */
async function write(folder: string, places: readonly (readonly [number, number])[], of = part) {
  mkdirSync(folder, { recursive: true });
  const batches = places.map(([first, last]) => batch(first, last - first + 1));
  const written = await writeLogFile(folder, of, given(batches), options);
  return written!;
}

const namesIn = (folder: string) => logFilesIn(folder).map(({ path }) => basename(path));
const places = (files: readonly LogFile[]) => files.map(({ first, last }) => [first, last]);

const archived = [
  [1, 2],
  [3, 3],
  [4, 5],
  [6, 7],
  [8, 8],
  [9, 12],
] as const;

/** Three files: 1–5, 6–7 and 8–12. */
async function archive(context: TestContext): Promise<string> {
  const folder = join(temporaryFolder(context), 'archive');
  for (const [from, to] of [
    [0, 3],
    [3, 4],
    [4, 6],
  ])
    await write(folder, archived.slice(from, to));
  return folder;
}

async function follow(files: readonly LogFile[], after = 0, neededAfter = 0): Promise<number[][]> {
  const found: number[][] = [];
  for await (const each of followFiles({ files, part, identities: [] }, tag, after, neededAfter))
    found.push([each.firstSequence, each.lastSequence]);
  return found;
}

test('a file takes batches until it has enough bytes, and the next one those that follow', async (context) => {
  const folder = temporaryFolder(context);
  const batches = [batch(1, 2), batch(3, 1), batch(4, 3), batch(7, 1)];
  const source = given(batches);
  const bytesMax = batches[0]!.bytes.length + 1;
  const written: unknown[] = [];
  for (;;) {
    const file = await writeLogFile(folder, part, source, { ...options, bytesMax });
    if (file === null) break;
    written.push([file.first, file.last]);
    assert.equal(file.path, logFilesIn(folder).at(-1)!.path);
  }
  assert.deepEqual(written, [
    [1, 3],
    [4, 6],
    [7, 7],
  ]);
  assert.deepEqual(namesIn(folder), [
    '0000000000000001-0000000000000003.log',
    '0000000000000004-0000000000000006.log',
    '0000000000000007-0000000000000007.log',
  ]);
  assert.deepEqual(await follow(logFilesIn(folder)), [
    [1, 2],
    [3, 3],
    [4, 6],
    [7, 7],
  ]);
});

test('files are found by their names, encrypted ones too, in the order of what they hold', (context) => {
  const folder = temporaryFolder(context);
  const name = (first: number, last: number) =>
    `${String(first).padStart(16, '0')}-${String(last).padStart(16, '0')}.log`;
  for (const file of [name(11, 20), name(1, 10), name(11, 15), `${name(21, 30)}.age`])
    writeFileSync(join(folder, file), '');
  for (const file of ['position.json', 'writing.partial', '1-2.log', `${name(1, 2)}.bak`, `x${name(1, 2)}`])
    writeFileSync(join(folder, file), '');
  assert.deepEqual(places(logFilesIn(folder)), [
    [1, 10],
    [11, 15],
    [11, 20],
    [21, 30],
  ]);
  assert.deepEqual(logFilesIn(join(folder, 'none')), []);
});

for (const [after, passedOver] of [
  [0, 0],
  [1, 0],
  [2, 1],
  [5, 3],
  [10, 5],
  [12, 6],
] as const)
  test(`files are followed after ${after}, from the batch that has the next entry`, async (context) => {
    assert.deepEqual(await follow(logFilesIn(await archive(context)), after), archived.slice(passedOver));
  });

test('batches that two files have are followed once', async (context) => {
  const folder = await archive(context);
  await write(folder, archived.slice(2, 5));
  assert.deepEqual(await follow(logFilesIn(folder)), archived);
});

test('what is missing stops it, unless the checkpoint has it', async (context) => {
  const files = logFilesIn(await archive(context)).filter(({ first }) => first !== 6);
  await assert.rejects(
    follow(files),
    /goes on at sequence 8: 6 to 7 are in no file\. Add the file that holds them/,
  );
  await assert.rejects(follow(files, 0, 6), /6 to 7 are in no file/);
  assert.deepEqual(await follow(files, 0, 7), archived.toSpliced(3, 1));
  assert.deepEqual(await follow(files, 7), archived.slice(4));
  await assert.rejects(follow(files, 6), /7 to 7 are in no file/);
});

test('damage, and what belongs elsewhere, stops it', async (context) => {
  const folder = await archive(context);
  const [first, second] = logFilesIn(folder);
  const follows = (files: readonly LogFile[]) => follow(files);
  const foreign = await write(join(folder, 'other'), [[1, 5]], partOf(other, 'log'));
  await assert.rejects(follows([foreign]), ForeignPart);
  const ofOther = given([batch(1, 5, tagOf(other))]);
  mkdirSync(join(folder, 'tagged'));
  const tagged = await writeLogFile(join(folder, 'tagged'), part, ofOther, options);
  await assert.rejects(
    follows([tagged!]),
    (error) => error instanceof JournalDamaged && /is damaged at sequence 1: /.test(error.message),
  );
  const digests = new Map([[first!.path, 'f'.repeat(64)]]);
  await assert.rejects(async () => {
    for await (const _ of followFiles({ files: [first!], part, identities: [], digests }, tag, 0, 0));
  }, /its SHA-256 is /);
  const renamed = join(folder, `${'6'.padStart(16, '0')}-${'9'.padStart(16, '0')}.log`);
  renameSync(second!.path, renamed);
  await assert.rejects(
    follows(logFilesIn(folder)),
    (error) =>
      error instanceof ArchiveDamaged && /it ends with sequence 7 and is named for 9/.test(error.message),
  );
});

test('the entries of a batch name the requests that caused them', () => {
  const bytes = Buffer.from(batch(3, 4).bytes);
  const entries = entriesOf({ bytes }, 4);
  assert.deepEqual(
    entries.map(({ sequence, requestId }) => [sequence, requestId]),
    [
      [5, 'req_00000000000000000000000005'],
      [6, null],
    ],
  );
  assert.deepEqual(entries[1]!.changes, turnAt(6, 1).entries[0]!.changes);
  assert.equal(entriesOf({ bytes }, 6).length, 0);
});

type Found = readonly (readonly [from: number, to: number | null] | string)[];

async function read(reader: FiledLogReader, range = {}): Promise<Found> {
  const found: (readonly [number, number | null] | string)[] = [];
  for await (const each of reader.read(range))
    found.push(
      isDefect(each)
        ? `${each.fromSequence}-${each.toSequence}: ${each.defect.replace(/^.*\.log/, 'the file')}`
        : [each.firstSequence, each.lastSequence],
    );
  return found;
}

test('a log of files is read by ranges, both ways', async (context) => {
  const files = logFilesIn(await archive(context));
  const reader = new FiledLogReader('archive', identity, files.toReversed(), [], 12);
  assert.deepEqual(
    [reader.firstSequence(), reader.sequenceBefore(), reader.checkpointSequence()],
    [1, 0, null],
  );
  for (const [range, expected] of [
    [{}, archived],
    [{ after: 2 }, archived.slice(1)],
    [{ after: 4 }, archived.slice(2)],
    [{ after: 12 }, []],
    [{ upTo: 3 }, archived.slice(0, 2)],
    [{ upTo: 6 }, archived.slice(0, 4)],
    [{ after: 5, upTo: 8 }, archived.slice(3, 5)],
    [{ reverse: true }, archived.toReversed()],
    [{ reverse: true, after: 4, upTo: 6 }, archived.slice(2, 4).toReversed()],
  ] as const)
    assert.deepEqual(await read(reader, range), expected, JSON.stringify(range));
  assert.equal(new FiledLogReader('none', identity, [], []).firstSequence(), null);
});

test('a log of files tells what is missing and damaged in its place, and goes on behind it', async (context) => {
  const folder = await archive(context);
  const files = () => logFilesIn(folder);
  const reader = (end = 12) => new FiledLogReader('archive', identity, files(), [], end);
  await write(folder, [
    [4, 5],
    [6, 7],
  ]);
  assert.deepEqual(await read(reader()), archived, 'what two files hold counts once');
  assert.deepEqual(await read(reader(), { reverse: true }), archived.toReversed(), 'backwards, too');
  for (const { path, first, last } of files()) if (first === 4 || last === 7) rmSync(path);
  assert.deepEqual(await read(reader()), [
    ...archived.slice(0, 3),
    '6-7: there is no batch with the entries 6 to 7',
    ...archived.slice(4),
  ]);
  assert.deepEqual(await read(reader(15), { after: 5 }), [
    '6-7: there is no batch with the entries 6 to 7',
    ...archived.slice(4),
    '13-15: the entries up to 15 were written, and the last file ends with 12',
  ]);
  assert.deepEqual(await read(reader(15), { upTo: 12 }), await read(reader(12)));
  // A byte of the second batch.
  const { path } = files()[0]!;
  const bytes = readFileSync(path);
  const at = bytes.indexOf(batch(3, 1).bytes) + 60;
  writeFileSync(path, bytes.fill(bytes[at]! ^ 1, at, at + 1));
  const [first, damaged, ...rest] = await read(reader());
  assert.deepEqual(first, [1, 2]);
  assert.match(String(damaged), /^3-5: the file is damaged at byte \d+: /);
  assert.deepEqual(rest, ['6-7: there is no batch with the entries 6 to 7', ...archived.slice(4)]);
  const reversed = await read(reader(), { reverse: true });
  assert.deepEqual(reversed, [[9, 12], [8, 8], damaged, [1, 2]]);
});

test('damage in the last file of a log is told once: the file has the end', async (context) => {
  const folder = await archive(context);
  const { path } = logFilesIn(folder).at(-1)!;
  const bytes = readFileSync(path);
  const at = bytes.indexOf(batch(9, 4).bytes) + 60;
  writeFileSync(path, bytes.fill(bytes[at]! ^ 1, at, at + 1));
  const found = await read(new FiledLogReader('archive', identity, logFilesIn(folder), [], 12));
  assert.deepEqual(found.slice(0, -1), archived.slice(0, -1));
  assert.match(String(found.at(-1)), /^9-12: the file is damaged at byte \d+: /);
});

test('a file that holds what others hold, and more, is read once backwards', async (context) => {
  const folder = await archive(context);
  await write(folder, archived);
  const reader = new FiledLogReader('archive', identity, logFilesIn(folder), []);
  assert.deepEqual(await read(reader, { reverse: true, after: 3 }), archived.slice(2).toReversed());
});

test('a batch that belongs elsewhere is a defect of a log of files, and the next one follows', async (context) => {
  const folder = temporaryFolder(context);
  const source = given([batch(1, 2), batch(3, 2, tagOf(other)), batch(5, 1)]);
  await writeLogFile(folder, part, source, options);
  const found = await read(new FiledLogReader('archive', identity, logFilesIn(folder), []));
  assert.deepEqual(
    [found[0], found[2]],
    [
      [1, 2],
      [5, 5],
    ],
  );
  assert.match(String(found[1]), /^3-4: the batch after 2: /);
});
