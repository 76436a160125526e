// The log read from outside: beside the journal that writes it, and with damage of every kind in it.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  entriesOf,
  type FoundBatch,
  isDefect,
  type LogDefect,
  LogReader,
} from '../../src/journal/log-reader.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  digest,
  flip,
  identity,
  indexRowsOf,
  journalIn,
  overwrite,
  startMs,
  turnAt,
  upTo,
} from './journal-fixtures.ts';

const segmentBytesMax = 48 * 1024;

function open(dir: string) {
  const mapSizes = { log: 1 << 24, state: 1 << 24 };
  return journalIn(dir, { mapSizes, segmentBytesMax });
}

/** A closed journal with some segments: 60 turns of one to five entries. */
async function written(context: TestContext): Promise<LogReader> {
  const dir = temporaryFolder(context);
  const journal = await open(dir);
  for (let turn = 0; turn < 60; turn++) await appendTurns(journal, [1 + (turn % 5)], startMs + turn * 1_000);
  await journal.close();
  return new LogReader(join(dir, 'log'), identity);
}

const last = 180;
/** The batch that is damaged. */
const bad = 20;

function readAll(files: LogReader, range = {}): { batches: FoundBatch[]; defects: LogDefect[] } {
  const found = [...files.read(range)];
  return {
    batches: found.filter((each): each is FoundBatch => !isDefect(each)),
    defects: found.filter(isDefect),
  };
}

function sequencesIn(batches: readonly FoundBatch[]): number[] {
  return batches.flatMap((batch) => entriesOf(batch).map(({ sequence }) => sequence));
}

test('all of a log is read in order, with its times and stored responses', async (context) => {
  const files = await written(context);
  assert(files.segments().length > 3, String(files.segments().length));
  const { batches, defects } = readAll(files);
  assert.deepEqual(defects, []);
  const entries = batches.flatMap((batch) => entriesOf(batch));
  assert.deepEqual(
    entries.map(({ sequence }) => sequence),
    upTo(last),
  );
  for (const { sequence, changes, response, wallMs, shard } of entries) {
    assert.equal(shard, identity.shard);
    const turn = turnAt(sequence, 1);
    assert.deepEqual(changes, turn.entries[0]!.changes);
    const kept = turn.entries[0]!.idempotency;
    assert.equal(response?.requestId, kept?.requestId);
    assert.equal((wallMs - startMs) % 1_000, 0);
  }
});

test('a batch says the byte of the file at which it lies', async (context) => {
  const files = await written(context);
  for (const { file, byte, bytes } of readAll(files).batches) {
    assert(
      readFileSync(file)
        .subarray(byte!, byte! + bytes.length)
        .equals(bytes),
    );
  }
});

test('a part of a log begins and ends with the batches that hold its bounds', async (context) => {
  const files = await written(context);
  const whole = readAll(files).batches;
  for (const after of [0, 1, 7, 50, 51, 52, 53, 120, last - 1, last, last + 5]) {
    for (const end of [after + 1, after + 30, last, Number.POSITIVE_INFINITY]) {
      const expected = whole.filter((batch) => batch.lastSequence > after && batch.firstSequence <= end);
      const { batches, defects } = readAll(files, { after, upTo: end });
      assert.deepEqual(sequencesIn(batches), sequencesIn(expected), `${after} ${end}`);
      assert.deepEqual(defects, []);
    }
  }
  assert.deepEqual(
    readAll(files, { reverse: true }).batches.map(({ firstSequence }) => firstSequence),
    whole.map(({ firstSequence }) => firstSequence).reverse(),
  );
  const at = files.sequenceBefore(startMs + 30_500);
  const next = readAll(files, { after: at }).batches[0]!;
  assert(next.wallMs <= startMs + 30_000 && at > 0, `${at}`);
});

