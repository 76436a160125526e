// The engine of the log stores batches of one partition in order, and takes them from its newest owner only.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { dataFile } from '../../src/disk/environment.ts';
import { JournalFailure } from '../../src/journal/journal.ts';
import { EpochFile } from '../../src/journal/log/epoch-file.ts';
import { readLog } from '../../src/journal/log/follow.ts';
import type { LogOptions } from '../../src/journal/log/log.ts';
import type { FollowedBatch } from '../../src/journal/log/log-engine.ts';
import { Segments } from '../../src/journal/log/segments.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { digest, identity, startMs } from './journal-fixtures.ts';
import { bytesOf, smallLog } from './small-log.ts';

function open(
  context: TestContext,
  options: Partial<LogOptions> & { readonly dir?: string; readonly next?: number } = {},
) {
  const { dir = temporaryFolder(context), next = 1 } = options;
  const { engine, segments } = smallLog(dir, options);
  engine.start(next);
  context.after(() => engine.close());
  return { dir, engine, segments, firstSequences: () => segments.list.map((each) => each.firstSequence) };
}

test('a batch of another partition, or at another sequence, is a bug', (context) => {
  const { engine } = open(context);
  assert.throws(() => engine.append({ ...identity, shard: 2 }, 1, 1, bytesOf(1, 1, 1)), /one partition/);
  assert.throws(() => engine.append(identity, 1, 2, bytesOf(2, 1, 1)), /follows the one before/);
  assert.throws(() => engine.append(identity, 1, 1, bytesOf(2, 1, 1)), /under its first sequence/);
});

test('a follower that has just read the log finds what became durable since', async (context) => {
  const { engine, segments } = open(context);
  await engine.append(identity, 1, 1, bytesOf(1, 1, 1));
  const read = new Segments(segments.folder, 1 << 20, identity, 'read');
  context.after(() => read.close());
  // The reader and the writer are in one turn of the event loop, as when a message comes right after a read.
  assert.deepEqual(await sequences(read), [1]);
  segments.open(segments.list[0]!).putSync(2, bytesOf(2, 1, 1));
  read.refresh();
  assert.deepEqual(await sequences(read), [1, 2]);
});

test('a start goes on in the newest segment, and behind entries that the log has lost in a new one', async (context) => {
  const first = open(context);
  await first.engine.append(identity, 1, 1, bytesOf(1, 2, 1));
  await first.engine.close();
  const second = open(context, { dir: first.dir, next: 3 });
  await second.engine.append(identity, 1, 3, bytesOf(3, 2, 1));
  assert.deepEqual(second.firstSequences(), [1]);
  await second.engine.close();
  const third = open(context, { dir: first.dir, next: 8 });
  await third.engine.append(identity, 1, 8, bytesOf(8, 1, 1));
  assert.deepEqual(third.firstSequences(), [1, 8]);
  assert.deepEqual(third.engine.end().sequence, 8);
  await third.engine.close();
  const fourth = open(context, { dir: first.dir, next: 10 });
  await fourth.engine.append(identity, 1, 10, bytesOf(10, 1, 1));
  assert.deepEqual(fourth.firstSequences(), [1, 8, 10], 'one entry alone is lost as many are');
});

test('what a segment had before a start counts for its size and its age', async (context) => {
  const next = async (limits: Partial<LogOptions>) => {
    const first = open(context, limits);
    await first.engine.append(identity, 1, 1, bytesOf(1, 50, 1));
    await first.engine.close();
    const second = open(context, { ...limits, dir: first.dir, next: 51 });
    await second.engine.append(identity, 1, 51, bytesOf(51, 1, 1, startMs + 1_001));
    return second.firstSequences();
  };
  assert.deepEqual(await next({}), [1]);
  assert.deepEqual(await next({ segmentBytesMax: bytesOf(1, 50, 1).length - 1_000 }), [1, 51]);
  assert.deepEqual(await next({ segmentAgeMaxMs: 1_001 }), [1]);
  assert.deepEqual(await next({ segmentAgeMaxMs: 1_000 }), [1, 51]);
});

