// Recovery of a damaged log: damage ends the recovery with a message that tells an operator what to do. A damaged batch at the
// very end, which was acknowledged like all others, is given up only when an operator says so.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { open as openLmdb } from 'lmdb';
import { toBufferKey } from 'ordered-binary';
import { causes } from '../../src/domain/cause.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { readBatchHeader } from '../../src/journal/log/codec.ts';
import { truncateDamagedEnd } from '../../src/journal/log/truncate-log.ts';
import { isDefect, LogReader } from '../../src/journal/log-reader.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import {
  type InspectedJournal,
  inspectJournal,
  readStoppedJournal,
} from '../../src/journal/stopped-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  digest,
  encoded,
  identity,
  indexRowsOf,
  journalIn,
  paymentIntent,
  recovered,
  replayOf,
  sequencesOf,
  startMs,
  turnAt,
  upTo,
} from './journal-fixtures.ts';
import { bytesOf } from './small-log.ts';

const everyTurn = 1;

/** A closed journal of turns with these sizes; `checkpointed` is the sequence of its checkpoint. */
async function written(
  context: TestContext,
  sizes: readonly number[],
  options: { segmentBytesMax?: number; checkpointed?: number } = {},
): Promise<string> {
  const dir = temporaryFolder(context);
  const { checkpointed = 0, ...rest } = options;
  const journal = await journalIn(dir, rest);
  await appendTurns(journal, sizes);
  if (checkpointed > 0) {
    const records = encoded(upTo(checkpointed).map((number) => paymentIntent(number)));
    await journal.checkpoint.write({ records, sequence: checkpointed, idempotencyRecords: [] });
  }
  await journal.close();
  return dir;
}

function segmentFolder(dir: string, firstSequence: number): string {
  return join(dir, 'log', String(firstSequence).padStart(16, '0'));
}

/** Flips a byte inside the record of the turn, directly in the file. */
function flipInFile(dir: string, segment: number, firstSequence: number, entries: number): void {
  const path = join(segmentFolder(dir, segment), 'data.mdb');
  const file = readFileSync(path);
  const bytes = bytesOf(firstSequence, entries);
  // LMDB keeps older copies of small pages: all of them are hit.
  let position = file.indexOf(bytes.subarray(8, 80));
  assert.notEqual(position, -1);
  for (; position >= 0; position = file.indexOf(bytes.subarray(8, 80), position + 1))
    file[position + 70]! ^= 1;
  writeFileSync(path, file);
}

/** Changes the record of a turn through LMDB itself. */
async function changeRecord(folder: string, key: number, change: (bytes: Buffer) => Buffer): Promise<void> {
  const db = openLmdb<Buffer, number>({ path: join(folder, 'data.mdb'), encoding: 'binary' });
  await db.put(key, change(Buffer.from(db.get(key)!)));
  await db.close();
}

/** What a recovery replays, or what it fails with. */
async function replayedIn(dir: string): Promise<unknown> {
  try {
    const journal = await journalIn(dir);
    return await replayOf(journal).finally(() => journal.close());
  } catch (error) {
    return error;
  }
}

/** The message of a recovery that finds damage, after it has returned everything before it. */
async function damageOf(dir: string, before: readonly number[]): Promise<string> {
  const journal = await journalIn(dir);
  const sequences: number[] = [];
  try {
    for await (const entries of journal.replay()) sequences.push(...entries.map(({ sequence }) => sequence));
    return 'none';
  } catch (error) {
    assert(error instanceof JournalDamaged, String(error));
    assert.throws(() => journal.log.nextSequence, { name: 'AssertionFailure' });
    return error.message;
  } finally {
    assert.deepEqual(sequences, before);
    await journal.close();
  }
}