test('read backwards, a log has the same batches within the same bounds', async (context) => {
  const files = await written(context);
  const segments = files.segments().map(({ firstSequence }) => firstSequence);
  assert.ok(segments.length > 2);
  const atSegments = segments.slice(1).flatMap((first) => [{ after: first - 2 }, { after: first - 1 }]);
  for (const range of [{}, { after: 50 }, { upTo: 100 }, { after: 50, upTo: 100 }, ...atSegments]) {
    const forwards = readAll(files, range);
    const backwards = readAll(files, { ...range, reverse: true });
    assert.deepEqual([forwards.defects, backwards.defects], [[], []]);
    assert.deepEqual(
      backwards.batches.map(({ firstSequence }) => firstSequence),
      forwards.batches.map(({ firstSequence }) => firstSequence).toReversed(),
    );
    const { after = 0, upTo: end = last }: { after?: number; upTo?: number } = range;
    assert.ok(forwards.batches.every((each) => each.lastSequence > after && each.firstSequence <= end));
    assert.ok(
      forwards.batches[0]!.firstSequence <= after + 1 && forwards.batches.at(-1)!.lastSequence >= end,
    );
  }
});

test('a newest segment that is noted and missing is told at that end of the log, if it is asked for', async (context) => {
  const files = await written(context);
  const noting = (newest: number) =>
    new LogReader(
      files.name,
      identity,
      () => 0,
      () => newest,
    );
  const { firstSequence: newest, file } = files.segments().at(-1)!;
  assert.deepEqual(readAll(noting(newest)).defects, [], 'it is there');
  rmSync(join(file, '..'), { recursive: true });
  const batches = readAll(files).batches.length;
  for (const reverse of [false, true]) {
    const found = [...noting(newest).read({ reverse })];
    assert.equal(found.length, batches + 1);
    const told = found.at(reverse ? 0 : -1) as LogDefect;
    assert.deepEqual(told, {
      shard: identity.shard,
      file,
      segment: newest,
      byte: null,
      defect: 'the newest segment is missing',
      fromSequence: newest,
      toSequence: null,
    });
    assert.equal([...noting(newest).read({ reverse, upTo: newest })].filter(isDefect).length, 1);
    assert.deepEqual([...noting(newest).read({ reverse, upTo: newest - 1 })].filter(isDefect), []);
  }
  for (const { file: other } of files.segments()) rmSync(join(other, '..'), { recursive: true });
  const [only] = [...noting(1).read()];
  assert.ok(only !== undefined && isDefect(only) && only.segment === 1, 'also the only one');
});

test('read backwards, damage is told where it lies', async (context) => {
  const files = await written(context);
  const before = readAll(files).batches;
  const { file, byte, bytes, firstSequence } = before[bad]!;
  flip(file, byte! + bytes.length - 1);
  const found = [...files.read({ reverse: true })];
  assert.deepEqual(
    found.map((each) => (isDefect(each) ? `damage of ${each.fromSequence}` : each.firstSequence)),
    before.map((each, at) => (at === bad ? `damage of ${firstSequence}` : each.firstSequence)).toReversed(),
  );
});

test('before the first entry, and in a log without one, there is nothing to start from', async (context) => {
  const files = await written(context);
  assert.equal(files.sequenceBefore(startMs - 1), 0);
  const empty = new LogReader(temporaryFolder(context), identity);
  assert.deepEqual([empty.firstSequence(), empty.sequenceBefore(startMs), [...empty.read()]], [null, 0, []]);
});

test('a log is read while it is written, and nothing that is durable is left out', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await open(dir);
  const files = new LogReader(join(dir, 'log'), identity);
  await appendTurns(journal, [1]);
  let isOver = false;
  const writing = (async () => {
    for (let turn = 0; turn < 400; turn++) await appendTurns(journal, [1 + (turn % 3)]);
    isOver = true;
  })();
  let reads = 0;
  for (let seen = 0; !isOver || seen < journal.log.nextSequence - 1; reads++) {
    const durable = seen;
    const { batches, defects } = readAll(files, { after: seen });
    assert.deepEqual(defects, []);
    const found = batches.flatMap((batch) => entriesOf(batch, durable).map(({ sequence }) => sequence));
    assert.deepEqual(found, upTo(durable + found.length, durable + 1));
    seen += found.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writing;
  assert(reads > 10);
  await journal.close();
});

interface Damage {
  readonly name: string;
  /** Damages the log, of which these are the batches; says what must be told. */
  readonly damage: (files: LogReader, batches: readonly FoundBatch[]) => Partial<LogDefect>;
  readonly defect: RegExp;
}