test('a segment is written to when whoever follows the log knows of it', async (context) => {
  const told: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const onSegment = (firstSequence: number) => {
    told.push(firstSequence);
    return promise;
  };
  const { engine, segments } = open(context, { onSegment });
  const durable = engine.append(identity, 1, 1, bytesOf(1, 1, 1));
  while (told.length === 0) await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.deepEqual([told, engine.durableEnd, await sequences(segments)], [[1], null, []]);
  resolve();
  await durable;
  assert.deepEqual([engine.durableEnd?.sequence, await sequences(segments)], [1, [1]]);
});

test('an epoch that was decided elsewhere fences those before it, and the log takes nothing more', async (context) => {
  const { engine } = open(context);
  await engine.append(identity, 1, 1, bytesOf(1, 1, 1));
  engine.noteEpoch(7);
  assert.equal(engine.lastEpoch, 7);
  const isFenced = (error: unknown) => error instanceof JournalFailure && error.outcome === 'fenced';
  await assert.rejects(engine.append(identity, 6, 2, bytesOf(2, 1, 6)), isFenced);
  await assert.rejects(engine.append(identity, 7, 2, bytesOf(2, 1, 7)), isFenced);
  await assert.rejects(engine.durable(1), isFenced);
});

test('a newer epoch counts from its first batch on, and is stored before the batch', async (context) => {
  const { dir, engine } = open(context);
  await engine.append(identity, 4, 1, bytesOf(1, 1, 4));
  assert.equal(new EpochFile(dir).stored, 4);
  await assert.rejects(engine.append(identity, 3, 2, bytesOf(2, 1, 3)), JournalFailure);
});

test('what is durable up to a sequence is what has been appended up to there', async (context) => {
  const { engine } = open(context);
  const settled: string[] = [];
  const append = (sequence: number) =>
    engine
      .append(identity, 1, sequence, bytesOf(sequence, 1, 1))
      .then(() => settled.push(`batch ${sequence}`));
  const appended = [append(1), append(2), append(3)];
  await engine.durable(0).then(() => settled.push('durable 0'));
  await engine.durable(1).then(() => settled.push('durable 1'));
  await Promise.all(appended);
  assert.deepEqual(settled.slice(0, 3), ['durable 0', 'batch 1', 'durable 1']);
  await engine.durable(9);
});

test('an owner has an epoch that none before it had, and it is stored, although nothing is appended', async (context) => {
  const first = open(context);
  assert.equal((await first.engine.acquire()).epoch, 1);
  await first.engine.close();
  const second = open(context, { dir: first.dir });
  assert.equal((await second.engine.acquire()).epoch, 2);
  assert.equal(new EpochFile(first.dir).stored, 2);
  await second.engine.append(identity, 5, 1, bytesOf(1, 1, 5));
  assert.equal((await second.engine.acquire()).epoch, 6, 'it is greater than those of the batches');
});

test('an epoch that can not be stored fails its owner, unless the disk is full: then the first batch stores it', async (context) => {
  const fails = (code: string) => {
    const epochFile = new EpochFile(temporaryFolder(context));
    const store = epochFile.store.bind(epochFile);
    epochFile.store = () => {
      epochFile.store = store;
      throw Object.assign(new Error('it fails'), { code });
    };
    return open(context, { epochFile });
  };
  const failed = fails('EIO');
  await assert.rejects(failed.engine.acquire(), {
    name: 'JournalFailure',
    message: `Could not write to ${failed.segments.folder}: it fails`,
  });
  const full = fails('ENOSPC');
  const { epoch } = await full.engine.acquire();
  await full.engine.append(identity, epoch, 1, bytesOf(1, 1, epoch));
  assert.equal(full.engine.lastEpoch, 1);
});

