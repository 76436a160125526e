// A supervised thread: when and after what delay it is started again, when it stays down, and what a stop waits for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Logger } from '../../src/telemetry/logger.ts';
import {
  RestartDelay,
  SupervisedThread,
  type SupervisedThreadOptions,
} from '../../src/threads/supervised-thread.ts';
import { type Thread, ThreadFailure } from '../../src/threads/thread.ts';

/** A thread that does what the test says. */
class FakeThread {
  isReady = false;
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<ThreadFailure | null>();
  readonly #waits = Promise.withResolvers<void>();
  readonly ready = this.#ready.promise;
  readonly waits = this.#waits.promise;
  readonly ended = this.#ended.promise;

  becomeReady(): void {
    this.isReady = true;
    this.#ready.resolve();
  }

  wait(): void {
    this.#waits.resolve();
  }

  end(failure: ThreadFailure | null): void {
    this.isReady = false;
    this.#ready.reject(failure ?? new ThreadFailure('ended', false));
    this.#ended.resolve(failure);
  }

  async stop(): Promise<void> {
    this.end(null);
  }
}

function supervise(more: Partial<SupervisedThreadOptions> = {}) {
  const threads: FakeThread[] = [];
  const happened: string[] = [];
  const stopping = new AbortController();
  const logger = {
    error: (_: object, message: string) => happened.push(message),
    warn: (_: object, message: string) => happened.push(`warning: ${message}`),
    fatal: (_: object, message: string) => happened.push(message),
  } as unknown as Logger;
  const supervised = new SupervisedThread({
    name: 'shard 1',
    logger,
    stopping: stopping.signal,
    make() {
      const thread = new FakeThread();
      thread.ready.catch(() => {});
      threads.push(thread);
      return thread as unknown as Thread;
    },
    onReady: () => happened.push('ready'),
    onEnded: () => happened.push('ended'),
    ...more,
  });
  return { supervised, threads, happened, stopping };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await setImmediate();
}

const failure = new ThreadFailure('the disk is gone', false);

test('a thread that fails is started again, and its first start counts for whoever waits', async () => {
  const { supervised, threads, happened } = supervise();
  const first = supervised.start();
  await settled();
  threads[0]!.becomeReady();
  assert.equal(await first, null);
  assert.equal(supervised.ready, threads[0] as unknown as Thread);
  threads[0]!.end(failure);
  while (threads.length < 2) await settled();
  const again = 'shard 1 ended and is started again: the disk is gone';
  assert.deepEqual(happened, ['ready', 'ended', again]);
  assert.deepEqual([supervised.thread === (threads[1] as unknown as Thread), supervised.ready], [true, null]);
});

test('that other machines have ended it is told as a warning', async () => {
  const { supervised, threads, happened } = supervise();
  void supervised.start();
  await settled();
  threads[0]!.end(new ThreadFailure('it has a newer owner', false, true));
  while (threads.length < 2) await settled();
  assert.equal(happened.at(-1), 'warning: shard 1 ended and is started again: it has a newer owner');
});

test('one that a start can not help stays down, and says why', async () => {
  const { supervised, threads, happened } = supervise();
  const first = supervised.start();
  await settled();
  const damaged = new ThreadFailure('the journal is damaged', true);
  threads[0]!.end(damaged);
  assert.equal(await first, damaged);
  await settled();
  assert.deepEqual(happened, ['ended', 'shard 1 stays down: the journal is damaged']);
  assert.deepEqual([threads.length, supervised.thread], [1, null]);
});

test('one that other nodes may run stays down only for what no node can help', async () => {
  const { supervised, threads, happened } = supervise({ spansNodes: true });
  void supervised.start();
  await settled();
  threads[0]!.end(new ThreadFailure('the files here are damaged', true));
  while (threads.length < 2) await settled();
  threads[1]!.end(new ThreadFailure('PostgreSQL has lost it', true, true));
  await settled();
  assert.deepEqual(happened, [
    'ended',
    'shard 1 ended and is started again: the files here are damaged',
    'ended',
    'shard 1 stays down: PostgreSQL has lost it',
  ]);
  assert.equal(threads.length, 2);
});

test('one whose end is somebody else’s affair is not started again; failing to start is told by its start', async () => {
  for (const wasReady of [true, false]) {
    const lost: ThreadFailure[] = [];
    const { supervised, threads } = supervise({ onLost: (why) => lost.push(why) });
    const first = supervised.start();
    await settled();
    if (wasReady) threads[0]!.becomeReady();
    await settled();
    threads[0]!.end(failure);
    assert.equal(await first, wasReady ? null : failure);
    await settled();
    assert.deepEqual([lost, threads.length], [wasReady ? [failure] : [], 1]);
  }
});

