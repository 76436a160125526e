// A journal that is copied while it is written, and built anew from the copy: what was copied is there, byte for byte, under
// the identity of the new folder.

import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Block } from '../../src/disk/archive-file.ts';
import { tagOf } from '../../src/disk/identity.ts';
import type { Change } from '../../src/domain/record.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { checkedHeader } from '../../src/journal/log/codec.ts';
import { isDefect, LogReader } from '../../src/journal/log-reader.ts';
import { foldersOfJournal, openJournal } from '../../src/journal/open-journal.ts';
import {
  inspectJournal,
  JournalCopy,
  readStoppedJournal,
  recordsIn,
  restoreCheckpoint,
  restoreLog,
  rowsOfBlock,
  storedState,
} from '../../src/journal/stopped-journal.ts';
import { openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  createEntry,
  digest,
  identity,
  indexRowsOf,
  paymentIntent,
  replayOf,
  segmentEachTurn,
  sequencesOf,
  startMs,
  upTo,
} from './journal-fixtures.ts';

const segmentBytesMax = 1;
const restoredAs = { ...identity, folder: 'f'.repeat(32), shard: 0 };
const minuteMs = 60_000;

/** A journal that is open, with four batches of nine entries, of which the checkpoint has the first two. */
async function running(context: TestContext) {
  const dir = temporaryFolder(context);
  const journal = await openJournal(segmentEachTurn(dir));
  for (const [turn, size] of [2, 3, 1, 3].entries()) {
    await appendTurns(journal, [size], startMs + turn * minuteMs);
    if (turn === 1) await journal.checkpointer.write(5);
  }
  const copy = new JournalCopy({ dir, identity, segmentBytesMax });
  context.after(async () => {
    await copy.close();
    await journal.close();
  });
  return { dir, journal, copy };
}

async function blocksOf(copy: JournalCopy): Promise<{ sequence: number; blocks: Block[] }> {
  const checkpoint = copy.checkpoint();
  const blocks: Block[] = [];
  for await (const { type, bytes } of checkpoint.rows()) blocks.push({ type, bytes: Buffer.from(bytes) });
  checkpoint.close();
  return { sequence: checkpoint.sequence, blocks };
}

async function* each<T>(some: Iterable<T>) {
  yield* some;
}

async function batchesOf(
  copy: JournalCopy,
  after: number,
  upTo: number,
  onMissing: (first: number, last: number) => void = (first, last) => assert.fail(`${first} to ${last}`),
) {
  const found = [];
  for await (const batch of copy.batches(after, upTo, onMissing)) found.push(batch);
  return found;
}

test('a copy sees the ends of the log, its times, and what comes after it was made', async (context) => {
  const { journal, copy } = await running(context);
  copy.refuseMissingSegment();
  assert.deepEqual([copy.logStart, copy.logEnd, copy.finishedEnd], [1, 9, 6]);
  for (const [after, turn] of [
    [0, 0],
    [1, 0],
    [2, 1],
    [5, 2],
    [6, 3],
    [8, 3],
  ] as const)
    assert.equal(await copy.timeAfter(after), startMs + turn * minuteMs, `after ${after}`);
  assert.equal(await copy.timeAfter(9), null);
  const places = async (after: number, end: number) =>
    (await batchesOf(copy, after, end)).map(({ firstSequence, lastSequence }) => [
      firstSequence,
      lastSequence,
    ]);
  assert.deepEqual(await places(0, 9), [
    [1, 2],
    [3, 5],
    [6, 6],
    [7, 9],
  ]);
  assert.deepEqual(await places(3, 6), [
    [3, 5],
    [6, 6],
  ]);
  await appendTurns(journal, [1]);
  copy.refuseMissingSegment();
  assert.deepEqual([copy.logEnd, copy.finishedEnd], [10, 9]);
  assert.deepEqual(await places(9, 10), [[10, 10]]);
});

