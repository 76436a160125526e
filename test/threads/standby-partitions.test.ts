// What a node that stands by says of the files of its shards: a takeover opens those that were found whole without another
// look at them, and no others.

import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { systemScheduler, systemTimers } from '../../src/core/scheduler.ts';
import { JournalDamaged, type LogEnd } from '../../src/journal/journal.ts';
import { endOfBatch } from '../../src/journal/log/codec.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { openStandby } from '../../src/journal/standby-journal.ts';
import { StandbyPartitions } from '../../src/threads/standby-partitions.ts';
import { appendTurns, identity, indexRowsOf, startMs } from '../journal/journal-fixtures.ts';
import { bytesOf } from '../journal/small-log.ts';
import { openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The folder of a shard with three segments, of which the newest two are replayed unless told otherwise. */
async function shardFolder(context: TestContext, shard: number, checkpointed = 4) {
  const dir = temporaryFolder(context);
  const own = { ...identity, shard };
  const journal = await openJournal({ dir, identity: own, indexRowsOf, segmentBytesMax: 1 });
  await appendTurns(journal, [2, 2, 2]);
  await journal.checkpointer.write(checkpointed);
  await journal.close();
  return { dir, identity: own };
}

const ports = {
  segmentBytesMax: 1_000_000,
  logBytesMax: 10_000_000,
  checkpointIntervalMs: 10_000,
  timers: systemTimers,
  scheduler: systemScheduler,
  isDiskFull: () => false,
  onFollowed() {},
  onBehind() {},
  onLagging() {},
  onDamaged: (partition: number, message: string) => assert.fail(`${partition}: ${message}`),
};

/** Stands by for both shards; PostgreSQL tells nothing of those from `silentFrom` on. Resolves with those that are whole. */
async function wholeOf(
  shards: readonly Awaited<ReturnType<typeof shardFolder>>[],
  silentFrom: number,
): Promise<number[]> {
  const whole: number[] = [];
  const asked = Promise.withResolvers<void>();
  const silence = Promise.withResolvers<never>();
  silence.promise.catch(() => {});
  const standby = new StandbyPartitions({
    ...ports,
    shards,
    follower: {
      async endOf(partition) {
        if (partition < silentFrom) return { end: { sequence: 7, checksum: 0 }, firstSequence: 7 };
        asked.resolve();
        return silence.promise;
      },
      checksumAt: async () => null,
      async readAfter() {
        asked.resolve();
        return new Map();
      },
      close: () => silence.reject(new Error('closed')),
    },
    onWhole: (partition) => whole.push(partition),
  });
  standby.start(asked.reject);
  await asked.promise;
  await standby.stop();
  return whole;
}

test('a partition is let go so that this node can own it, and followed again', async (context) => {
  const shards = [await shardFolder(context, 0), await shardFolder(context, 1)];
  const asked: number[][] = [];
  const standby = new StandbyPartitions({
    ...ports,
    shards,
    follower: {
      endOf: async () => ({ end: { sequence: 7, checksum: 0 }, firstSequence: 7 }),
      checksumAt: async () => null,
      async readAfter(sequences) {
        asked.push([...sequences.keys()]);
        return new Map();
      },
      close() {},
    },
    onWhole() {},
  });
  standby.start((error) => assert.fail(String(error)));
  await standby.follow(shards[1]!);
  standby.holdCheckpoint(1).release();
  await standby.release(1);
  assert.throws(() => standby.holdCheckpoint(1), /partition 1 is not followed/);
  // Somebody else can write the journal now.
  const { dir, identity: own } = shards[1]!;
  const journal = await openStandby({ ...ports, dir, identity: own, indexRowsOf, isChecked: false });
  await journal.close();
  asked.length = 0;
  await standby.release(0);
  await standby.follow(shards[0]!);
  await standby.follow(shards[0]!);
  await standby.stop();
  assert.deepEqual(new Set(asked.map(String)), new Set(['0']));
  await assert.rejects(standby.follow(shards[1]!), /nothing is followed any more/);
});

test('nothing is written while the disk is full: the checkpoint waits for room, too', async (context) => {
  const shard = await shardFolder(context, 0);
  const written = () => readFileSync(join(shard.dir, 'state', 'data.mdb')).toString('latin1');
  const before = written();
  const room = { isFull: true, looks: 0 };
  const [full, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const standby = new StandbyPartitions({
    ...ports,
    shards: [shard],
    checkpointIntervalMs: 0,
    timers: {
      after(_, action) {
        setImmediate(action);
        return () => {};
      },
    },
    isDiskFull() {
      room.looks++;
      if (room.looks === 5) full.resolve();
      return room.isFull;
    },
    follower: {
      endOf: async () => ({ end: { sequence: 7, checksum: 0 }, firstSequence: 7 }),
      checksumAt: async () => null,
      async readAfter() {
        if (room.looks > 10) free.resolve();
        return new Map();
      },
      close() {},
    },
    onWhole() {},
  });
  standby.start(full.reject);
  await full.promise;
  const whileFull = written();
  room.isFull = false;
  await free.promise;
  await standby.stop();
  assert.deepEqual([whileFull === before, written() === before], [true, false]);
});

test('a node lags until its files are open, and while it lacks many entries, or room for them', async (context) => {
  const shards = [await shardFolder(context, 0), await shardFolder(context, 1)];
  const told: boolean[] = [];
  const behind: number[] = [];
  const rounds = [
    { end: 10_006, isFull: false },
    { end: 10_007, isFull: false },
    { end: 7, isFull: false },
    { end: 7, isFull: true },
    { end: 7, isFull: false },
  ];
  let round = -1;
  const over = Promise.withResolvers<void>();
  const standby = new StandbyPartitions({
    ...ports,
    shards,
    timers: {
      after(_, action) {
        setImmediate(action);
        return () => {};
      },
    },
    isDiskFull() {
      round++;
      if (round === rounds.length) over.resolve();
      return rounds[round]?.isFull ?? true;
    },
    follower: {
      endOf: async () => ({ end: { sequence: 7, checksum: 0 }, firstSequence: 7 }),
      checksumAt: async () => null,
      readAfter: async () =>
        new Map([[1, { batches: [], before: null, end: rounds[round]!.end, hasMore: false }]]),
      close() {},
    },
    onWhole() {},
    onBehind: (partition, entries) => partition === 1 && behind.push(entries),
    onLagging: (isLagging) => told.push(isLagging),
  });
  standby.start(over.reject);
  await over.promise;
  await standby.stop();
  assert.deepEqual(behind.slice(0, 4), [10_000, 10_001, 1, 1]);
  assert.deepEqual(told.slice(0, rounds.length + 1), [true, false, true, false, true, false]);
});

const hourMs = 3_600_000;

/**
 * A partition whose three batches come one by one, and then nothing. Each reading takes as long as `takes` says. Tells how long it
 * waited between readings, and of each what it found on the disk.
 */
async function followed(
  context: TestContext,
  { segmentBytesMax, apartMs }: { readonly segmentBytesMax: number; readonly apartMs: number },
  takes: readonly number[],
  archivedOf: (readings: number) => number,
) {
  const dir = temporaryFolder(context);
  await (await openStandby({ ...ports, dir, identity, indexRowsOf, segmentBytesMax })).close();
  let nowMs = 0;
  const waits: number[] = [];
  const found: { readonly segments: string; readonly state: string }[] = [];
  const over = Promise.withResolvers<void>();
  const standby = new StandbyPartitions({
    ...ports,
    shards: [{ dir, identity }],
    segmentBytesMax,
    scheduler: { ...systemScheduler, elapsedMs: () => nowMs },
    timers: {
      after(ms, action) {
        waits.push(ms);
        setImmediate(action);
        return () => {};
      },
    },
    archivedOf: () => archivedOf(found.length),
    follower: {
      endOf: async () => ({ end: { sequence: 0, checksum: 0 }, firstSequence: 1 }),
      checksumAt: async () => null,
      async readAfter() {
        const segments = readdirSync(join(dir, 'log')).map(Number).sort().join();
        found.push({ segments, state: readFileSync(join(dir, 'state', 'data.mdb')).toString('latin1') });
        const at = found.length;
        nowMs += takes[at - 1] ?? 0;
        if (at > takes.length) over.resolve();
        const batches = at <= 3 ? [bytesOf(at, 1, 1, startMs + at * apartMs)] : [];
        return new Map([[identity.shard, { batches, before: null, end: 3, hasMore: at <= 2 }]]);
      },
      close() {},
    },
    onWhole() {},
  });
  standby.start(over.reject);
  await over.promise;
  await standby.stop();
  return { waits, found };
}

test('it reads on at once where more is there than it has read, and writes a checkpoint at its interval', async (context) => {
  const log = { segmentBytesMax: 1_000_000, apartMs: 1 };
  const { waits, found } = await followed(context, log, [0, 9_999, 1, 0, 0], () => 0);
  assert.deepEqual(waits.slice(0, 5), [0, 0, 100, 100, 100]);
  const hasWritten = found.slice(1).map(({ state }, at) => state !== found[at]!.state);
  assert.deepEqual(hasWritten, [true, false, true, false, false]);
});

test('once an hour it drops what is old, unless it is not archived', async (context) => {
  const log = { segmentBytesMax: 1, apartMs: 30 * hourMs };
  const takes = [0, 0, 0, hourMs, hourMs, 0];
  const { found } = await followed(context, log, takes, (readings) => Number(readings !== 4));
  assert.deepEqual(
    found.map(({ segments }) => segments),
    ['', '1', '1,2', '1,2,3', '1,2,3', '2,3', '2,3'],
  );
});

test('a partition that can not be followed is let go, so that somebody else can open it', async (context) => {
  const shard = await shardFolder(context, 0);
  const standby = new StandbyPartitions({
    ...ports,
    shards: [],
    // It is woken by what is to be done.
    timers: { after: () => () => {} },
    follower: {
      endOf: () => Promise.reject(new Error('nobody answers')),
      checksumAt: async () => null,
      readAfter: async () => new Map(),
      close() {},
    },
    onWhole() {},
  });
  standby.start((error) => assert.fail(String(error)));
  await assert.rejects(standby.follow(shard), /nobody answers/);
  assert.deepEqual(openFilesIn(shard.dir), []);
  const journal = await openStandby({ ...ports, ...shard, indexRowsOf, isChecked: false });
  await journal.close();
  await standby.stop();
});

test('what is being read when it is told to stop is written before it has', async (context) => {
  const shard = await shardFolder(context, identity.shard);
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<Buffer>()];
  const standby = new StandbyPartitions({
    ...ports,
    shards: [shard],
    follower: {
      endOf: async () => ({ end: { sequence: 7, checksum: 0 }, firstSequence: 7 }),
      checksumAt: async () => null,
      async readAfter() {
        asked.resolve();
        return new Map([
          [identity.shard, { batches: [await answer.promise], before: null, end: 7, hasMore: false }],
        ]);
      },
      close() {},
    },
    onWhole() {},
  });
  standby.start(asked.reject);
  await asked.promise;
  const stopped = standby.stop();
  for (let turns = 0; turns < 100; turns++) await turn();
  answer.resolve(bytesOf(7, 1));
  await stopped;
  const journal = await openStandby({ ...ports, ...shard, indexRowsOf, isChecked: false });
  assert.equal(journal.sequence, 7);
  await journal.close();
});

/**
 * What comes of a mirror that ends with a batch, where the log has another one there and goes on: `found` is where that ends as a
 * write tells. Resolves with the end of the mirror, and with why it is followed no more; null: it is.
 */
async function forked(context: TestContext, found: LogEnd): Promise<{ end: number; failure: unknown }> {
  const dir = temporaryFolder(context);
  const standby = await openStandby({ ...ports, dir, identity, indexRowsOf });
  await standby.append([bytesOf(1, 1)]);
  await standby.close();
  const { checksum: own } = endOfBatch(bytesOf(1, 1));
  const { checksum: other } = endOfBatch(bytesOf(1, 1, 2));
  const over = Promise.withResolvers<unknown>();
  let isOpen = false;
  let readings = 0;
  const partitions = new StandbyPartitions({
    ...ports,
    shards: [{ dir, identity }],
    timers: {
      after(_, action) {
        setImmediate(action);
        return () => {};
      },
    },
    follower: {
      async endOf() {
        const end = isOpen ? found : { sequence: 1, checksum: own };
        isOpen = true;
        return { end, firstSequence: 1 };
      },
      checksumAt: async () => (found.checksum === other ? other : own),
      async readAfter() {
        // The first server that is asked has gone another way.
        const before = ++readings === 1 ? other : own;
        if (readings === 3) over.resolve(null);
        const batches = readings <= 2 ? [bytesOf(2, 1, before === own ? 1 : 2)] : [];
        return new Map([[identity.shard, { batches, before, end: 2, hasMore: false }]]);
      },
      close() {},
    },
    onWhole() {},
  });
  partitions.start(over.resolve);
  const failure = await over.promise;
  await partitions.stop();
  const again = await openStandby({ ...ports, dir, identity, indexRowsOf });
  const end = again.sequence;
  assert.deepEqual(again.checksum, endOfBatch(bytesOf(end, 1)).checksum);
  await again.close();
  return { end, failure };
}

test('a mirror whose end the log has lost is not written on, and says so', async (context) => {
  const { end, failure } = await forked(context, { ...endOfBatch(bytesOf(1, 1, 2)), sequence: 2 });
  assert.ok(failure instanceof JournalDamaged, String(failure));
  assert.match(failure.message, /PostgreSQL has lost what it had acknowledged of partition/);
  assert.equal(end, 1);
});

test('a mirror goes on where only an old primary has another log', async (context) => {
  assert.deepEqual(await forked(context, endOfBatch(bytesOf(2, 1))), { end: 2, failure: null });
});

test('a mirror of which only the checkpoint tells where it ends goes on, whatever the log has there', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await openJournal({ dir, identity, indexRowsOf });
  await appendTurns(journal, [2]);
  const log = join(dir, 'log');
  cpSync(log, `${log}-before`, { recursive: true });
  await appendTurns(journal, [2]);
  await journal.checkpointer.write(4);
  await journal.close();
  rmSync(log, { recursive: true });
  renameSync(`${log}-before`, log);
  const over = Promise.withResolvers<void>();
  const followed: number[] = [];
  const standby = new StandbyPartitions({
    ...ports,
    shards: [{ dir, identity }],
    follower: {
      endOf: async () => ({ end: { sequence: 5, checksum: 0 }, firstSequence: 1 }),
      checksumAt: async () => null,
      readAfter: async () =>
        new Map([[identity.shard, { batches: [bytesOf(5, 1)], before: 7, end: 5, hasMore: false }]]),
      close() {},
    },
    onWhole() {},
    onFollowed(_, sequence) {
      followed.push(sequence);
      if (followed.length === 2) over.resolve();
    },
  });
  standby.start(over.reject);
  await over.promise;
  await standby.stop();
  assert.deepEqual(followed, [4, 5]);
});

