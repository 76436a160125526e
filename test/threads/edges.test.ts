// The edges that other nodes run, with links in this process: their threads are the other ends of ports.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import pino from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { newOrganization } from '../../src/directory/organization.ts';
import { OwnershipBoard } from '../../src/journal/ownership.ts';
import { Edges } from '../../src/threads/edges.ts';
import type { EdgeAnywhere } from '../../src/threads/lending-protocol.ts';
import { Thread } from '../../src/threads/thread.ts';
import { WaitingThreads } from '../../src/threads/thread-kinds.ts';
import type { Instruction } from '../../src/threads/thread-protocol.ts';
import { until } from '../poll.ts';

const configDir = fileURLToPath(new URL('../../config', import.meta.url));

type Asked = Extract<Instruction, { question: number }>;

/** An edge of another node. */
interface Far {
  readonly edge: EdgeAnywhere;
  readonly port: MessagePort;
  readonly asked: Asked[];
  answer(type: Asked['type']): void;
}

async function withEdges(context: TestContext) {
  const stopping = new AbortController();
  const edges = new Edges({
    // None of its own.
    config: () => ({ ...loadConfig({ NODE_ENV: 'test' }, configDir), edges: 0 }),
    shards: 1,
    directory: { listenKey: async () => new Uint8Array(32), snapshot: () => [], keyUses: {} as never },
    ownership: OwnershipBoard.memory(1),
    threads: new WaitingThreads(),
    port: 0,
    baseUrl: 'http://pay.example',
    logger: pino({ level: 'silent' }) as never,
    stopping: stopping.signal,
    isPaused: () => false,
    onStarted() {},
    onRefusedKeys() {},
    onEnded() {},
  });
  await edges.start();
  const all: Far[] = [];
  const join = (process: string, count = 1) =>
    edges.join(process, 'b', count, (edge) => {
      const { port1, port2 } = new MessageChannel();
      const asked: Asked[] = [];
      port2.on('message', (instruction: Asked) => asked.push(instruction));
      const answer = (type: Asked['type']) => {
        const { question } = asked.find((each) => each.type === type)!;
        port2.postMessage({ type: 'answer', question, value: undefined });
      };
      all.push({ edge, port: port2, asked, answer });
      port2.postMessage({ type: 'ready' });
      return Thread.elsewhere(port1, { process, name: 'node b', giveUp: () => port2.close() });
    });
  context.after(() => {
    stopping.abort();
    for (const { port } of all) port.close();
  });
  return { edges, all, join };
}

const hasBeen = (far: Far, type: Asked['type']) => () => far.asked.some((each) => each.type === type);

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

test('a change is done when every edge says so, or has ended', async (context) => {
  const { edges, all, join } = await withEdges(context);
  join('p');
  join('q');
  await until(() => all.length === 2);
  const [first, second] = all as [Far, Far];
  let isDone = false;
  const organization = newOrganization('org_000000000000000000000001', 'Shop', 0);
  const done = edges.changed({ organization, keys: [] } as never).then(() => {
    isDone = true;
  });
  await until(() => hasBeen(first, 'keys')() && hasBeen(second, 'keys')());
  first.answer('keys');
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  assert.equal(isDone, false);
  const left = edges.leave('q');
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  assert.equal(isDone, false, 'one that is leaving may go by its keys');
  second.port.close();
  await Promise.all([done, left]);
});

test('edges have numbers of their own, and are told how many share the mailboxes', async (context) => {
  const { edges, all, join } = await withEdges(context);
  join('p', 2);
  await until(() => all.length === 2 && all.every((far) => hasBeen(far, 'edges')()));
  const left = edges.leave('p');
  join('q', 1);
  await until(() => all.length === 3);
  assert.deepEqual(
    all.map(({ edge }) => edge.number),
    [0, 1, 2],
  );
  for (const { port } of all.slice(0, 2)) port.close();
  await left;
  const third = all[2]!;
  const told = () => third.asked.findLast((each) => each.type === 'edges');
  await until(() => (told() as { edges?: number } | undefined)?.edges === 1);
});
