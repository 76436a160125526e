// What a node that stands by says of the files of its shards: a takeover opens those that were found whole without another
// look at them, and no others.

import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemScheduler, systemTimers } from '../../src/core/scheduler.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { HostedStandby } from '../../src/threads/hosted-standby.ts';
import { appendTurns, identity, indexRowsOf, temporaryFolder } from '../journal/journal-fixtures.ts';

/** The folder of a shard with three segments, of which the newest two are replayed. */
async function shardFolder(context: TestContext, shard: number) {
  const dir = temporaryFolder(context);
  const own = { ...identity, shard };
  const journal = await openJournal({ dir, identity: own, indexRowsOf, segmentBytesMax: 1 });
  await appendTurns(journal, [2, 2, 2]);
  await journal.checkpointer.write(4);
  await journal.close();
  return { dir, identity: own };
}

/** Stands by for both shards; PostgreSQL tells nothing of those from `silentFrom` on. Resolves with those that are whole. */
async function wholeOf(
  shards: readonly Awaited<ReturnType<typeof shardFolder>>[],
  silentFrom: number,
): Promise<number[]> {
  const whole: number[] = [];
  const asked = Promise.withResolvers<void>();
  const silence = Promise.withResolvers<never>();
  silence.promise.catch(() => {});
  const standby = new HostedStandby({
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
    segmentBytesMax: 1_000_000,
    logBytesMax: 10_000_000,
    checkpointIntervalMs: 10_000,
    timers: systemTimers,
    scheduler: systemScheduler,
    isDiskFull: () => false,
    onWhole: (partition) => whole.push(partition),
    onFollowed() {},
    onBehind() {},
  });
  standby.start(asked.reject);
  await asked.promise;
  await standby.stop();
  return whole;
}

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