test('a node that follows nothing does not lag', async () => {
  const told: boolean[] = [];
  const [waited, over] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const standby = new StandbyPartitions({
    ...ports,
    shards: [],
    timers: {
      after(ms) {
        waited.resolve(ms);
        return () => {};
      },
    },
    follower: {
      endOf: () => Promise.reject(new Error('nobody asks')),
      checksumAt: () => Promise.reject(new Error('nobody asks')),
      readAfter: () => Promise.reject(new Error('nobody asks')),
      close: over.resolve,
    },
    onWhole() {},
    onLagging: (isLagging) => told.push(isLagging),
  });
  standby.start(waited.reject);
  assert.equal(await waited.promise, 1_000);
  await standby.stop();
  await over.promise;
  assert.deepEqual(told, [true, false]);
});

test('a node lags while it is not known of one of its files whether the log goes on from them', async (context) => {
  const shard = await shardFolder(context, 0);
  const told: boolean[] = [];
  const [begun, lags] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const known = Promise.withResolvers<void>();
  const standby = new StandbyPartitions({
    ...ports,
    shards: [],
    timers: { after: () => () => {} },
    follower: {
      async endOf() {
        await known.promise;
        return { end: { sequence: 7, checksum: 0 }, firstSequence: 7 };
      },
      checksumAt: async () => null,
      readAfter: async () => new Map(),
      close() {},
    },
    onWhole() {},
    onLagging(isLagging) {
      told.push(isLagging);
      if (told.length === 2) begun.resolve();
      if (told.length === 3) lags.resolve();
    },
  });
  standby.start((error) => assert.fail(String(error)));
  await begun.promise;
  const followed = standby.follow(shard);
  await lags.promise;
  assert.deepEqual(told, [true, false, true]);
  known.resolve();
  await followed;
  await standby.stop();
});

