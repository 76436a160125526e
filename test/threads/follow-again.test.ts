// A partition that can't be followed is tried again until it is, or need not be any more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { followUntilDone } from '../../src/threads/follow-again.ts';
import type { FollowedShard } from '../../src/threads/standby-partitions.ts';
import type { Thread } from '../../src/threads/thread.ts';

const shard: FollowedShard = { dir: '/shard-3', identity: { folder: 'f', generation: 1, shard: 3 } };

/** A thread that stands by, which answers as `answers` says: a text is why it can't. */
function follow(answers: (string | null)[]) {
  const happened: string[] = [];
  const waits: (() => void)[] = [];
  const wanted = { isSo: true };
  const ask = async () => {
    const trouble = answers.shift() ?? null;
    happened.push('asked');
    if (trouble !== null) throw new Error(trouble);
  };
  const ended = followUntilDone(
    { ask } as unknown as Pick<Thread, 'ask'>,
    shard,
    () => wanted.isSo,
    { error: (message: string) => void happened.push(message) } as never,
    {
      after(delayMs, action) {
        assert.equal(delayMs, 5_000);
        waits.push(action);
        return () => {};
      },
    },
  );
  const again = async () => {
    waits.shift()?.();
    await setImmediate();
  };
  return { happened, waits, wanted, ended, again };
}

const said = (why: string) => `partition 3 can't be followed, which is tried again: ${why}`;

test('it is tried again until it is followed, and each reason is said once', async () => {
  const { happened, waits, ended, again } = follow(['no PostgreSQL', 'no PostgreSQL', 'a full disk', null]);
  await setImmediate();
  assert.deepEqual(happened.splice(0), ['asked', said('no PostgreSQL')]);
  await again();
  assert.deepEqual(happened.splice(0), ['asked']);
  await again();
  assert.deepEqual(happened.splice(0), ['asked', said('a full disk')]);
  await again();
  await ended;
  assert.deepEqual([happened, waits.length], [['asked'], 0]);
});

test('a partition that this node owns meanwhile is left alone', async () => {
  const { happened, wanted, ended, again } = follow(['no PostgreSQL', 'no PostgreSQL']);
  await setImmediate();
  wanted.isSo = false;
  await again();
  await ended;
  assert.deepEqual(happened, ['asked', said('no PostgreSQL')]);
});
