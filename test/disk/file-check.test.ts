// Files that were cut or overwritten. LMDB itself would end this process on many of them, so the test shows that the check
// prevents that, and that no row is ever lost without an error.

import assert from 'node:assert/strict';
import fs, { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileDefect } from '../../src/disk/file-check.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { openFollower, openJournal } from '../../src/journal/open-journal.ts';
import { inspectJournal } from '../../src/journal/stopped-journal.ts';
import {
  appendTurns,
  digest,
  encoded,
  identity,
  indexRowsOf,
  journalIn,
  paymentIntent,
  replayOf,
  sequencesOf,
  upTo,
} from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const pageBytes = 4_096;

/** A closed journal: one segment whose tree has branches, and a checkpoint. */
async function written(context: TestContext) {
  const dir = temporaryFolder(context);
  const journal = await journalIn(dir);
  await appendTurns(journal, [...Array<number>(30).fill(1), 20, ...Array<number>(30).fill(1)]);
  const records = encoded(upTo(40).map((number) => paymentIntent(number)));
  await journal.checkpoint.write({ records, sequence: 2, idempotencyRecords: [] });
  await journal.close();
  const log = join(dir, 'log', '0000000000000001', 'data.mdb');
  return { dir, log, state: join(dir, 'state', 'data.mdb'), last: 80 };
}

/** The result of opening and reading everything: `damaged` or `whole`. */
async function outcome(dir: string, last: number): Promise<string> {
  try {
    const journal = await journalIn(dir);
    try {
      const sequences = sequencesOf(await replayOf(journal));
      const read = [...journal.checkpoint.scan('payment_intent', { descending: false })].map((id) =>
        journal.checkpoint.get(id),
      );
      const isWhole = read.length === 40 && read.every((record) => record !== undefined);
      const end = sequences.at(-1)!;
      assert.deepEqual(sequences, upTo(end, 3));
      assert.equal(journal.log.nextSequence, end + 1);
      assert(isWhole && end === last, 'something was lost without a word');
      return 'whole';
    } finally {
      await journal.close();
    }
  } catch (error) {
    assert(error instanceof JournalDamaged, String((error as Error).stack));
    return 'damaged';
  }
}

/** Up to where the newest of the two header pages says that pages are in use. */
function usedSize(bytes: Buffer): number {
  const [first, second] = [0, pageBytes].map((page) => ({
    transaction: bytes.readBigUInt64LE(page + 152),
    lastPage: bytes.readBigUInt64LE(page + 144),
  })) as [Header, Header];
  const { lastPage } = first.transaction > second.transaction ? first : second;
  return (Number(lastPage) + 1) * pageBytes;
}

interface Header {
  readonly transaction: bigint;
  readonly lastPage: bigint;
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 16) & 255;
  };
}

for (const which of ['log', 'state'] as const) {
  test(`a page of the ${which} that is overwritten is found`, async (context) => {
    const subject = await written(context);
    const file = subject[which];
    const good = readFileSync(file);
    const noise = random(7);
    const counts: Record<string, number> = { damaged: 0, whole: 0 };
    for (const fill of [() => 0, () => 0xff, noise])
      for (let start = 0; start < good.length; start += pageBytes) {
        const bad = Buffer.from(good);
        for (let position = start; position < start + pageBytes; position++) bad[position] = fill();
        writeFileSync(file, bad);
        counts[await outcome(subject.dir, subject.last)]! += 1;
      }
    writeFileSync(file, good);
    assert.equal(await outcome(subject.dir, subject.last), 'whole');
    // Most pages of a small file are old copies that nobody reads any more.
    assert(counts.damaged! >= 10 && counts.whole! >= 10, JSON.stringify(counts));
  });

  test(`a ${which} that is cut short is found`, async (context) => {
    const subject = await written(context);
    const file = subject[which];
    const copy = `${file}.good`;
    copyFileSync(file, copy);
    // The file beyond this was filled ahead and may be lost.
    const size = usedSize(readFileSync(file));
    for (const length of [0, 1, 100, pageBytes, 2 * pageBytes, size >> 1, size - 3 * pageBytes]) {
      truncateSync(file, length);
      const told = `lies outside of the file, which has ${length} bytes`;
      assert.match(fileDefect(file, 'branches') ?? '', new RegExp(`page \\d+ ${told}$`));
      assert.equal(await outcome(subject.dir, subject.last), 'damaged', `${length} of ${size} bytes`);
      copyFileSync(copy, file);
    }
    assert.equal(await outcome(subject.dir, subject.last), 'whole');
  });
}