test('what becomes known of a file once it was let go is nobody’s concern: the node does not lag, and nothing is damaged', async (context) => {
  const shards = [await shardFolder(context, 0), await shardFolder(context, 1)];
  const told: boolean[] = [];
  const damaged: number[] = [];
  const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const standby = new StandbyPartitions({
    ...ports,
    shards: shards.slice(0, 1),
    timers: {
      after(_, action) {
        setImmediate(action);
        return () => {};
      },
    },
    follower: {
      async endOf(partition) {
        if (partition === 0) return { end: { sequence: 7, checksum: 0 }, firstSequence: 7 };
        asked.resolve();
        await known.promise;
        // Another file could not go on from where this one ends.
        return { end: { sequence: 90, checksum: 0 }, firstSequence: 80 };
      },
      checksumAt: async () => null,
      readAfter: async () => new Map(),
      close() {},
    },
    onWhole() {},
    onLagging: (isLagging) => told.push(isLagging),
    onDamaged: (partition) => damaged.push(partition),
  });
  standby.start(asked.reject);
  const followed = standby.follow(shards[1]!);
  await asked.promise;
  await standby.release(1);
  known.resolve();
  await followed;
  told.length = 0;
  while (told.length === 0) await turn();
  assert.deepEqual([told[0], damaged], [false, []]);
  await standby.stop();
});