test('what is dropped while it is copied is left out, and that is said', async (context) => {
  const { journal, copy } = await running(context);
  assert.equal(copy.logEnd, 9);
  await journal.checkpointer.write(9);
  await journal.checkpointer.drop(startMs + 2 * minuteMs);
  const missing: unknown[] = [];
  const left = await batchesOf(copy, 0, 9, (first, last) => missing.push([first, last]));
  assert.deepEqual([left[0]?.firstSequence, left.at(-1)?.lastSequence, copy.logStart], [6, 9, 6]);
  assert.deepEqual(missing, [[1, 5]]);
  assert.equal(await copy.timeAfter(0), startMs + 2 * minuteMs);
});

test('what was read is made durable also when the newest segment was dropped meanwhile', async (context) => {
  const { journal, copy } = await running(context);
  await appendTurns(journal, [1, 1], startMs + 9 * minuteMs);
  await journal.checkpointer.write(11);
  await journal.checkpointer.drop(startMs + 20 * minuteMs);
  assert.doesNotThrow(() => copy.sync());
});

test('a segment that was given up is left out of a copy if the checkpoint has what it held', async (context) => {
  const { dir } = await running(context);
  for (const [given, after, places, missing] of [
    [3, 0, [1, 6, 7], [[3, 5]]],
    [3, 2, [6, 7], [[3, 5]]],
    [3, 4, [6, 7], [[5, 5]]],
    [6, 5, null, null],
    [6, 2, null, null],
  ] as const) {
    rmSync(join(dir, 'log', String(given).padStart(16, '0')), { recursive: true, force: true });
    const lacking = new JournalCopy({ dir, identity, segmentBytesMax });
    const found: unknown[] = [];
    const copied = batchesOf(lacking, after, 9, (first, last) => found.push([first, last]));
    if (places === null) {
      await assert.rejects(copied, /a segment is missing: sequences \d to 6 are in none/);
    } else {
      assert.deepEqual(
        (await copied).map(({ firstSequence }) => firstSequence),
        places,
      );
      assert.equal(await lacking.timeAfter(after), startMs + (after === 0 ? 0 : 2) * minuteMs);
    }
    if (missing !== null) assert.deepEqual(found, missing);
    await lacking.close();
  }
});

test('an empty journal has nothing to copy, and one that lacks its newest segment is not copied', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await openJournal(segmentEachTurn(dir));
  const copy = new JournalCopy({ dir, identity, segmentBytesMax });
  assert.deepEqual([copy.logStart, copy.logEnd, copy.finishedEnd], [1, 0, 0]);
  assert.equal(await copy.timeAfter(0), null);
  await appendTurns(journal, [1, 1]);
  await journal.close();
  await copy.close();
  rmSync(join(dir, 'log', '2'.padStart(16, '0')), { recursive: true });
  const lacking = new JournalCopy({ dir, identity, segmentBytesMax });
  assert.throws(() => lacking.refuseMissingSegment(), /newest segment of the log is missing/);
  await lacking.close();
});

test('a journal that is built from a copy has its records, keys and entries, and can be written', async (context) => {
  const { copy } = await running(context);
  const { sequence, blocks } = await blocksOf(copy);
  assert.equal(sequence, 5);
  const batches = await batchesOf(copy, 5, 9);
  const target = { dir: temporaryFolder(context), identity: restoredAs, segmentBytesMax };
  const rows = await restoreCheckpoint(target, each(blocks));
  assert.ok(rows > 5 * 2, `${rows} rows`);
  const kept = batches.map((batch) => ({ batch, last: batch.lastSequence }));
  assert.deepEqual(await restoreLog(target, each(kept), 5), {
    last: 9,
    wallMs: startMs + 3 * minuteMs,
    newestSegment: 6,
  });
  const journal = await openJournal(segmentEachTurn(target.dir, restoredAs));
  assert.equal(journal.checkpoint.sequence, 5);
  assert.deepEqual(sequencesOf(await replayOf(journal)), upTo(9, 6));
  for (let number = 1; number <= 5; number++)
    assert.deepEqual(journal.checkpoint.get(paymentIntent(number).id), paymentIntent(number));
  const keys = [...journal.checkpoint.idempotencyRecords(0)];
  assert.deepEqual(
    keys.map(({ keyDigest }) => Buffer.from(keyDigest)),
    [1, 3, 5].map((number) => Buffer.from(digest(number))),
  );
  await appendTurns(journal, [2]);
  await journal.close();
  const tags = [...new LogReader(join(target.dir, 'log'), restoredAs).read()];
  assert.ok(
    tags.length === 3 &&
      tags.every(
        (found) =>
          !isDefect(found) && typeof checkedHeader(found.bytes, null, tagOf(restoredAs)) !== 'string',
      ),
  );
});

