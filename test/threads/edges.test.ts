// The edges that other nodes run, with links in this process: their threads are the other ends of ports.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import pino from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import type { Config } from '../../src/config/config-schema.ts';
import { newOrganization } from '../../src/directory/organization.ts';
import { OwnershipBoard } from '../../src/journal/ownership.ts';
import { keyRingChangeOf } from '../../src/threads/directory-projections.ts';
import { Edges } from '../../src/threads/edges.ts';
import type { EdgeAnywhere } from '../../src/threads/lending-protocol.ts';
import { Thread } from '../../src/threads/thread.ts';
import type { Instruction } from '../../src/threads/thread-protocol.ts';
import { until } from '../poll.ts';

const configDir = fileURLToPath(new URL('../../config', import.meta.url));

type Asked = Extract<Instruction, { question: number }>;

/** An edge's thread, as its other end sees it. */
interface Far {
  readonly edge: EdgeAnywhere;
  readonly port: MessagePort;
  readonly asked: Asked[];
  answer(type: Asked['type'], value?: unknown): void;
}

/** `own`: how many this node has itself; they begin when `listenKey` is there. */
async function withEdges(
  context: TestContext,
  own = 0,
  listenKey: Promise<Uint8Array> = Promise.resolve(new Uint8Array(32)),
) {
  const stopping = new AbortController();
  const all: Far[] = [];
  const refused: unknown[] = [];
  const used: unknown[] = [];
  const begin = (edge: EdgeAnywhere, process: string) => {
    const { port1, port2 } = new MessageChannel();
    const asked: Asked[] = [];
    port2.on('message', (instruction: Asked) => asked.push(instruction));
    const answer = (type: Asked['type'], value?: unknown) => {
      const { question } = asked.find((each) => each.type === type)!;
      port2.postMessage({ type: 'answer', question, value });
    };
    all.push({ edge, port: port2, asked, answer });
    return Thread.elsewhere(port1, { process, name: 'node b', giveUp: () => port2.close() });
  };
  const edges = new Edges({
    config: () => ({ ...loadConfig({ NODE_ENV: 'test' }, configDir), edges: own }),
    shards: 1,
    directory: {
      listenKey: () => listenKey,
      snapshot: () => [],
      keyUses: { note: (some: unknown) => used.push(some) } as never,
    },
    ownership: OwnershipBoard.memory(1),
    threads: {
      take: () => ({ begin: (edge: EdgeAnywhere, onNews: never) => begin(edge, 'here').begin(null, onNews) }),
    } as never,
    port: 0,
    baseUrl: 'http://pay.example',
    logger: pino({ level: 'silent' }) as never,
    stopping: stopping.signal,
    isPaused: () => false,
    onStarted() {},
    onRefusedKeys: (some) => refused.push(some),
    onEnded() {},
  });
  const started = edges.start();
  if (own === 0) await started;
  const join = (process: string, count = 1) =>
    edges.join(process, 'b', count, (edge) => {
      const thread = begin(edge, process);
      all.at(-1)!.port.postMessage({ type: 'ready' });
      return thread;
    });
  context.after(() => {
    stopping.abort();
    for (const { port } of all) port.close();
  });
  return { edges, all, join, started, refused, used };
}

const hasBeen = (far: Far, type: Asked['type']) => () => far.asked.some((each) => each.type === type);

/** Each of two nodes runs an edge. */
async function withTwoNodes(context: TestContext) {
  const { edges, all, join } = await withEdges(context);
  join('p');
  join('q');
  await until(() => all.length === 2);
  const [first, second] = all as [Far, Far];
  return { edges, first, second };
}