test('a shard whose old segment is damaged is followed, and not called whole', async (context) => {
  const shards = [await shardFolder(context, 0), await shardFolder(context, 1)];
  truncateSync(join(shards[0]!.dir, 'log', '0000000000000001', 'data.mdb'), 4_096);
  assert.deepEqual(await wholeOf(shards, 2), [1]);
});

test('a shard that was not looked at before the takeover is not called whole', async (context) => {
  const shards = [await shardFolder(context, 0), await shardFolder(context, 1)];
  assert.deepEqual(await wholeOf(shards, 0), []);
  assert.deepEqual(await wholeOf(shards, 1), [0]);
});

/**
 * What a node says that stands by for both shards, where the log of the first begins with `first`: the partitions
 * that are damaged, with why, up to where it has followed each, and those of which it reads on.
 */
async function toldOfDamage(shards: readonly Awaited<ReturnType<typeof shardFolder>>[], first = 7) {
  const damaged = new Map<number, string>();
  const followed = new Map<number, number>();
  let read: readonly number[] = [];
  let readings = 0;
  const over = Promise.withResolvers<void>();
  const standby = new StandbyPartitions({
    ...ports,
    shards,
    checkpointIntervalMs: 0,
    timers: {
      after(_, action) {
        setImmediate(action);
        return () => {};
      },
    },
    follower: {
      endOf: async (partition) => ({
        end: { sequence: 20, checksum: 0 },
        firstSequence: partition === 0 ? first : 7,
      }),
      checksumAt: async () => null,
      async readAfter(sequences) {
        read = [...sequences.keys()];
        if (++readings === 3) over.resolve();
        return new Map();
      },
      close() {},
    },
    onWhole() {},
    onFollowed: (partition, sequence) => followed.set(partition, sequence),
    onDamaged(partition, message) {
      assert(!damaged.has(partition), 'it is told once');
      damaged.set(partition, message);
    },
  });
  standby.start(over.reject);
  await over.promise;
  // Whoever is to follow it later hears of it, too, and need not try again.
  await standby.follow(shards[0]!);
  await standby.stop();
  return { damaged, followed: Object.fromEntries(followed), read };
}

