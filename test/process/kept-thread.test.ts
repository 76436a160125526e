// How a thread is kept running: when it is started again, when it stays down, and what a stop waits for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { KeptThread, type KeptThreadOptions } from '../../src/process/kept-thread.ts';
import type { Logger } from '../../src/process/logger.ts';
import { type Thread, ThreadFailure } from '../../src/process/thread.ts';

/** A thread that does what the test says. */
class FakeThread {
  isReady = false;
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<ThreadFailure | null>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;

  becomeReady(): void {
    this.isReady = true;
    this.#ready.resolve();
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

function keep(more: Partial<KeptThreadOptions> = {}) {
  const threads: FakeThread[] = [];
  const happened: string[] = [];
  const stopping = new AbortController();
  const logger = {
    error: (_: object, message: string) => happened.push(message),
    fatal: (_: object, message: string) => happened.push(message),
  } as unknown as Logger;
  const kept = new KeptThread({
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
  return { kept, threads, happened, stopping };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await setImmediate();
}

const failure = new ThreadFailure('the disk is gone', false);

test('a thread that fails is started again, and its first start counts for whoever waits', async () => {
  const { kept, threads, happened } = keep();
  const first = kept.start();
  await settled();
  threads[0]!.becomeReady();
  assert.equal(await first, null);
  assert.equal(kept.ready, threads[0] as unknown as Thread);
  threads[0]!.end(failure);
  while (threads.length < 2) await settled();
  const again = 'shard 1 ended and is started again: the disk is gone';
  assert.deepEqual(happened, ['ready', 'ended', again]);
  assert.deepEqual([kept.thread === (threads[1] as unknown as Thread), kept.ready], [true, null]);
});

test('one that a start can not help stays down, and says why', async () => {
  const { kept, threads, happened } = keep();
  const first = kept.start();
  await settled();
  const damaged = new ThreadFailure('the journal is damaged', true);
  threads[0]!.end(damaged);
  assert.equal(await first, damaged);
  await settled();
  assert.deepEqual(happened, ['ended', 'shard 1 stays down: the journal is damaged']);
  assert.deepEqual([threads.length, kept.thread], [1, null]);
});

test('one whose end is somebody else’s affair is not started again; failing to start is told by its start', async () => {
  for (const wasReady of [true, false]) {
    const lost: ThreadFailure[] = [];
    const { kept, threads } = keep({ onLost: (why) => lost.push(why) });
    const first = kept.start();
    await settled();
    if (wasReady) threads[0]!.becomeReady();
    await settled();
    threads[0]!.end(failure);
    assert.equal(await first, wasReady ? null : failure);
    await settled();
    assert.deepEqual([lost, threads.length], [wasReady ? [failure] : [], 1]);
  }
});

test('a stop ends it for good, also one that is only being made', async () => {
  const { kept, threads, stopping } = keep();
  void kept.start();
  await settled();
  threads[0]!.becomeReady();
  stopping.abort();
  await kept.stop();
  assert.deepEqual([threads.length, kept.thread], [1, null]);

  const making = Promise.withResolvers<Thread>();
  const late = keep({ make: () => making.promise });
  void late.kept.start();
  late.stopping.abort();
  const stopped = late.kept.stop();
  const thread = new FakeThread();
  thread.ready.catch(() => {});
  making.resolve(thread as unknown as Thread);
  await stopped;
  assert.deepEqual([late.kept.thread, late.happened], [null, ['ended']]);
});