const damages: readonly Damage[] = [
  {
    name: 'a byte of a batch',
    damage(_, batches) {
      const { file, byte, bytes, firstSequence, lastSequence } = batches[bad]!;
      flip(file, byte! + bytes.length - 1);
      return { file, byte, fromSequence: firstSequence, toSequence: lastSequence };
    },
    defect: /begins with \d+: its checksum does not match/,
  },
  {
    name: 'a page of the file',
    damage(files, batches) {
      const { file, segment } = batches[bad]!;
      const next = files.segments().find(({ firstSequence }) => firstSequence > segment)!.firstSequence;
      // The root of the tree is the page that its header names.
      const bytes = readFileSync(file);
      const metas = [0, 4096].map((at) => bytes.subarray(at, at + 4096));
      const newest = metas[0]!.readBigUInt64LE(152) > metas[1]!.readBigUInt64LE(152) ? metas[0]! : metas[1]!;
      const root = Number(newest.readBigUInt64LE(96 + 40)) * 4096;
      overwrite(file, root, Buffer.alloc(4096));
      return { file, byte: root, fromSequence: segment, toSequence: next - 1 };
    },
    defect: /page \d+ is overwritten/,
  },
  {
    name: 'the header pages of a file',
    damage(files, batches) {
      const { file, segment } = batches[bad]!;
      const next = files.segments().find(({ firstSequence }) => firstSequence > segment)!.firstSequence;
      overwrite(file, 0, Buffer.alloc(8192));
      return { file, byte: 0, fromSequence: segment, toSequence: next - 1 };
    },
    defect: /its header page 0 is overwritten/,
  },
  {
    name: 'a file that was cut short',
    damage(_, batches) {
      const { file, segment } = batches[bad]!;
      truncateSync(file, 8192);
      return { file, fromSequence: segment };
    },
    defect: /lies outside of the file/,
  },
  {
    name: 'a segment that is missing',
    damage(files) {
      const [, second, third] = files.segments();
      rmSync(join(second!.file, '..'), { recursive: true });
      return {
        file: third!.file,
        fromSequence: second!.firstSequence,
        toSequence: third!.firstSequence - 1,
      };
    },
    defect: /there is no batch with the entries \d+ to \d+/,
  },
  {
    name: 'a file that is missing',
    damage(files) {
      const [, second, third] = files.segments();
      rmSync(second!.file);
      return {
        file: second!.file,
        fromSequence: second!.firstSequence,
        toSequence: third!.firstSequence - 1,
      };
    },
    defect: /the file is missing/,
  },
];

for (const { name, damage, defect } of damages) {
  test(`${name} is told with its place, and the rest is read`, async (context) => {
    const files = await written(context);
    const before = readAll(files).batches;
    const expected = damage(files, before);
    const { batches, defects } = readAll(files);
    assert.equal(defects.length, 1, JSON.stringify(defects));
    const [told] = defects as [LogDefect];
    assert.match(told.defect, defect);
    assert.deepEqual({ ...told, ...expected }, told);
    const gone = ({ firstSequence }: FoundBatch) =>
      firstSequence >= told.fromSequence && firstSequence <= told.toSequence!;
    assert.deepEqual(
      batches.map(({ firstSequence }) => firstSequence),
      before.filter((batch) => !gone(batch)).map(({ firstSequence }) => firstSequence),
    );
    assert(batches.length < before.length);
    // Who reads on from right in front of it hears the same.
    assert.deepEqual(readAll(files, { after: told.fromSequence - 1 }).defects, [told]);
    // Who reads on from behind it does not read it.
    assert.deepEqual(readAll(files, { after: told.toSequence! }).defects, []);
  });
}

test('no file of a log stays open, whether it is read to its end or not', async (context) => {
  const files = await written(context);
  readAll(files);
  for (const _batch of files.read({ after: 90 })) break;
  assert.deepEqual(openFilesIn(files.name), []);
});

test('a segment in the place of a later one is not read there', async (context) => {
  const files = await written(context);
  const [earlier, later] = files.segments();
  cpSync(earlier!.file, later!.file);
  const told = `${later!.file} is the segment of the log that begins with sequence ${earlier!.firstSequence}: put each part back`;
  const { defects } = readAll(files);
  assert.equal(defects.length, 1);
  assert.ok(defects[0]!.defect.startsWith(told), defects[0]!.defect);
});

