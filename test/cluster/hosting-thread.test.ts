// The thread over which a node runs partitions for others: whom it takes partitions from, and for how long it believes itself.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Link } from '../../src/cluster/link.ts';
import { connectToNode, proofByKey, proofOf } from '../../src/cluster/node-tls.ts';
import type { Config } from '../../src/config/config-schema.ts';
import { OwnershipBoard } from '../../src/journal/ownership.ts';
import { certifyNode } from '../../src/operator/use-cases/certify-node.ts';
import { trustClocks } from '../../src/telemetry/system-clocks.ts';
import type {
  FromHost,
  FromLender,
  FromOtherHost,
  HostingThreadData,
} from '../../src/threads/lending-protocol.ts';
import { Thread } from '../../src/threads/thread.ts';
import type { News } from '../../src/threads/thread-protocol.ts';
import { freePort } from '../free-port.ts';
import { until } from '../poll.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { linkConfig } from './link-config.ts';

const entry = new URL('../../src/threads/hosting-thread.ts', import.meta.url);
const key = randomBytes(32);
const release = '1.2.3';

/** The thread as it begins. */
function begin(
  context: TestContext,
  port: number,
  trust: SharedArrayBuffer,
  onNews?: (news: News) => void,
  files: Partial<Config['cluster']> = {},
) {
  const config = linkConfig('b', port);
  const data: HostingThreadData = {
    config: { ...config, cluster: { ...config.cluster, ...files } },
    identity: { node: 'b', process: 'p', release },
    key,
    edges: 3,
    trust,
  };
  const thread = Thread.worker({ name: 'hosting', entry }).begin(data, onNews);
  context.after(() => thread.stop());
  return thread;
}

async function hosting(context: TestContext) {
  const port = await freePort();
  const memory = OwnershipBoard.untrusted(2);
  const board = new OwnershipBoard(memory, trustClocks);
  const lent: Extract<News, { type: 'lent' }>[] = [];
  const thread = begin(context, port, memory, (news) => {
    if (news.type === 'lent') lent.push(news);
  });
  await thread.ready;
  return { port, board, lent };
}

/** A node that has the lease, or says so. It answers beats with `trustMs`; null: not at all. */
async function lender(
  context: TestContext,
  port: number,
  lead: Partial<Extract<FromLender, { type: 'lead' }>> = {},
) {
  const told: FromHost[] = [];
  const answers: { trustMs: number | null } = { trustMs: 1_000 };
  const ended = Promise.withResolvers<void>();
  const link = new Link(await connectToNode({ host: '127.0.0.1', port }, 'b', proofByKey(key)), 'dialed', {
    onControl(message) {
      const heard = message as FromHost;
      told.push(heard);
      if (heard.type === 'beat' && answers.trustMs !== null)
        link.tell({ type: 'trusted', sent: heard.sent, trustMs: answers.trustMs } satisfies FromLender);
    },
    silentMsMax: 600_000,
    onEnded(closeOpened) {
      closeOpened();
      ended.resolve();
    },
  });
  context.after(() => link.end());
  link.tell({ type: 'lead', epoch: 7, node: 'a', release, ...lead } satisfies FromLender);
  const lend = (number: number): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    link.open({ kind: 'shard', shard: { number } }, port1);
    return port2;
  };
  return { link, told, answers, ended: ended.promise, lend };
}

test('it believes itself while beats are answered, and not for longer than it was told', async (context) => {
  const { port, board } = await hosting(context);
  assert.equal(board.isTrusted(), false);
  const { told, answers } = await lender(context, port);
  await until(() => board.isTrusted());
  assert.deepEqual(told[0]?.type, 'beat');
  assert.deepEqual(told[1], { type: 'ready', edges: 3 });
  const leftMs = board.trustLeftMs(60_000);
  assert(leftMs > 0 && leftMs <= 1_000, `${leftMs} ms`);
  // More than the configuration allows is not believed.
  answers.trustMs = 3_600_000;
  const beats = told.length;
  await until(() => told.length > beats + 1);
  assert(board.trustLeftMs(3_600_000) <= 2_000);
  answers.trustMs = null;
  await until(() => !board.isTrusted());
});

test('it is lent partitions, which are lost with the link', async (context) => {
  const { port, board, lent } = await hosting(context);
  const { link, lend } = await lender(context, port);
  await until(() => board.isTrusted());
  lend(1);
  await until(() => lent.length === 1);
  assert.deepEqual(lent[0]?.lent, { kind: 'shard', shard: { number: 1 } });
  const { term } = lent[0]!;
  assert.deepEqual([board.isHeld(1), board.isTrustedIn(term)], [true, true]);
  const closed = once(lent[0]!.port, 'close');
  link.end();
  await closed;
  // Trust that another node grants later does not bring it back.
  await until(() => !board.isHeld(1));
  await lender(context, port, { epoch: 8 });
  await until(() => board.isTrustedIn(term + 1));
  assert.deepEqual([board.isHeld(1), board.isTrustedIn(term)], [false, false]);
});

