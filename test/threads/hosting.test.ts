// What a node runs for another: a partition is never followed while it is about to be run, and attempts of webhooks are counted
// from the first thread to the last.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import type { Config } from '../../src/config/config-schema.ts';
import { OwnershipBoard } from '../../src/journal/ownership.ts';
import { Hosting } from '../../src/threads/hosting.ts';
import { type Thread, ThreadFailure } from '../../src/threads/thread.ts';
import type { ShardThreadData } from '../../src/threads/thread-protocol.ts';
import { until } from '../poll.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A thread that is ready at once, and ends when the test says so. */
function fakeThread() {
  const ended = Promise.withResolvers<ThreadFailure | null>();
  const begunWith: unknown[] = [];
  const asked: string[] = [];
  const thread = {
    ready: Promise.resolve(),
    waits: new Promise(() => {}),
    isReady: true,
    isElsewhere: false,
    process: null,
    ended: ended.promise,
    begin(data: unknown) {
      begunWith.push(data);
      return thread;
    },
    giveAway() {},
    connect() {},
    stop: () => ended.promise,
    ask: async (type: string) => void asked.push(type),
  };
  return {
    thread: thread as unknown as Thread,
    begunWith,
    asked,
    end: (failure: ThreadFailure | null = null) => ended.resolve(failure),
  };
}

function hosting(context: TestContext, answer: (type: string) => Promise<void>) {
  const dataDir = temporaryFolder(context);
  const [asked, taken, fakes] = [
    [] as string[],
    [] as string[],
    new Map<string, ReturnType<typeof fakeThread>>(),
  ];
  const damaged: number[] = [];
  const logger = { info() {}, warn() {}, error() {} };
  const made = new Hosting({
    config: () =>
      ({ dataDir, webhookThreads: 1, memory: {}, webhooks: { timeoutMs: 10_000 } }) as unknown as Config,
    port: 0,
    folder: {
      shardDir: () => dataDir,
      shardIdentity: (shard: number) => ({ folder: 'f', generation: 1, shard }),
    } as never,
    trust: OwnershipBoard.untrusted(1),
    standby: {
      ask: ((type: string) => {
        asked.push(type);
        return answer(type);
      }) as never,
    },
    whole: new Set(),
    onDamaged: (partition) => damaged.push(partition),
    threads: {
      take({ name }: { readonly name: string }) {
        const fake = fakeThread();
        taken.push(name);
        fakes.set(name, fake);
        return fake.thread;
      },
      prepare() {},
    } as never,
    logger: logger as never,
    onListening() {},
  });
  const lend = (attemptMs = 10_000, term = 1) => {
    const { port1, port2 } = new MessageChannel();
    const shard = { number: 0, quietMs: 0, attemptMs, secretsKeys: [] };
    made.take({ type: 'lent', lent: { kind: 'shard', shard }, term, port: port1 } as never);
    context.after(() => port2.close());
    return port2;
  };
  const lendEdge = (number: number) => {
    const { port1, port2 } = new MessageChannel();
    made.take({ type: 'lent', lent: { kind: 'edge', edge: { number } }, term: 1, port: port1 } as never);
    context.after(() => port2.close());
    return [...fakes.values()].at(-1)!;
  };
  return { made, lend, lendEdge, asked, taken, fakes, damaged };
}

test('a partition that is let go to be run is not followed again meanwhile', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const released = Promise.withResolvers<void>();
  let releases = 0;
  const { lend, asked, taken, fakes } = hosting(context, async (type) => {
    if (type === 'follow') throw new Error('PostgreSQL is away');
    if (++releases === 2) await released.promise;
  });
  lend();
  await until(() => taken.includes('shard 0'));
  fakes.get('shard 0')?.end();
  // It can't be followed again at once, which is tried again after a while.
  await until(() => asked.includes('follow'));
  lend();
  await until(() => releases === 2);
  context.mock.timers.tick(60_000);
  await Promise.resolve();
  released.resolve();
  await until(() => taken.filter((name) => name === 'shard 0').length === 2);
  assert.deepEqual(asked, ['release', 'follow', 'release']);
});

test('a partition whose files here are damaged is told of, and not followed again', async (context) => {
  const { lend, asked, taken, fakes, damaged } = hosting(context, async () => {});
  for (const isRemote of [true, false]) {
    lend();
    await until(() => taken.includes('shard 0'));
    fakes.get('shard 0')?.end(new ThreadFailure('damaged', true, isRemote));
    taken.length = 0;
    await until(() => (isRemote ? asked.includes('follow') : damaged.length > 0));
  }
  assert.deepEqual([damaged, asked], [[0], ['release', 'follow', 'release']]);
});

test('a partition whose lender is gone is not run, also when the lender had said something before', async (context) => {
  const released = Promise.withResolvers<void>();
  const { lend, asked, taken } = hosting(context, async (type) => {
    if (type === 'release') await released.promise;
  });
  const lender = lend();
  await until(() => asked.includes('release'));
  lender.postMessage({ type: 'directory', question: 1, revision: 2 });
  lender.close();
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
  released.resolve();
  await until(() => taken.length > 0 || asked.includes('follow'));
  assert.deepEqual([asked, taken], [['release', 'follow'], []]);
});

test('other webhook threads begin when those before have ended', async (context) => {
  const { lend, taken, fakes } = hosting(context, async () => {});
  lend();
  await until(() => taken.includes('webhook thread 0'));
  const former = fakes.get('webhook thread 0');
  fakes.get('shard 0')?.end();
  lend();
  await until(() => taken.filter((name) => name === 'shard 0').length === 2);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(taken.filter((name) => name === 'webhook thread 0').length, 1);
  former?.end();
  await until(() => taken.filter((name) => name === 'webhook thread 0').length === 2);
});

test('attempts last as long as the lender has noted, whatever this node is configured for', async (context) => {
  const { lend, taken, fakes } = hosting(context, async () => {});
  const timeoutOf = () => {
    const [data] = fakes.get('webhook thread 0')!.begunWith as [{ config: Config }];
    return data.config.webhooks.timeoutMs;
  };
  lend(30_000);
  await until(() => taken.includes('webhook thread 0'));
  assert.equal(timeoutOf(), 30_000);
  // The next lender has noted another time before all that the former one lent has ended.
  fakes.get('webhook thread 0')?.end();
  fakes.get('shard 0')?.end();
  lend(20_000);
  await until(() => taken.filter((name) => name === 'webhook thread 0').length === 2);
  assert.equal(timeoutOf(), 20_000);
});

test('a shard goes by the trust of the link that it came by', async (context) => {
  const { lend, taken, fakes } = hosting(context, async () => {});
  lend(10_000, 3);
  await until(() => taken.includes('shard 0'));
  const [{ term }] = fakes.get('shard 0')!.begunWith as [ShardThreadData];
  assert.equal(term, 3);
});

test('edges are told that this node is to stop soon, also one that it was lent since', (context) => {
  const { made, lendEdge } = hosting(context, async () => {});
  const before = lendEdge(1);
  assert.deepEqual(before.asked, []);
  made.announceStop();
  assert.deepEqual([before.asked, lendEdge(2).asked], [['announce_stop'], ['announce_stop']]);
});