for (const [how, entries, damage] of [
  ['a flipped bit in the file', 3, (dir: string) => flipInFile(dir, 1, 8, 3)],
  ['a flipped bit in a small record', 1, (dir: string) => flipInFile(dir, 1, 8, 1)],
  [
    'a record cut short',
    3,
    (dir: string) => changeRecord(segmentFolder(dir, 1), 8, (bytes) => bytes.subarray(0, 100)),
  ],
  ['an empty record', 3, (dir: string) => changeRecord(segmentFolder(dir, 1), 8, () => Buffer.alloc(0))],
] as const) {
  test(`a damaged end stops the journal, until an operator gives it up: ${how}`, async (context) => {
    const dir = await written(context, [4, 3, entries]);
    await damage(dir);
    for (let start = 0; start < 2; start++) {
      const message = await damageOf(dir, upTo(7));
      assert.match(message, /segment 0{15}1 .* at sequence 8: .*restore .* from a backup/);
      assert.match(message, /give up this batch, .* with "payments wal truncate 1:8", then start again/);
    }
    const options = { dir, identity, indexRowsOf };
    const kept = await truncateDamagedEnd(options, async ({ sequence }) => sequence);
    assert.equal(kept, 8, 'whoever is shown it may leave it');
    assert.match(await damageOf(dir, upTo(7)), /at sequence 8/);
    const end = await truncateDamagedEnd(options, async (end, remove) => {
      remove();
      return end;
    });
    assert.deepEqual([end?.segment, end?.sequence], [segmentFolder(dir, 1), 8]);
    const journal = await journalIn(dir);
    assert.deepEqual(sequencesOf(await replayOf(journal)), upTo(7));
    assert.equal(journal.log.nextSequence, 8);
    await appendTurns(journal, [2]);
    await journal.close();
    const again = await journalIn(dir);
    assert.deepEqual(sequencesOf(await replayOf(again)), upTo(9));
    await again.close();
    assert.equal(
      await truncateDamagedEnd(options, async () => 'called'),
      null,
      'nothing else can be given up',
    );
  });
}

test('a follower goes past a batch that was given up, when the checkpoint has it', async (context) => {
  const dir = await written(context, [4, 3], { checkpointed: 7 });
  flipInFile(dir, 1, 5, 3);
  await truncateDamagedEnd({ dir, identity, indexRowsOf }, async (_, remove) => remove());
  const journal = await recovered(await journalIn(dir, { segmentBytesMax: everyTurn, logBytesMax: 1 }));
  context.after(() => journal.close());
  await appendTurns(journal, [2]);
  await journal.checkpointer.write(9);
  assert.equal(await journal.checkpointer.drop(0), 8, 'the segment that lacks its end is dropped');
});

test('a damaged end that the checkpoint has stays when the log can not go on behind it, so that it can be given up again', async (context) => {
  const dir = await written(context, [4, 3], { checkpointed: 7 });
  flipInFile(dir, 1, 5, 3);
  const options = { dir, identity, indexRowsOf };
  const inTheWay = join(segmentFolder(dir, 8), 'x');
  const interrupted = truncateDamagedEnd(options, async (_, remove) => {
    mkdirSync(inTheWay, { recursive: true });
    await remove();
  });
  await assert.rejects(interrupted, /ENOTEMPTY/);
  rmSync(segmentFolder(dir, 8), { recursive: true });
  assert.equal(await truncateDamagedEnd(options, async ({ sequence }) => sequence), 5);
});

test('what can be read of a damaged end is told: every record that is as it was written', async (context) => {
  const dir = await written(context, [4, 3]);
  await changeRecord(segmentFolder(dir, 1), 5, (bytes) => {
    bytes[bytes.indexOf('Order 6')]! ^= 1;
    return bytes;
  });
  const end = await truncateDamagedEnd({ dir, identity, indexRowsOf }, async (found) => found);
  const read = end!.entries.map(({ sequence, changes }) => [
    sequence,
    changes.map(({ id, kind }) => (kind === 'event' ? kind : id)),
  ]);
  assert.deepEqual(read, [
    [5, [paymentIntent(5).id, 'event']],
    [6, ['event']],
    [7, [paymentIntent(7).id, 'event']],
  ]);
  assert.deepEqual([end!.damagedRecords, end!.defect], [1, 'its checksum does not match']);
});