test('a file that lost nothing but pages without use is whole', async (context) => {
  const { dir, log, last } = await written(context);
  const size = readFileSync(log).length;
  const bytes = readFileSync(log);
  // The header claims a page more than the file has, as it does after LMDB freed the last page again.
  for (const start of [0, pageBytes]) bytes.writeBigUInt64LE(BigInt(size / pageBytes), start + 144);
  writeFileSync(log, bytes);
  assert.equal(await outcome(dir, last), 'whole');
});

test('a file that is missing is a defect', async (context) => {
  assert.equal(fileDefect(join(temporaryFolder(context), 'data.mdb'), 'branches'), 'it is missing');
});

test('a start checks each file once: its inspection does, and neither the shard nor its follower again', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await journalIn(dir, { segmentBytesMax: 1 });
  await appendTurns(journal, Array<number>(9).fill(2));
  await journal.checkpointer.write(6);
  await journal.close();
  const paths = new Map<number, string>();
  const read: string[] = [];
  const { openSync, readSync } = fs;
  context.mock.method(fs, 'openSync', (...[path, ...rest]: Parameters<typeof openSync>) => {
    const file = openSync(path, ...rest);
    paths.set(file, relative(dir, String(path)));
    return file;
  });
  context.mock.method(fs, 'readSync', (...[file, ...rest]: Parameters<typeof readSync>) => {
    // Each time that a file is opened, its first read counts.
    const path = paths.get(file);
    if (path !== undefined) read.push(path);
    paths.delete(file);
    return readSync(file, ...rest);
  });
  syncBuiltinESMExports();
  context.after(syncBuiltinESMExports);
  const checked = () => read.filter((path) => path.endsWith('.mdb'));

  const options = { dir, identity, indexRowsOf };
  assert.equal(await inspectJournal(options, ({ isWhole }) => isWhole), true);
  const files = readdirSync(join(dir, 'log')).map((segment) => `log/${segment}/data.mdb`);
  assert.equal(files.length, 9);
  assert.deepEqual(checked(), ['state/data.mdb', ...files]);
  read.length = 0;
  const opened = await openJournal({ ...options, isChecked: true });
  const follower = openFollower({ ...options, isChecked: true });
  assert.deepEqual(sequencesOf(await replayOf(opened)), upTo(18, 7));
  assert.equal(await follower.write(18), 24);
  for (const sequence of [1, 3, 5, 7, 9, 11, 1]) {
    const location = { record: sequence, offset: 0 };
    assert.equal(opened.log.readResponse(location, digest(sequence))?.status, 200);
  }
  assert.deepEqual(checked(), []);
  await follower.close();
  await opened.close();
});

test('an old segment that is damaged is checked again by whoever needs it', async (context) => {
  const dir = temporaryFolder(context);
  const options = { dir, identity, indexRowsOf };
  const journal = await openJournal({ ...options, segmentBytesMax: 1 });
  await appendTurns(journal, [2, 2, 2]);
  await journal.checkpointer.write(4);
  await journal.close();
  truncateSync(join(dir, 'log', '0000000000000001', 'data.mdb'), pageBytes);
  const isChecked = await inspectJournal(options, ({ isWhole }) => isWhole);
  assert.equal(isChecked, false);
  const opened = await openJournal({ ...options, isChecked });
  assert.deepEqual(sequencesOf(await replayOf(opened)), [5, 6]);
  assert.throws(() => opened.log.readResponse({ record: 1, offset: 0 }, digest(1)), JournalDamaged);
  await opened.close();
});