/** The segment of the shard's log that begins with the sequence. */
const segmentOf = (dir: string, first: number) => join(dir, 'log', String(first).padStart(16, '0'));

/** Flips a bit of the commit batch of that segment. */
function flipInLog(dir: string, first: number): void {
  const file = join(segmentOf(dir, first), 'data.mdb');
  const bytes = readFileSync(file);
  const at = bytes.indexOf('Order ');
  assert(at > 0);
  bytes[at]! ^= 1;
  writeFileSync(file, bytes);
}

const damages: Readonly<Record<string, readonly [damage: (dir: string) => void, reason: RegExp]>> = {
  'whose checkpoint is damaged': [
    (dir) => truncateSync(join(dir, 'state', 'data.mdb'), 4_096),
    /state.data\.mdb is damaged: .* Restore the data folder from a backup/,
  ],
  'whose newest segment is gone': [
    (dir) => rmSync(segmentOf(dir, 5), { recursive: true }),
    /The newest segment of the log is missing/,
  ],
  'whose log ends with a damaged batch': [
    (dir) => flipInLog(dir, 5),
    /The commit batch 5 in segment .* is damaged/,
  ],
  'whose checkpoint needs a damaged batch': [
    (dir) => flipInLog(dir, 3),
    /damaged in segment .* at sequence 3: /,
  ],
};