test('a log is restored up to an entry in the middle of a batch', async (context) => {
  const { copy } = await running(context);
  const batches = await batchesOf(copy, 0, 9);
  const target = { dir: temporaryFolder(context), identity: restoredAs, segmentBytesMax: 1 << 20 };
  await restoreCheckpoint(target, each([]));
  const kept = batches.slice(0, 2).map((batch, at) => ({ batch, last: at === 1 ? 4 : batch.lastSequence }));
  assert.deepEqual(await restoreLog(target, each(kept), 0), {
    last: 4,
    wallMs: startMs + minuteMs,
    newestSegment: 1,
  });
  const journal = await openJournal({ ...segmentEachTurn(target.dir, restoredAs), segmentBytesMax: 1 << 20 });
  const replayed = await replayOf(journal);
  assert.deepEqual(sequencesOf(replayed), upTo(4));
  assert.deepEqual(
    replayed.map(({ changes }) => changes),
    upTo(4).map((number) => createEntry(number).changes),
  );
  const { location } = replayed[2]!.idempotency!;
  assert.equal(journal.log.readResponse(location, digest(3))?.requestId, 'req_00000000000000000000000003');
  await appendTurns(journal, [1]);
  assert.equal(journal.log.nextSequence, 6);
  await journal.close();
});

test('a log of which the copy lacks a part in the middle is restored from after that', async (context) => {
  const { copy } = await running(context);
  const { blocks } = await blocksOf(copy);
  const batches = await batchesOf(copy, 0, 9);
  for (const bytesMax of [1, 1 << 20]) {
    const target = { dir: temporaryFolder(context), identity: restoredAs, segmentBytesMax: bytesMax };
    await restoreCheckpoint(target, each(blocks));
    // The segments that have these were dropped before they were copied, with those before them.
    const left = batches.filter(({ firstSequence }) => firstSequence !== 3);
    const kept = left.map((batch) => ({ batch, last: batch.lastSequence }));
    const { newestSegment } = await restoreLog(target, each(kept), 5);
    assert.equal(newestSegment, 6);
    const restored = new JournalCopy(target);
    assert.deepEqual([restored.logStart, restored.logEnd], [6, 9]);
    const found = await batchesOf(restored, 5, 9);
    assert.deepEqual(
      found.map(({ firstSequence }) => firstSequence),
      [6, 7],
    );
    await restored.close();
    const read = [...new LogReader(join(target.dir, 'log'), restoredAs).read()];
    assert.ok(read.length === 2 && !read.some(isDefect));
  }
});

test('a log of which the copy lacks what the checkpoint has is restored from behind that', async (context) => {
  const { copy } = await running(context);
  const { blocks } = await blocksOf(copy);
  const [first] = await batchesOf(copy, 0, 2);
  // All segments, or those behind the first one, were dropped before they were copied.
  for (const kept of [[], [{ batch: first!, last: 2 }]]) {
    const target = { dir: temporaryFolder(context), identity: restoredAs, segmentBytesMax };
    await restoreCheckpoint(target, each(blocks));
    const { newestSegment } = await restoreLog(target, each(kept), 5);
    assert.equal(newestSegment, 6);
    const restored = new JournalCopy(target);
    assert.deepEqual([restored.logStart, restored.logEnd], [6, 5]);
    await restored.close();
    const journal = await openJournal(segmentEachTurn(target.dir, restoredAs));
    assert.deepEqual(await replayOf(journal), []);
    assert.equal(journal.log.nextSequence, 6);
    await journal.close();
  }
});