test('a refused batch names the folder and both epochs', async (context) => {
  const { engine, segments } = open(context);
  engine.noteEpoch(7);
  await assert.rejects(engine.append(identity, 6, 1, bytesOf(1, 1, 6)), {
    message: `${segments.folder} has a newer owner, whose epoch is 7: a batch of epoch 6 is refused`,
    diskFull: false,
  });
});

test('a newest segment that is damaged is left as it is: what comes next begins a new one', async (context) => {
  const first = open(context);
  await first.engine.append(identity, 1, 1, bytesOf(1, 2, 1));
  await first.engine.close();
  const path = dataFile(first.segments.list[0]!.folder);
  writeFileSync(path, readFileSync(path).fill(0xff));
  const damaged = readFileSync(path);
  const second = open(context, { dir: first.dir, next: 3 });
  await second.engine.append(identity, 1, 3, bytesOf(3, 1, 1));
  await second.engine.append(identity, 1, 4, bytesOf(4, 1, 1));
  assert.deepEqual(second.firstSequences(), [1, 3]);
  assert.ok(readFileSync(path).equals(damaged));
});

test('the age of a segment is that of its first batch', async (context) => {
  const { engine, firstSequences } = open(context, { segmentAgeMaxMs: 1_000 });
  for (const [sequence, ms] of [
    [1, 0],
    [2, 600],
    [3, 1_000],
  ] as const)
    await engine.append(identity, 1, sequence, bytesOf(sequence, 1, 1, startMs + ms));
  assert.deepEqual(firstSequences(), [1]);
  await engine.append(identity, 1, 4, bytesOf(4, 1, 1, startMs + 1_001));
  assert.deepEqual(firstSequences(), [1, 4]);
});

test('a stored response whose segment has gone is asked for where it was moved to', async (context) => {
  const moved = { status: 200, requestId: 'req_1', body: Buffer.from('{}'), defaults: '' };
  const asked: unknown[] = [];
  let found: typeof moved | undefined = moved;
  const { engine, segments } = open(context, {
    segmentBytesMax: 1,
    movedResponse: (...given) => {
      asked.push(given);
      return found;
    },
  });
  const location = { record: 1, offset: 4 };
  assert.equal(engine.readResponse(location, digest(1)), moved, 'before there is any segment');
  for (const sequence of [1, 2]) await engine.append(identity, 1, sequence, bytesOf(sequence, 1, 1));
  assert.equal(engine.readResponse(location, digest(2)), moved, 'where the log has no response of the key');
  await segments.dropOldest();
  assert.equal(engine.readResponse(location, digest(1)), moved);
  assert.deepEqual(asked, [
    [location, digest(1)],
    [location, digest(2)],
    [location, digest(1)],
  ]);
  found = undefined;
  assert.equal(engine.readResponse(location, digest(1)), undefined);
  const wrong = { record: 2, offset: 4 };
  assert.throws(() => engine.readResponse(wrong, digest(2)), /no readable stored response/);
});

test('a log that is closed has written what was appended, and refuses what comes', async (context) => {
  const { dir, engine, segments } = open(context);
  const appended = [1, 2].map((sequence) => engine.append(identity, 1, sequence, bytesOf(sequence, 1, 1)));
  const settled: number[] = [];
  for (const [at, durable] of appended.entries()) void durable.then(() => settled.push(at));
  await engine.close();
  assert.deepEqual(settled, [0, 1]);
  assert.deepEqual(
    segments.list.map(({ environment }) => environment),
    [null],
  );
  await assert.rejects(engine.append(identity, 1, 3, bytesOf(3, 1, 1)), {
    message: 'The log is closed',
    diskFull: false,
  });
  assert.deepEqual(await sequences(new Segments(join(dir, 'log'), 1 << 20, identity, 'read')), [1, 2]);
});

async function batchesIn(segments: Segments): Promise<FollowedBatch[]> {
  const found: FollowedBatch[] = [];
  for await (const batches of readLog(segments, 0)) found.push(...batches);
  return found;
}

async function sequences(segments: Segments): Promise<number[]> {
  return (await batchesIn(segments)).map(({ firstSequence }) => firstSequence);
}