/** What would happen without the test's doing has happened. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

test('a node that joins again before its edges have ended keeps the new ones', async (context) => {
  const { edges, all, join } = await withEdges(context);
  join('p');
  await until(() => all.length === 1);
  const left = edges.leave('p');
  join('p');
  await until(() => all.length === 2);
  const [older, newer] = all as [Far, Far];
  await until(hasBeen(older, 'stop'));
  older.port.close();
  await left;
  assert.equal(edges.all.length, 1);
  assert.equal(hasBeen(newer, 'stop')(), false);
  const again = edges.leave('p');
  await until(hasBeen(newer, 'stop'));
  newer.port.close();
  await again;
  assert.equal(edges.all.length, 0);
});

test('a node that leaves takes its own edges with it alone', async (context) => {
  const { edges, first, second } = await withTwoNodes(context);
  const left = edges.leave('q');
  await until(hasBeen(second, 'stop'));
  second.port.close();
  await left;
  assert.equal(hasBeen(first, 'stop')(), false);
  await edges.leave('r');
  assert.equal(edges.all.length, 1);
});

test('an edge that another node can not run is tried again, since its fault may be that node alone', async (context) => {
  const { all, join } = await withEdges(context);
  join('p');
  await until(() => all.length === 1);
  const { port } = all[0]!;
  port.postMessage({ type: 'failed', message: 'the port is taken', fatal: true, isRemote: false });
  port.postMessage({ type: 'exit', code: 1 });
  await until(() => all.length === 2);
  assert.equal(all[1]!.edge.number, 0);
});

test('a change is done when every edge says so, or has ended', async (context) => {
  const { edges, first, second } = await withTwoNodes(context);
  let isDone = false;
  const organization = newOrganization('org_000000000000000000000001', 'Shop', 0);
  const done = edges.changed({ organization, keys: [] } as never).then(() => {
    isDone = true;
  });
  await until(() => hasBeen(first, 'keys')() && hasBeen(second, 'keys')());
  first.answer('keys');
  await someTurns();
  assert.equal(isDone, false);
  const left = edges.leave('q');
  await someTurns();
  assert.equal(isDone, false, 'one that is leaving may go by its keys');
  second.port.close();
  await Promise.all([done, left]);
});

test('a change waits for the edges of this node, too', async (context) => {
  const { edges, all, started } = await withEdges(context, 2);
  await until(() => all.length === 2);
  for (const { port } of all) port.postMessage({ type: 'ready' });
  await started;
  let isDone = false;
  const organization = newOrganization('org_000000000000000000000001', 'Shop', 0);
  const change = { organization, keys: [] } as never;
  const done = edges.changed(change).then(() => {
    isDone = true;
  });
  for (const far of all) {
    await until(hasBeen(far, 'keys'));
    await someTurns();
    assert.equal(isDone, false);
    const told = far.asked.find(({ type }) => type === 'keys') as unknown as { change: unknown };
    assert.deepEqual(told.change, keyRingChangeOf(change));
    far.answer('keys');
  }
  await done;
});

test('a change is done at once while no edge has begun', async (context) => {
  const { edges, all } = await withEdges(context, 2, new Promise(() => {}));
  assert.deepEqual(all, []);
  const organization = newOrganization('org_000000000000000000000001', 'Shop', 0);
  await edges.changed({ organization, keys: [] } as never);
});

test('edges have numbers of their own, and are told how many share the mailboxes', async (context) => {
  const { edges, all, join } = await withEdges(context);
  join('p', 2);
  await until(() => all.length === 2 && all.every((far) => hasBeen(far, 'edges')()));
  const left = edges.leave('p');
  join('q', 1);
  await until(() => all.length === 3);
  const third = all[2]!;
  assert.deepEqual(
    all.map(({ edge }) => edge.number),
    [0, 1, 2],
  );
  assert.equal(third.edge.edges, 3, 'itself among those that are ready');
  for (const { port } of all.slice(0, 2)) port.close();
  await left;
  const told = () => third.asked.findLast((each) => each.type === 'edges');
  await until(() => (told() as { edges?: number } | undefined)?.edges === 1);
});

test('edges of this node are started together, tell of keys, and stop when they are told to', async (context) => {
  const { edges, all, started, refused, used } = await withEdges(context, 2);
  await until(() => all.length === 2);
  const [first, second] = all as [Far, Far];
  first.port.postMessage({ type: 'refused_keys', refused: ['r'] });
  first.port.postMessage({ type: 'used_keys', used: ['u'] });
  first.port.postMessage({ type: 'ready' });
  second.port.postMessage({ type: 'failed', message: 'the port is taken', fatal: false, isRemote: false });
  second.port.postMessage({ type: 'exit', code: 1 });
  assert.match(String(await started), /the port is taken/);
  assert.deepEqual([refused, used], [[['r']], [['u']]]);
  edges.announceStop();
  await until(hasBeen(first, 'announce_stop'));
  const rereading = edges.reread();
  await until(hasBeen(first, 'reread'));
  const { config } = first.asked.find(({ type }) => type === 'reread') as unknown as { config: Config };
  assert.equal(config.edges, 2);
  first.answer('reread', 'the certificate is not there');
  assert.deepEqual(await rereading, ['the certificate is not there']);
  let hasStopped = false;
  const stopped = edges.stop().then(() => {
    hasStopped = true;
  });
  await until(hasBeen(first, 'stop'));
  assert.equal(hasStopped, false);
  first.port.close();
  await stopped;
});

test('a service whose edges all listen has started', async (context) => {
  const { edges, all, started } = await withEdges(context, 2);
  await until(() => all.length === 2);
  for (const { port } of all) port.postMessage({ type: 'ready' });
  assert.equal(await started, null);
  assert.deepEqual([edges.own.length, edges.all.length], [2, 2]);
  assert.deepEqual(
    all.map(({ edge }) => [edge.number, edge.edges]),
    [
      [0, 2],
      [1, 2],
    ],
  );
});