test('a segment of another shard, folder or generation is not taken for one of this log', async (context) => {
  const files = await written(context);
  for (const [field, value, message] of [
    ['shard', 2, /is shard-1\/log of this data folder/],
    ['generation', 3, /is from before a reshard/],
    ['folder', 'f'.repeat(32), /belongs to another data folder/],
  ] as const) {
    const { batches, defects } = readAll(new LogReader(files.name, { ...identity, [field]: value }));
    assert.equal(batches.length, 0);
    assert.equal(defects.length, files.segments().length);
    assert.match(defects[0]!.defect, message);
  }
  // The label says one thing, and the batches another.
  const foreign = temporaryFolder(context);
  const other = { ...identity, shard: 2 };
  const journal = await openJournal({ dir: foreign, identity: other, indexRowsOf });
  await appendTurns(journal, [1]);
  await journal.close();
  const [mine] = files.segments();
  const [theirs] = new LogReader(join(foreign, 'log'), other).segments();
  const label = Buffer.from('shard-1/log');
  const bytes = readFileSync(theirs!.file);
  for (let at = bytes.indexOf('shard-2/log'); at >= 0; at = bytes.indexOf('shard-2/log'))
    label.copy(bytes, at);
  overwrite(theirs!.file, 0, bytes);
  cpSync(theirs!.file, mine!.file);
  assert.match(readAll(files).defects[0]!.defect, /it is of another shard, or data folder/);
});

test('what a service drops while its log is read is not missed', async (context) => {
  const files = await written(context);
  const dropped = files.segments().slice(0, 2);
  const reading = files.read();
  const batch = reading.next().value as FoundBatch;
  assert.equal(batch.segment, dropped[0]!.firstSequence);
  for (const { file, firstSequence } of dropped)
    renameSync(join(file, '..'), join(files.name, `${firstSequence}.dropped`));
  const rest = [...reading];
  assert.deepEqual(rest.filter(isDefect), []);
  assert.equal((rest.at(-1) as FoundBatch).lastSequence, last);
});

test('an entry gives its response back with the digest that it is found by', async (context) => {
  const files = await written(context);
  const found = readAll(files).batches.flatMap((batch) => entriesOf(batch));
  const key = Buffer.from(digest(7));
  const [entry] = found.filter(({ idempotency }) => idempotency && key.equals(idempotency.keyDigest));
  assert.equal(entry?.sequence, 7);
});

test('whatever page of a segment is overwritten, all else is read, and what is missing is told', async (context) => {
  const files = await written(context);
  const { file } = files.segments()[1]!;
  const sound = readFileSync(file);
  const whole = readAll(files).batches.map(({ firstSequence }) => firstSequence);
  const reads = new Set<number>();
  for (let at = 0; at < sound.length; at += 4_096) {
    if (sound.subarray(at, at + 4_096).every((byte) => byte === 0)) continue;
    overwrite(file, at, Buffer.alloc(4_096, 0xff));
    for (const reverse of [false, true]) {
      const { batches, defects } = readAll(files, { reverse });
      const read = batches.map(({ firstSequence }) => firstSequence);
      if (reverse) read.reverse();
      assert.deepEqual(
        read,
        whole.filter((first) => read.includes(first)),
        'in order, and once',
      );
      reads.add(whole.length - read.length);
      // Backwards no gap is told, such as the one that is left when the newest of two heads is lost.
      if (read.length === whole.length || reverse) continue;
      assert.ok(defects.length > 0, `${whole.length - read.length} are missing, page ${at / 4_096}`);
      assert.ok(defects.every((defect) => defect.file === file || defect.defect.includes('no batch')));
      const lost = whole.filter((first) => !read.includes(first));
      const isTold = (first: number) =>
        defects.some(
          ({ fromSequence, toSequence }) => fromSequence <= first && first <= (toSequence ?? Infinity),
        );
      assert.ok(lost.every(isTold), `page ${at / 4_096}`);
    }
    overwrite(file, at, sound.subarray(at, at + 4_096));
  }
  assert.ok(reads.has(0) && reads.size > 2, 'pages of many batches, of one, and of none');
});