test('nothing to restore makes an empty log, and batches must ascend', async (context) => {
  const { copy } = await running(context);
  const [first, second] = await batchesOf(copy, 0, 5);
  const target = { dir: temporaryFolder(context), identity: restoredAs, segmentBytesMax };
  await restoreCheckpoint(target, each([]));
  assert.deepEqual(await restoreLog(target, each([]), 0), { last: 0, wallMs: 0, newestSegment: 0 });
  for (const wrong of [
    [
      { batch: second!, last: 5 },
      { batch: first!, last: 2 },
    ],
    [{ batch: first!, last: 3 }],
    [
      { batch: first!, last: 2 },
      { batch: first!, last: 2 },
    ],
  ])
    await assert.rejects(restoreLog(target, each(wrong), 0), /the batches of a restore ascend/);
});

test('a stopped journal is read as it was left: entries, stored responses, and metadata', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await openJournal(segmentEachTurn(dir));
  await appendTurns(journal, [3]);
  await journal.checkpointer.write(3);
  await appendTurns(journal, [2]);
  await journal.close();
  const found = await readStoppedJournal(segmentEachTurn(dir), async (stopped) => {
    const replayed = await replayOf(stopped);
    const { location } = replayed[1]!.idempotency!;
    return {
      sequences: sequencesOf(replayed),
      response: stopped.readResponse(location, digest(5))?.requestId,
      lost: stopped.readResponse({ record: 0, offset: 0 }, digest(5)),
      records: [...stopped.checkpoint.records()].filter(({ kind }) => kind === 'payment_intent').length,
      read: stopped.reader.sequence,
    };
  });
  assert.deepEqual(found, {
    sequences: [4, 5],
    response: 'req_00000000000000000000000005',
    lost: undefined,
    records: 3,
    read: 3,
  });
  assert.deepEqual(openFilesIn(dir), []);
});

test('what a checkpoint has of an object is the same in its file and in a copy, and so are its index rows', async (context) => {
  const { dir, copy } = await running(context);
  const { blocks } = await blocksOf(copy);
  const folder = foldersOfJournal(dir).checkpoint;
  for (const number of [1, 3, 5]) {
    const { id } = paymentIntent(number);
    const state = storedState(folder);
    const stored = [...(state.recordsFrom(id) as Iterable<Change>)];
    const made = stored.map((record) => record.id);
    const later = upTo(5, number + 1).map((each) => paymentIntent(each).id.replace('pi_', 'evt_'));
    assert.deepEqual([state.sequence, made], [5, [id, ...later]]);
    assert.deepEqual(
      blocks.flatMap((block) => [...recordsIn(rowsOfBlock(block), id)]),
      stored,
    );
  }
  await readStoppedJournal(segmentEachTurn(dir), ({ reader }) => {
    const record = paymentIntent(2);
    const rows = indexRowsOf(record);
    assert.deepEqual([...reader.missingRows(record, rows)], []);
    const wrong = [
      { list: 'payment_intent', value: null, sortKey: 'pi_none' },
      { list: 'no/such/list', value: null, sortKey: record.id },
      { list: 'customer/email=', value: 'a@b.test', sortKey: record.id },
    ];
    assert.deepEqual(
      [...reader.missingRows(record, [...rows, ...wrong])],
      ['payment_intent', 'no/such/list', 'customer/email='].map(
        (list) => `the record ${record.id} lacks its row in the index ${list}`,
      ),
    );
    const keys: Buffer[] = [];
    reader.eachIndexRow((key) => keys.push(Buffer.from(key)));
    assert.equal(keys.length, 5 * 3);
    assert.deepEqual(
      keys.map((key) => reader.strayRow(key, indexRowsOf)),
      keys.map(() => null),
    );
    for (const key of keys)
      assert.match(
        String(reader.strayRow(key, () => [])),
        /has the row .*, which the record .* does not ask for$/,
      );
    const number = reader.keyOf({ list: 'payment_intent', value: null, sortKey: 'pi_none' })!;
    assert.match(
      String(reader.strayRow(number, indexRowsOf)),
      /payment_intent has the row pi_none, and there is no such record/,
    );
    assert.match(
      String(reader.strayRow(Buffer.of(0xff, 0xff, 0xff, 0xff, 1), indexRowsOf)),
      /is of no list$/,
    );
  });
});