test('damage before the end stops the journal and names what to do', async (context) => {
  const dir = await written(context, [4, 3, 2, 2], { segmentBytesMax: everyTurn });
  flipInFile(dir, 5, 5, 3);
  const message = await damageOf(dir, upTo(4));
  assert.match(message, /segment 0000000000000005 .* at sequence 5: its checksum does not match/);
  assert.match(message, /restore .* from a backup/);
  assert.match(message, /loss of every change after sequence 4 /);
  const named = [5, 8, 10].map((first) => segmentFolder(dir, first));
  assert(message.includes(`move away ${named.join(', ')},`), message);
  // The operator does as the message says.
  for (const folder of named) renameSync(folder, join(dir, basename(folder)));
  const accepted = await inspectJournal({ dir, identity, indexRowsOf }, (journal) =>
    journal.acceptMissingSegment(),
  );
  assert.equal(accepted, named.at(-1));
  const journal = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(journal)), upTo(4));
  await appendTurns(journal, [1]);
  await journal.close();
});

test('a damaged segment that only holds answers is dropped when its time has come, like any other', async (context) => {
  const dir = await written(context, [4, 3, 2], { segmentBytesMax: everyTurn, checkpointed: 9 });
  flipInFile(dir, 1, 1, 4);
  rmSync(join(segmentFolder(dir, 5), 'data.mdb'));
  const journal = await journalIn(dir);
  const segments = () => readdirSync(join(dir, 'log')).map(Number);
  await journal.checkpointer.drop(Date.now() - 60_000);
  assert.deepEqual(segments(), [1, 5, 8]);
  await journal.checkpointer.drop(Date.now() + 60_000);
  assert.deepEqual(segments(), [8]);
  await journal.close();
});

test('a journal whose newest segment is gone stays shut until the loss is accepted', async (context) => {
  const dir = await written(context, [4, 3, 2], { segmentBytesMax: everyTurn, checkpointed: 4 });
  rmSync(segmentFolder(dir, 8), { recursive: true });
  const missing = {
    name: 'JournalDamaged',
    message: /newest segment .* is missing: .*0{15}8 held.*--accept-loss/,
  };
  await assert.rejects(journalIn(dir), missing);
  const stopped = readStoppedJournal({ dir, identity, indexRowsOf }, async (journal) => {
    for await (const _ of journal.replay());
  });
  await assert.rejects(stopped, missing);
  const inspected = <T>(look: (journal: InspectedJournal) => T) =>
    inspectJournal({ dir, identity, indexRowsOf }, look);
  await assert.rejects(
    inspected((journal) => journal.refuseMissingSegment()),
    missing,
  );
  for (const expected of [segmentFolder(dir, 8), null])
    assert.equal(await inspected((journal) => journal.acceptMissingSegment()), expected);
  const journal = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(journal)), [5, 6, 7]);
  await journal.close();
});

test('damage in the middle of a segment stops the journal', async (context) => {
  const dir = await written(context, [4, 3, 2]);
  flipInFile(dir, 1, 5, 3);
  assert.match(await damageOf(dir, upTo(4)), /segment 0000000000000001 .* at sequence 5: its checksum/);
  const gap = await written(context, [4, 3, 2]);
  const db = openLmdb<Buffer, number>({
    path: join(segmentFolder(gap, 1), 'data.mdb'),
    encoding: 'binary',
  });
  await db.remove(5);
  await db.close();
  assert.match(await damageOf(gap, upTo(4)), /at sequence 5: the next record there is 8/);
});

for (const checkpointed of [0, 7, 9]) {
  test(`a key that is not in its place stops the journal, which has a checkpoint at ${checkpointed}`, async (context) => {
    const dir = await written(context, [4, 3, 2], { checkpointed });
    const path = join(segmentFolder(dir, 1), 'data.mdb');
    const file = readFileSync(path);
    const [key, other] = [toBufferKey(5), toBufferKey(7)];
    for (let at = file.indexOf(key); at >= 0; at = file.indexOf(key, at + 1)) other.copy(file, at);
    const last = toBufferKey(8);
    for (let at = file.indexOf(last); at >= 0; at = file.indexOf(last, at + 1)) key.copy(file, at);
    writeFileSync(path, file);
    const journal = await journalIn(dir);
    await assert.rejects(replayOf(journal), {
      name: 'JournalDamaged',
      message: /is damaged in segment 0{15}1 .*restore .*from a backup/,
    });
    await journal.close();
  });
}