test('one that waits for other machines is not waited for, in whoever its place it is', async () => {
  const { supervised, threads } = supervise();
  let [isStarted, waits] = [false, false];
  void supervised.start().then(() => {
    isStarted = true;
  });
  void supervised.waits.then(() => {
    waits = true;
  });
  await settled();
  threads[0]!.wait();
  await settled();
  assert.deepEqual([isStarted, waits], [false, true]);
  threads[0]!.becomeReady();
  await settled();
  assert.equal(isStarted, true);
  let replaced: boolean | null = null;
  void supervised.replace().then((isReady) => {
    replaced = isReady;
  });
  await settled();
  assert.deepEqual([threads.length, replaced], [2, null]);
  threads[1]!.wait();
  await settled();
  assert.equal(replaced, false);
});

test('another one is made in its place when that is wanted, at once and without an error', async () => {
  const { supervised, threads, happened } = supervise();
  void supervised.start();
  await settled();
  threads[0]!.becomeReady();
  await settled();
  let replaced: boolean | null = null;
  const replace = () => {
    replaced = null;
    void supervised.replace().then((isReady) => {
      replaced = isReady;
    });
  };
  replace();
  await settled();
  assert.deepEqual([threads.length, replaced], [2, null]);
  threads[1]!.becomeReady();
  await settled();
  assert.equal(replaced, true);
  assert.deepEqual(happened, ['ready', 'ended', 'ready']);
  // One that fails in its place is started again as ever, and whoever waits for it goes on.
  replace();
  await settled();
  threads[2]!.end(failure);
  while (threads.length < 4) await settled();
  assert.equal(replaced, false);
  assert.match(happened.at(-1)!, /ended and is started again/);
});

test('a stop ends it for good, also one that is only being made', async () => {
  const { supervised, threads, stopping } = supervise();
  void supervised.start();
  await settled();
  threads[0]!.becomeReady();
  stopping.abort();
  await supervised.stop();
  assert.deepEqual([threads.length, supervised.thread], [1, null]);

  const making = Promise.withResolvers<Thread>();
  const late = supervise({ make: () => making.promise });
  void late.supervised.start();
  late.stopping.abort();
  const stopped = late.supervised.stop();
  const thread = new FakeThread();
  thread.ready.catch(() => {});
  making.resolve(thread as unknown as Thread);
  await stopped;
  assert.deepEqual([late.supervised.thread, late.happened], [null, ['ended']]);
});

/** The waits after failures that come so many milliseconds after one another. */
function waits(...gapsMs: readonly number[]): number[] {
  const delay = new RestartDelay();
  let nowMs = 0;
  return gapsMs.map((gapMs) => {
    nowMs += gapMs;
    return delay.failed(nowMs);
  });
}

const rows: readonly [string, gapsMs: readonly number[], expected: readonly number[]][] = [
  ['one failure', [1], [0]],
  ['a shard that can not stay up', Array(9).fill(10), [0, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]],
  ['a failure every twenty seconds', Array(6).fill(20_000), [0, 200, 400, 400, 400, 400]],
  ['a failure a minute', Array(4).fill(60_000), [0, 0, 0, 0]],
  ['some failures, a quiet minute, some more', [1, 1, 1, 60_000, 1], [0, 200, 400, 0, 200]],
];

for (const [name, gapsMs, expected] of rows) {
  test(`waits before the next start: ${name}`, () => assert.deepEqual(waits(...gapsMs), expected));
}

test('a thread that can not be made is told, and made again', async () => {
  let tries = 0;
  const made: FakeThread[] = [];
  const { supervised, happened, stopping } = supervise({
    make: async () => {
      tries++;
      if (tries === 1) throw new Error('the journal is not closed');
      const thread = new FakeThread();
      thread.ready.catch(() => {});
      made.push(thread);
      return thread as unknown as Thread;
    },
  });
  const failure = await supervised.start();
  assert.equal(failure?.message, "it can't be started: the journal is not closed");
  while (made.length === 0) await settled();
  assert.deepEqual(happened, [
    "shard 1 ended and is started again: it can't be started: the journal is not closed",
  ]);
  assert.equal(made.length, 1);
  stopping.abort();
  await supervised.stop();
});

test('whoever waits for another thread hears that it can not be made', async () => {
  let tries = 0;
  const { supervised, stopping } = supervise({
    make: async () => {
      if (++tries === 2) throw new Error('not now');
      const thread = new FakeThread();
      thread.ready.catch(() => {});
      thread.becomeReady();
      return thread as unknown as Thread;
    },
  });
  await supervised.start();
  await supervised.replace();
  assert.ok(tries >= 2);
  stopping.abort();
  await supervised.stop();
});