test('a look at a stopped journal tells its ends, whose entries are behind the checkpoint, and what is lost', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await openJournal(segmentEachTurn(dir));
  await appendTurns(journal, [2]);
  await journal.checkpointer.write(2);
  const look = () =>
    inspectJournal(
      segmentEachTurn(dir),
      ({ checkpoint, logEnd, isWhole, checksumAt, organizationsInLog, acceptMissingSegment }) => ({
        sequence: checkpoint.sequence,
        logEnd,
        isWhole,
        orgs: [...organizationsInLog()],
        at: [1, 2, 3].map(checksumAt).map((sum) => typeof sum),
        missing: acceptMissingSegment(),
      }),
    );
  await journal.close();
  const looked = await look();
  assert.deepEqual(
    { ...looked, at: null },
    { sequence: 2, logEnd: 2, isWhole: true, orgs: [], at: null, missing: null },
  );
  assert.equal(looked.at[1], 'number');
  const again = await openJournal(segmentEachTurn(dir));
  await replayOf(again);
  await appendTurns(again, [1]);
  await again.close();
  assert.deepEqual((await look()).orgs, [paymentIntent(1).org]);
  rmSync(join(dir, 'log', '3'.padStart(16, '0')), { recursive: true });
  await inspectJournal(segmentEachTurn(dir), ({ refuseMissingSegment }) =>
    assert.throws(refuseMissingSegment, /newest segment of the log is missing/),
  );
  assert.match(String((await look()).missing), /0000000000000003$/);
  assert.equal((await look()).missing, null, 'it was given up');
});

test('a look at a stopped journal goes on where a segment is damaged, and says that not all is whole', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await openJournal(segmentEachTurn(dir));
  await appendTurns(journal, [2, 1, 1]);
  await journal.checkpointer.write(2);
  await journal.close();
  const look = () => inspectJournal(segmentEachTurn(dir), ({ isWhole, logEnd }) => ({ isWhole, logEnd }));
  const files = [1, 3].map((first) => join(dir, 'log', String(first).padStart(16, '0'), 'data.mdb'));
  for (const file of files) {
    const before = readFileSync(file);
    assert.deepEqual(await look(), { isWhole: true, logEnd: 4 });
    writeFileSync(file, Buffer.alloc(before.length, 0xff));
    assert.deepEqual(await look(), { isWhole: false, logEnd: 4 });
    writeFileSync(file, before);
  }
});

test('a stored response is read from a stopped log, and from nowhere there is none', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await openJournal(segmentEachTurn(dir));
  const { locations, durable } = journal.log.append({
    ...{ firstSequence: journal.log.nextSequence, timeMs: startMs, wallMs: startMs },
    entries: [createEntry(1, true)],
  });
  await durable;
  await journal.close();
  await readStoppedJournal(segmentEachTurn(dir), ({ readResponse }) => {
    assert.equal(
      readResponse(locations[0]!, digest(1))?.requestId,
      paymentIntent(1).id.replace('pi_', 'req_'),
    );
    assert.equal(readResponse({ record: 9, offset: 0 }, digest(1)), undefined);
    assert.throws(() => readResponse(locations[0]!, digest(2)), JournalDamaged);
  });
});

test('a checkpoint that is held stays readable as of its moment while it is written', async (context) => {
  const { journal, copy } = await running(context);
  const write = async (turns: number) => {
    for (let turn = 0; turn < turns; turn++) {
      await appendTurns(journal, [3], startMs + (10 + turn) * minuteMs);
      await journal.checkpointer.write(journal.log.nextSequence - 1);
    }
  };
  const { blocks: before } = await blocksOf(copy);
  const held = journal.holdCheckpoint();
  const checkpoint = copy.checkpoint(held.folder);
  await write(20);
  const blocks: Block[] = [];
  for await (const { type, bytes } of checkpoint.rows()) blocks.push({ type, bytes: Buffer.from(bytes) });
  checkpoint.close();
  assert.deepEqual(blocks, before);
  held.release();
  held.release();

  const late = copy.checkpoint(held.folder);
  await write(20);
  await assert.rejects(async () => {
    for await (const _ of late.rows());
  }, JournalDamaged);
  late.close();
});

test('a held checkpoint is released when the journal is closed', async (context) => {
  const { journal } = await running(context);
  const held = journal.holdCheckpoint();
  await journal.close();
  held.release();
});