test('a bit that flips in a key, or in what LMDB notes beside it, is told as damage', async (context) => {
  const dir = await written(context, [4, 3, 2, 1, 2]);
  const path = join(segmentFolder(dir, 1), 'data.mdb');
  const file = readFileSync(path);
  const headerBytes = 8;
  for (const key of [1, 5, 8, 10, 11].map((sequence) => toBufferKey(sequence)))
    for (let bit = 0; bit < (headerBytes + key.length) * 8; bit++) {
      const flipped = Buffer.from(file);
      for (let at = file.indexOf(key, headerBytes); at >= 0; at = file.indexOf(key, at + 1))
        flipped[at - headerBytes + (bit >> 3)]! ^= 1 << (bit & 7);
      writeFileSync(path, flipped);
      const found = await replayedIn(dir);
      const isWhole = Array.isArray(found) && sequencesOf(found).join() === upTo(12).join();
      assert(isWhole || found instanceof JournalDamaged, `key ${key.toString('hex')}, bit ${bit}: ${found}`);
    }
});

test('a batch that arrives in a segment which its next owner has left behind is not part of the log', async (context) => {
  const dir = await written(context, [4, 3, 2], { segmentBytesMax: everyTurn });
  // The owner that made it ended meanwhile; the next one began at the same sequence, in a new segment.
  const late = bytesOf(8, 2);
  const db = openLmdb<Buffer, number>({
    path: join(segmentFolder(dir, 5), 'data.mdb'),
    encoding: 'binary',
  });
  await db.put(8, late);
  await db.close();
  const journal = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(journal)), upTo(9));
  await journal.close();
  const read = [...new LogReader(join(dir, 'log'), identity).read()];
  assert.deepEqual(
    read.map((found) => (isDefect(found) ? found.defect : found.firstSequence)),
    [1, 5, 8],
  );
});

test('a segment that is missing stops the journal', async (context) => {
  const middle = await written(context, [4, 3, 2], { segmentBytesMax: everyTurn });
  rmSync(segmentFolder(middle, 5), { recursive: true });
  assert.match(await damageOf(middle, upTo(4)), /at sequence 5: a segment is missing: sequences 5 to 7 /);
  const first = await written(context, [4, 3, 2], { segmentBytesMax: everyTurn });
  rmSync(segmentFolder(first, 1), { recursive: true });
  assert.match(await damageOf(first, []), /at sequence 1: a segment is missing: sequences 1 to 4 /);
});

test('of whom there are changes beyond the checkpoint is told, also where they have a segment of their own', async (context) => {
  const dir = temporaryFolder(context);
  const options = { dir, identity, indexRowsOf, segmentBytesMax: everyTurn };
  const journal = await openJournal(options);
  for (let sequence = 1; sequence <= 4; sequence++) {
    const changes = [paymentIntent(sequence, { org: `org_${sequence}` })];
    const entries = [{ changes, idempotency: null, cause: causes.time }];
    const batch = { firstSequence: sequence, timeMs: startMs, wallMs: startMs, entries };
    await journal.log.append(batch).durable;
  }
  await journal.checkpointer.write(2);
  await journal.close();
  const told = await inspectJournal(options, ({ organizationsInLog }) => organizationsInLog());
  assert.deepEqual([...told], ['org_3', 'org_4']);
});

test('every owner has an epoch of its own, and a batch of an earlier one behind its batches stops the journal', async (context) => {
  const dir = await written(context, [4]);
  const next = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(next)), upTo(4));
  await appendTurns(next, [3, 2]);
  await next.close();
  const epochs: number[] = [];
  for (const firstSequence of [1, 5, 8])
    await changeRecord(segmentFolder(dir, 1), firstSequence, (bytes) => {
      epochs.push(readBatchHeader(bytes).epoch);
      return bytes;
    });
  assert.deepEqual(epochs, [1, 2, 2]);
  await changeRecord(segmentFolder(dir, 1), 8, (bytes) => {
    bytes.writeDoubleLE(1, 70);
    bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
    return bytes;
  });
  assert.match(
    await damageOf(dir, upTo(7)),
    /at sequence 8: it is of epoch 1, and comes after one of epoch 2\. .*--accept-loss/,
  );
});