/** Another host, whose links lead here. */
async function otherHost(context: TestContext, port: number, process: string) {
  const ended = Promise.withResolvers<void>();
  const link = new Link(await connectToNode({ host: '127.0.0.1', port }, 'b', proofByKey(key)), 'dialed', {
    onControl() {},
    silentMsMax: 600_000,
    onEnded(closeOpened) {
      closeOpened();
      ended.resolve();
    },
  });
  context.after(() => link.end());
  link.tell({ type: 'host', process } satisfies FromOtherHost);
  const here = setInterval(() => link.tell({ type: 'here' } satisfies FromOtherHost), 100);
  void ended.promise.then(() => clearInterval(here));
  return { link, ended: ended.promise };
}

test('the link to a host that does not offer the end of a wire is given up: both are connected anew', async (context) => {
  const { port, lent } = await hosting(context);
  const { lend } = await lender(context, port);
  const [silent, other] = [await otherHost(context, port, 'o'), await otherHost(context, port, 'n')];
  const thread = lend(1);
  await until(() => lent.length === 1);
  const connected: unknown[] = [];
  lent[0]!.port.on('message', (message) => connected.push(message));
  const wire = (name: string, offeredBy: string) => ({ wire: name, offeredTo: null, offeredBy });
  const { port1, port2 } = new MessageChannel();
  context.after(() => port1.close());
  other.link.open('7.1', port2);
  thread.postMessage({ type: 'connect', number: 0, wire: wire('7.1', 'n') });
  thread.postMessage({ type: 'connect', number: 1, wire: wire('7.2', 'o') });
  await until(() => connected.length === 1);
  await silent.ended;
  const ended = await Promise.race([other.ended.then(() => true), Promise.resolve(false)]);
  assert.deepEqual([ended, connected.length], [false, 1]);
});

test('another release is refused, and told why', async (context) => {
  const { port, board, lent } = await hosting(context);
  const { told, lend, ended } = await lender(context, port, { release: '1.2.4' });
  const near = lend(0);
  await Promise.all([ended, once(near, 'close')]);
  assert.deepEqual(told, [{ type: 'refused', reason: 'it runs 1.2.3, and this node 1.2.4' }]);
  assert.equal(lent.length, 0);
  assert.equal(board.isTrusted(), false);
});

test('who had the lease before is refused, and a newer holder takes the place of an older one', async (context) => {
  const { port, lent } = await hosting(context);
  const older = await lender(context, port, { epoch: 7 });
  await until(() => older.told.some(({ type }) => type === 'ready'));
  const newer = await lender(context, port, { epoch: 8 });
  await older.ended;
  await until(() => newer.told.some(({ type }) => type === 'ready'));
  const late = await lender(context, port, { epoch: 7 });
  const near = late.lend(0);
  await Promise.all([late.ended, once(near, 'close')]);
  assert.equal(lent.length, 0);
  newer.lend(1);
  await until(() => lent.length === 1);
});

test('a port that somebody else has ends the thread with what to set', async (context) => {
  const taken = createServer().listen(0, '127.0.0.1');
  context.after(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const failure = await begin(context, port, OwnershipBoard.untrusted(2)).ended;
  assert.match(
    failure?.message ?? '',
    /^the port of 127\.0\.0\.1:\d+ can't be listened on \(.*EADDRINUSE.*\): choose another with PAYMENTS_CLUSTER_LINK$/,
  );
  assert.equal(failure?.fatal, true);
});

test('renewed certificate files are taken without a restart', async (context) => {
  const made = (folder: string, node: string) => {
    const { certificate, key: keyFile, authority } = certifyNode(folder, node, new Date());
    return { certFile: certificate, keyFile, caFile: authority };
  };
  const [first, second] = [temporaryFolder(), temporaryFolder()];
  const port = await freePort();
  const dial = (folder: string) =>
    connectToNode({ host: '127.0.0.1', port }, 'b', proofOf(made(folder, `a${++count}`), key));
  let count = 0;
  const thread = begin(context, port, OwnershipBoard.untrusted(2), undefined, made(first, 'b'));
  await thread.ready;
  const open = await dial(first);
  context.after(() => open.destroy());
  await assert.rejects(dial(second), /self-signed|unable to verify|certificate signature failure/);
  const config = linkConfig('b', port);
  await thread.ask('reread', { config: { ...config, cluster: { ...config.cluster, ...made(second, 'b') } } });
  (await dial(second)).destroy();
  await assert.rejects(dial(first), /self-signed|unable to verify|certificate signature failure/);
  assert.equal(open.destroyed, false);
});