for (const [name, [damage, reason]] of Object.entries(damages))
  test(`a partition ${name} is passed over, and the others are followed`, async (context) => {
    const shards = [await shardFolder(context, 0, 2), await shardFolder(context, 1)];
    damage(shards[0]!.dir);
    const { damaged, followed, read } = await toldOfDamage(shards);
    assert.deepEqual([...damaged.keys()], [0]);
    assert.match(damaged.get(0)!, reason);
    assert.deepEqual([followed[0] ?? 0, followed[1], read], [0, 6, [1]]);
  });

test('a partition that PostgreSQL has without what would go on here is passed over', async (context) => {
  const shards = [await shardFolder(context, 0), await shardFolder(context, 1)];
  const { damaged, read } = await toldOfDamage(shards, 9);
  assert.match(
    damaged.get(0)!,
    /from sequence 9 on, and this mirror ends with 6: make the folder from a backup/,
  );
  assert.deepEqual([[...damaged.keys()], read], [[0], [1]]);
});

test('what PostgreSQL has lost ends the following, whatever is damaged here', async (context) => {
  const shards = [await shardFolder(context, 0), await shardFolder(context, 1)];
  flipInLog(shards[0]!.dir, 5);
  const failed = Promise.withResolvers<unknown>();
  const standby = new StandbyPartitions({
    ...ports,
    shards,
    follower: {
      endOf: async (partition) => ({ end: { sequence: 7 - 2 * partition, checksum: 0 }, firstSequence: 7 }),
      checksumAt: async () => null,
      readAfter: async () => new Map(),
      close() {},
    },
    onWhole() {},
    onDamaged() {},
  });
  standby.start(failed.resolve);
  const failure = await failed.promise;
  assert.ok(failure instanceof JournalDamaged, String(failure));
  assert.match(failure.message, /PostgreSQL has lost what it had acknowledged of partition 1: /);
  await standby.stop();
});

test('tables that this service must not follow end it', async (context) => {
  const shard = await shardFolder(context, 0);
  const failed = Promise.withResolvers<unknown>();
  const errors = [new Error('the connection has ended'), new JournalDamaged('a newer service')];
  const standby = new StandbyPartitions({
    ...ports,
    shards: [shard],
    timers: {
      after(_, action) {
        setImmediate(action);
        return () => {};
      },
    },
    follower: {
      endOf: async () => ({ end: { sequence: 7, checksum: 0 }, firstSequence: 7 }),
      checksumAt: async () => null,
      readAfter: async () => Promise.reject(errors.shift() ?? new Error('it was asked again')),
      close() {},
    },
    onWhole() {},
  });
  standby.start(failed.resolve);
  assert.match(String(await failed.promise), /JournalDamaged: a newer service/);
  await standby.stop();
});

