// The thread over which the node that has the lease has others run partitions: whom it connects to, and whom it gives up.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { Link } from '../../src/cluster/link.ts';
import type { ReachableNode } from '../../src/cluster/node.ts';
import { createNodeServer, proofByKey } from '../../src/cluster/node-tls.ts';
import { OwnershipBoard } from '../../src/journal/ownership.ts';
import { trustClocks } from '../../src/telemetry/system-clocks.ts';
import type { FromHost, FromLender, LendingThreadData } from '../../src/threads/lending-protocol.ts';
import { Thread } from '../../src/threads/thread.ts';
import type { News } from '../../src/threads/thread-protocol.ts';
import { freePort } from '../free-port.ts';
import { poll } from '../poll.ts';
import { linkConfig } from './link-config.ts';

const entry = new URL('../../src/threads/lending-thread.ts', import.meta.url);
const key = randomBytes(32);

/** The thread of node `a`, which has the lease, and node `b`, which hears what it is told. */
async function bench(context: TestContext) {
  const port = await freePort();
  const data: LendingThreadData = {
    config: linkConfig('a', await freePort()),
    identity: { node: 'a', process: 'pa', release: '1.0.0' },
    key,
    epoch: 7,
    ownership: OwnershipBoard.memory(2),
  };
  const news: News[] = [];
  const thread = Thread.worker({ name: 'lending', entry }).begin(data, (each) => news.push(each));
  context.after(() => thread.stop());
  await thread.ready;
  const told: FromLender[] = [];
  const links: Link[] = [];
  const server = createNodeServer(proofByKey(key), (socket) => {
    const link = new Link(socket, 'listened', {
      onControl(message) {
        const heard = message as FromLender;
        told.push(heard);
        if (heard.type === 'lead') link.tell({ type: 'ready', edges: 1 } satisfies FromHost);
      },
      silentMsMax: 600_000,
      onEnded: (closeOpened) => closeOpened(),
    });
    // A node that says nothing is given up, too.
    const beat = () => link.tell({ type: 'beat', sent: board.now() } satisfies FromHost);
    const beating = setInterval(beat, 100);
    socket.once('close', () => clearInterval(beating));
    links.push(link);
  }).listen(port, '127.0.0.1');
  const board = new OwnershipBoard(data.ownership, trustClocks);
  context.after(() => {
    for (const link of links) link.end();
    server.close();
  });
  const b: ReachableNode = {
    node: 'b',
    process: 'pb',
    link: `127.0.0.1:${port}`,
    linksBy: 'secrets key',
    drained: false,
    leaving: false,
    wanted: [],
    damaged: [],
    behind: 0,
  };
  const lead = (...nodes: readonly ReachableNode[]) => thread.ask('lead', { nodes });
  const typesOf = () => news.map(({ type }) => type);
  const heard = (...types: readonly string[]) =>
    poll(
      () => typesOf().join() === types.join() || undefined,
      () => typesOf().join(),
    );
  return { thread, b, lead, told, links, news, typesOf, heard };
}

test('a node is connected to and led, and granted the trust that this one has itself', async (context) => {
  const { b, lead, told, heard } = await bench(context);
  await lead({ ...b, drained: true });
  await lead(b);
  await heard('linked');
  assert.deepEqual(told[0], { type: 'lead', epoch: 7, node: 'a', release: '1.0.0' });
  await poll(() => told.find(({ type }) => type === 'trusted'));
  // It is told of the others that run something, itself among them.
  const { process, node, link } = b;
  assert.deepEqual(
    told.find(({ type }) => type === 'hosts'),
    { type: 'hosts', hosts: [{ process, node, link }] },
  );
  await lead(b);
  await heard('linked');
});

test('a node that PostgreSQL has not heard of five times in a row is given up', async (context) => {
  const { thread, b, lead, links, typesOf, heard } = await bench(context);
  await lead(b);
  await heard('linked');
  // It is lent a partition, which is lost with the link.
  const { port1, port2 } = new MessageChannel();
  const closed = new Promise((resolve) => port2.once('close', resolve));
  thread.connect({ type: 'lend', process: 'pb', lent: { kind: 'shard', shard: {} as never } }, port1);
  for (let times = 0; times < 4; times++) await lead();
  // It was only slow.
  await lead(b);
  for (let times = 0; times < 4; times++) await lead();
  assert.deepEqual([typesOf(), links.length], [['linked'], 1]);
  await lead();
  await heard('linked', 'unlinked');
  await closed;
  // It is there again.
  await lead(b);
  await heard('linked', 'unlinked', 'linked');
});

test('a link is given up by its number, so that what is late does not end the next one', async (context) => {
  const { thread, b, lead, heard, news } = await bench(context);
  const newest = () => news.findLast((each) => each.type === 'linked')!.linkNumber;
  await lead(b);
  await heard('linked');
  const first = newest();
  await thread.ask('unlink', { process: 'pb', linkNumber: first });
  await heard('linked', 'unlinked');
  await lead(b);
  await heard('linked', 'unlinked', 'linked');
  assert.notEqual(newest(), first);
  await thread.ask('unlink', { process: 'pb', linkNumber: first });
  await thread.ask('unlink', { process: 'nobody', linkNumber: newest() });
  await lead(b);
  await heard('linked', 'unlinked', 'linked');
  await thread.ask('unlink', { process: 'pb', linkNumber: newest() });
  await heard('linked', 'unlinked', 'linked', 'unlinked');
});

test('a node that ends the connection at once is left alone for a while, like one that links by something else', async (context) => {
  const { lead, b, heard } = await bench(context);
  let connections = 0;
  const server = createNodeServer(proofByKey(key), (socket) => {
    connections++;
    socket.on('error', () => {}).destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const closing = { ...b, process: 'pc', link: `127.0.0.1:${(server.address() as AddressInfo).port}` };
  const other = { ...b, process: 'pd', linksBy: 'certificate' } as const;
  const fromMs = performance.now();
  for (let times = 0; times < 100; times++) await lead(closing, other);
  await lead(b);
  await heard('linked');
  assert(connections <= 1 + (performance.now() - fromMs) / 2_000, `${connections} connections`);
});