test('what the checkpoint holds is not needed from the log', async (context) => {
  const dir = await written(context, [4, 3, 2], { segmentBytesMax: everyTurn, checkpointed: 7 });
  rmSync(segmentFolder(dir, 1), { recursive: true });
  await changeRecord(segmentFolder(dir, 5), 5, (bytes) => {
    const answers = 78 + bytes.readUInt32LE(40);
    bytes[answers + 50]! ^= 1;
    return bytes;
  });
  const journal = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(journal)), [8, 9]);
  assert.throws(() => journal.log.readResponse({ record: 5, offset: 0 }, digest(5)), {
    name: 'JournalDamaged',
  });
  assert.equal(journal.log.readResponse({ record: 1, offset: 0 }, digest(1)), undefined);
  await journal.close();
});

test('a checkpoint in the middle of a turn is replayed from the next entry on', async (context) => {
  const dir = await written(context, [4, 3, 2], { checkpointed: 6 });
  const journal = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(journal)), [7, 8, 9]);
  await journal.close();
});

test('without any segment the log goes on after the checkpoint, once the loss is accepted', async (context) => {
  const dir = await written(context, [4, 3], { checkpointed: 6 });
  rmSync(segmentFolder(dir, 1), { recursive: true });
  const accepted = await inspectJournal({ dir, identity, indexRowsOf }, (journal) =>
    journal.acceptMissingSegment(),
  );
  assert.equal(accepted, segmentFolder(dir, 1));
  const journal = await journalIn(dir);
  assert.equal((await recovered(journal)).log.nextSequence, 7);
  await appendTurns(journal, [2]);
  await journal.close();
  const again = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(again)), [7, 8]);
  await again.close();
});

test('folders that a crash left unfinished are cleared away', async (context) => {
  const dir = await written(context, [4]);
  const leftovers = [`${segmentFolder(dir, 5)}.new`, `${segmentFolder(dir, 0)}.dropped`];
  for (const folder of leftovers) mkdirSync(folder);
  mkdirSync(join(dir, 'log', 'moved-away'));
  const journal = await journalIn(dir);
  assert.deepEqual(
    leftovers.map((folder) => existsSync(folder)),
    [false, false],
  );
  assert.deepEqual(sequencesOf(await replayOf(journal)), upTo(4));
  await journal.close();
});

test('an empty newest segment is used', async (context) => {
  const dir = await written(context, [4, 3], { segmentBytesMax: everyTurn });
  const folder = segmentFolder(dir, 5);
  const db = openLmdb<Buffer, number>({ path: join(folder, 'data.mdb'), encoding: 'binary' });
  await db.remove(5);
  await db.close();
  const journal = await recovered(await journalIn(dir));
  assert.equal(journal.log.nextSequence, 5);
  await appendTurns(journal, [2]);
  await journal.close();
  assert.deepEqual(readdirSync(join(dir, 'log')), ['0000000000000001', '0000000000000005']);
});

test('a segment ends by size and by age', async (context) => {
  const dir = temporaryFolder(context);
  const dayMs = 24 * 3_600_000;
  let journal = await journalIn(dir, { segmentBytesMax: 40_000 });
  const segments = () => readdirSync(join(dir, 'log')).map(Number);
  await appendTurns(journal, [8, 8]);
  assert.deepEqual(segments(), [1]);
  await appendTurns(journal, [30, 1]);
  assert.deepEqual(segments(), [1, 47]);
  await appendTurns(journal, [1], startMs + dayMs);
  assert.deepEqual(segments(), [1, 47]);
  await journal.close();
  journal = await recovered(await journalIn(dir));
  await appendTurns(journal, [1], startMs + dayMs + 1);
  assert.deepEqual(segments(), [1, 47, 49]);
  await journal.close();
});

test('a reserved address space that is too small is no limit', async (context) => {
  const dir = temporaryFolder(context);
  const mapSizes = { log: 65_536, state: 65_536 };
  const journal = await journalIn(dir, { mapSizes });
  const [first] = journal.log.append(turnAt(1, 1)).locations;
  await appendTurns(journal, Array<number>(20).fill(100));
  assert.equal(journal.log.readResponse(first!, digest(1))?.status, 200);
  const records = encoded(upTo(2_001).map((number) => paymentIntent(number)));
  await journal.checkpoint.write({ records, sequence: 2_001, idempotencyRecords: [] });
  assert.deepEqual(journal.checkpoint.get(paymentIntent(2_001).id), paymentIntent(2_001));
  await journal.close();
});