for (const [when, refusesEnd] of [
  ['as it asks where a log ends', true],
  ['as it compares its mirror with a log', false],
] as const)
  test(`tables that this service must not follow are no damage here, ${when}`, async (context) => {
    const failed = Promise.withResolvers<unknown>();
    const refuse = () => Promise.reject(new JournalDamaged('a newer service', { isRemote: true }));
    const standby = new StandbyPartitions({
      ...ports,
      shards: [await shardFolder(context, 0)],
      follower: {
        endOf: async () => (refusesEnd ? refuse() : { end: { sequence: 8, checksum: 0 }, firstSequence: 1 }),
        checksumAt: refuse,
        readAfter: async () => new Map(),
        close() {},
      },
      onWhole() {},
    });
    standby.start(failed.resolve);
    assert.match(String(await failed.promise), /JournalDamaged: a newer service/);
    await standby.stop();
  });

test('a batch that is damaged in PostgreSQL ends it: no file here is', async (context) => {
  const failed = Promise.withResolvers<unknown>();
  const shard = await shardFolder(context, 0);
  const bytes = bytesOf(7, 1);
  bytes[bytes.length - 1]! ^= 1;
  const standby = new StandbyPartitions({
    ...ports,
    shards: [shard],
    follower: {
      endOf: async () => ({ end: { sequence: 7, checksum: 0 }, firstSequence: 7 }),
      checksumAt: async () => null,
      readAfter: async () => new Map([[0, { batches: [bytes], before: null, end: 7, hasMore: false }]]),
      close() {},
    },
    onWhole() {},
  });
  standby.start(failed.resolve);
  assert.match(
    String(await failed.promise),
    /JournalDamaged: The commit batch 7 of partition 0 in PostgreSQL/,
  );
  await standby.stop();
});

test('a partition is let go while the database does not answer, whatever it was asked', async (context) => {
  const shards = [await shardFolder(context, 0), await shardFolder(context, 1)];
  for (const silent of ['endOf', 'readAfter'] as const) {
    const asked = Promise.withResolvers<void>();
    const silence = Promise.withResolvers<never>();
    silence.promise.catch(() => {});
    const ask = (what: typeof silent) => {
      if (what !== silent) return null;
      asked.resolve();
      return silence.promise;
    };
    const standby = new StandbyPartitions({
      ...ports,
      shards,
      follower: {
        endOf: async () => (await ask('endOf')) ?? { end: { sequence: 7, checksum: 0 }, firstSequence: 7 },
        checksumAt: async () => null,
        readAfter: async () => (await ask('readAfter')) ?? new Map(),
        close: () => silence.reject(new Error('closed')),
      },
      onWhole() {},
    });
    standby.start((error) => assert.fail(String(error)));
    await asked.promise;
    await standby.release(1);
    // Somebody else can write the journal now.
    await (await openStandby({ ...ports, ...shards[1]!, indexRowsOf, isChecked: false })).close();
    await standby.stop();
    await (await openStandby({ ...ports, ...shards[0]!, indexRowsOf, isChecked: false })).close();
  }
});

test('nothing is open when it has stopped, although what the database was asked has just failed', async (context) => {
  const shard = await shardFolder(context, 0);
  const asked = Promise.withResolvers<void>();
  const silence = Promise.withResolvers<never>();
  const standby = new StandbyPartitions({
    ...ports,
    shards: [],
    follower: {
      endOf() {
        asked.resolve();
        return silence.promise;
      },
      checksumAt: async () => null,
      readAfter: async () => new Map(),
      close() {},
    },
    onWhole() {},
  });
  standby.start((error) => assert.fail(String(error)));
  const followed = assert.rejects(standby.follow(shard), /nobody answers/);
  await asked.promise;
  assert(openFilesIn(shard.dir).length > 0);
  silence.reject(new Error('nobody answers'));
  await standby.stop();
  assert.deepEqual(openFilesIn(shard.dir), []);
  await followed;
});
