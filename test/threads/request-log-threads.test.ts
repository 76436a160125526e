// Who is connected with which thread of the request logs: the edges of its node, and those of all other nodes. Their threads are
// the other ends of ports here, as those of other nodes are.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import pino from 'pino';
import { type WireEnd, Wiring } from '../../src/cluster/wires.ts';
import { loadConfig } from '../../src/config/config.ts';
import { RequestLogThreads } from '../../src/threads/request-log-threads.ts';
import type { SupervisedThread } from '../../src/threads/supervised-thread.ts';
import { Thread } from '../../src/threads/thread.ts';
import { WaitingThreads } from '../../src/threads/thread-kinds.ts';
import { until } from '../poll.ts';

const configDir = fileURLToPath(new URL('../../config', import.meta.url));

interface Connected {
  readonly type: string;
  readonly node?: string;
  readonly wire?: WireEnd;
}

/** A thread of another node, and what it is connected with. */
function far(context: TestContext, process: string) {
  const { port1, port2 } = new MessageChannel();
  const connected: string[] = [];
  let question: number | null = null;
  port2.on('message', (message: Connected & { readonly port?: MessagePort; readonly question?: number }) => {
    message.port?.close();
    if (message.question !== undefined) question = message.question;
    else
      connected.push(
        [message.type, message.node, message.wire === undefined ? 'by way of this one' : 'over a wire']
          .filter(Boolean)
          .join(' '),
      );
  });
  port2.postMessage({ type: 'ready' });
  context.after(() => port2.close());
  const thread = Thread.elsewhere(port1, { process, name: `node ${process}`, giveUp: () => port2.close() });
  /** It does as it is told, or its link is lost. */
  const end = () => port2.close();
  return { thread, connected, end, wasStopped: () => question !== null };
}

function withLogs(context: TestContext, keptDays = 7) {
  const stopping = new AbortController();
  const config = loadConfig({ NODE_ENV: 'test' }, configDir);
  const wiring = new Wiring(7);
  const edges: SupervisedThread[] = [];
  const logs = new RequestLogThreads({
    config: () => ({ ...config, requestLogs: { ...config.requestLogs, keptDays } }),
    threads: new WaitingThreads(),
    edges: () => edges,
    wiring,
    previous: null,
    logger: pino({ level: 'silent' }) as never,
    stopping: stopping.signal,
    countLost: () => {},
  });
  context.after(() => stopping.abort());
  const join = (process: string, node: string) => {
    const made: ReturnType<typeof far>[] = [];
    logs.join(process, node, () => {
      const one = far(context, process);
      made.push(one);
      return one.thread;
    });
    return made;
  };
  return { logs, wiring, edges, join };
}

test('the threads of all nodes are connected with each other, and edges with that of their node', async (context) => {
  const { logs, edges, join } = withLogs(context);
  const edgeOfB = far(context, 'pb');
  edges.push({ thread: edgeOfB.thread, ready: edgeOfB.thread } as unknown as SupervisedThread);
  const [b] = join('pb', 'b');
  const [c] = join('pc', 'c');
  const edgeOfC = far(context, 'pc');
  logs.connectEdge(edgeOfC.thread);
  await until(() => b!.connected.length === 2 && c!.connected.length === 2 && edgeOfC.connected.length === 1);
  // Within a node nothing passes this one.
  assert.deepEqual(b!.connected, [
    'connect_request_logs over a wire',
    'connect_other_logs c by way of this one',
  ]);
  assert.deepEqual(c!.connected, [
    'connect_other_logs b by way of this one',
    'connect_request_logs over a wire',
  ]);
  assert.deepEqual(edgeOfB.connected, ['connect_request_logs over a wire']);
  assert.deepEqual(edgeOfC.connected, ['connect_request_logs over a wire']);
});

test('when two nodes reach each other, or do not any more, their threads are connected anew', async (context) => {
  const { logs, wiring, join } = withLogs(context);
  const [b] = join('pb', 'b');
  const [c] = join('pc', 'c');
  wiring.together('pb', 'pc');
  logs.reconnect('pb', 'pc');
  wiring.apart('pb', 'pc');
  logs.reconnect('pb', 'pc');
  logs.reconnect('pb', 'nobody');
  await until(() => b!.connected.length === 3 && c!.connected.length === 3);
  const ways = ['by way of this one', 'over a wire', 'by way of this one'];
  assert.deepEqual(
    b!.connected,
    ways.map((way) => `connect_other_logs c ${way}`),
  );
  assert.deepEqual(
    c!.connected,
    ways.map((way) => `connect_other_logs b ${way}`),
  );
});

test('a node joins once, one by each name, and again when it has left', async (context) => {
  const { logs, join } = withLogs(context);
  const [b] = join('pb', 'b');
  assert.deepEqual([join('pb', 'b').length, join('pc', 'b').length], [0, 0]);
  logs.leave('pb');
  logs.leave('nobody');
  await until(b!.wasStopped);
  const [again] = join('pb2', 'b');
  b!.end();
  const [c] = join('pc', 'c');
  await until(() => c!.connected.length === 1);
  assert.deepEqual(again!.connected, ['connect_other_logs c by way of this one']);
});

test('a thread that ends is started again, and connected as the first one was', async (context) => {
  const { join } = withLogs(context);
  const made = join('pb', 'b');
  join('pc', 'c');
  await until(() => made[0]!.connected.length === 1);
  made[0]!.end();
  await until(() => made.length === 2 && made[1]!.connected.length === 1);
  assert.deepEqual(made[1]!.connected, ['connect_other_logs c by way of this one']);
});

test('where no request logs are kept there are no threads', (context) => {
  const { logs, join } = withLogs(context, 0);
  logs.start();
  assert.deepEqual([join('pb', 'b'), logs.own, logs.client], [[], null, null]);
});
