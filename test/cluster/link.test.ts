// Links between nodes, over real sockets: what is posted at one end comes out at the other, and nobody without the key gets in.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Link, type LinkOptions } from '../../src/cluster/link.ts';
import { connectToNode, createNodeServer, linkKeyOf } from '../../src/cluster/node-tls.ts';

const key = linkKeyOf(randomBytes(32).toString('base64'));

/** Longer than any test. */
const silentMsMax = 600_000;

interface Side {
  readonly link: Link;
  readonly told: unknown[];
  readonly ended: Promise<() => void>;
}

function sideOf(
  socket: ConstructorParameters<typeof Link>[0],
  side: 'dialed' | 'listened',
  onOpened?: LinkOptions['onOpened'],
  onWire?: LinkOptions['onWire'],
): Side {
  const told: unknown[] = [];
  const ended = Promise.withResolvers<() => void>();
  const link = new Link(socket, side, {
    ...(onOpened && { onOpened }),
    ...(onWire && { onWire }),
    onControl: (message) => told.push(message),
    silentMsMax,
    onEnded: ended.resolve,
  });
  return { link, told, ended: ended.promise };
}

/** A link of two sides; `opened` resolves with the other node's end of the first channel. */
async function linked(context: TestContext, onWire?: LinkOptions['onWire']) {
  const listened = Promise.withResolvers<Side>();
  const opened = Promise.withResolvers<readonly [greeting: unknown, port: MessagePort]>();
  const server = createNodeServer(key, (socket) =>
    listened.resolve(
      sideOf(socket, 'listened', (greeting, port) => opened.resolve([greeting, port]), onWire),
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dialed = sideOf(await connectToNode({ host: '127.0.0.1', port }, key), 'dialed');
  const other = await listened.promise;
  context.after(async () => {
    dialed.link.end();
    other.link.end();
    server.close();
    (await dialed.ended)();
  });
  return { dialed, listened: other, opened: opened.promise };
}

/** An open channel: both of its ends. */
async function channel(context: TestContext, onWire?: LinkOptions['onWire']) {
  const both = await linked(context, onWire);
  const { port1, port2 } = new MessageChannel();
  both.dialed.link.open({ shard: 3 }, port1);
  const [greeting, far] = await both.opened;
  assert.deepEqual(greeting, { shard: 3 });
  return { ...both, near: port2, far };
}

const next = async (port: MessagePort) => (await once(port, 'message'))[0];
/** Frames as edges and shards send them: the bytes that are used come first. */
function frames(bytes: number, room = bytes): ArrayBuffer {
  const buffer = new ArrayBuffer(room);
  new DataView(buffer).setUint32(0, bytes, true);
  new Uint8Array(buffer).fill(7, 4, bytes);
  return buffer;
}

test('messages and bytes come out in the order in which they were posted, both ways', async (context) => {
  const { near, far } = await channel(context);
  const got: unknown[] = [];
  const done = new Promise<void>((resolve) => {
    far.on('message', (message) => {
      got.push(message);
      if (got.length === 5) resolve();
    });
  });
  near.postMessage({ type: 'first', at: new Map([[1, Buffer.from('a')]]), none: undefined });
  near.postMessage(frames(8, 16_384));
  near.postMessage(frames(100_000));
  near.postMessage(frames(5_000_000, 6_000_000));
  near.postMessage({ type: 'last' });
  await done;
  assert.deepEqual(
    got.map((message) =>
      message instanceof ArrayBuffer ? message.byteLength : (message as { type: string }).type,
    ),
    ['first', 8, 100_000, 5_000_000, 'last'],
  );
  assert.deepEqual(Buffer.from(got[3] as ArrayBuffer), Buffer.from(frames(5_000_000)));
  assert.deepEqual([...(got[0] as { at: Map<number, Uint8Array> }).at.get(1)!], [97]);
  far.postMessage({ back: true });
  assert.deepEqual(await next(near), { back: true });
});

test('a port that a message carries leads to the other node', async (context) => {
  const { near, far } = await channel(context);
  const { port1, port2 } = new MessageChannel();
  near.postMessage({ type: 'connect', number: 2, port: port1 }, [port1]);
  const { port: carried, ...others } = await next(far);
  assert.deepEqual(others, { type: 'connect', number: 2 });
  port2.postMessage(frames(12));
  assert.equal((await next(carried)).byteLength, 12);
  carried.postMessage({ answer: 1 });
  assert.deepEqual(await next(port2), { answer: 1 });
  carried.close();
  await once(port2, 'close');
});

test('a message with the end of a wire is passed on when there is a port for it, and holds up no other', async (context) => {
  const asked: unknown[] = [];
  const gives: ((port: MessagePort) => void)[] = [];
  const { near, far } = await channel(context, (end, give) => {
    asked.push(end);
    gives.push(give);
  });
  const end = { wire: '7.1', offeredTo: 'q' };
  near.postMessage({ type: 'connect', number: 2, wire: end });
  near.postMessage({ type: 'later' });
  assert.deepEqual(await next(far), { type: 'later' });
  assert.deepEqual(asked, [end]);
  const { port1, port2 } = new MessageChannel();
  gives[0]!(port1);
  const { port: carried, ...others } = await next(far);
  assert.deepEqual(others, { type: 'connect', number: 2 });
  carried.postMessage({ answer: 1 });
  assert.deepEqual(await next(port2), { answer: 1 });
  carried.close();
});

test('a port that is closed at one node is closed at the other, after what was posted before', async (context) => {
  const { near, far, dialed } = await channel(context);
  const got: unknown[] = [];
  near.on('message', (message) => got.push(message));
  far.postMessage({ type: 'exit', code: 0 });
  far.close();
  await once(near, 'close');
  assert.deepEqual(got, [{ type: 'exit', code: 0 }]);
  assert.equal(dialed.link.isIdle, true);
});

test('when the link is lost, ports of the other node close, and those of this one when it says so', async (context) => {
  const { near, far, listened, dialed } = await channel(context);
  const { port1, port2 } = new MessageChannel();
  near.postMessage({ port: port1 }, [port1]);
  const { port: carried } = await next(far);
  let isNearClosed = false;
  near.on('close', () => {
    isNearClosed = true;
  });
  const carriedClosed = once(carried, 'close');
  const farClosed = once(far, 'close');
  listened.link.end();
  await Promise.all([carriedClosed, farClosed]);
  const closeOpened = await dialed.ended;
  await once(port2, 'close');
  assert.equal(isNearClosed, false);
  closeOpened();
  await once(near, 'close');
});

test('what was posted before the last port was closed comes out although the link ends then', async (context) => {
  const { far, near, dialed } = await channel(context);
  const got = next(far);
  near.postMessage(frames(3_000_000));
  near.close();
  while (!dialed.link.isIdle) await new Promise((resolve) => setImmediate(resolve));
  dialed.link.end();
  assert.equal((await got).byteLength, 3_000_000);
});

test('nodes tell each other something without a channel', async (context) => {
  const { dialed, listened } = await linked(context);
  listened.link.tell({ type: 'beat', sent: { monotonicMs: 1.5, wallMs: 2 } });
  while (dialed.told.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(dialed.told, [{ type: 'beat', sent: { monotonicMs: 1.5, wallMs: 2 } }]);
});

test('who does not have the key gets no further than the handshake', async (context) => {
  let taken = 0;
  const server = createNodeServer(key, () => taken++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  await assert.rejects(connectToNode(address, linkKeyOf(randomBytes(32).toString('base64'))));
  // TLS without a key, another name, and bytes that are no TLS.
  await assert.rejects(once(connectTls({ ...address, rejectUnauthorized: false }), 'secureConnect'));
  const named = connectTls({
    ...address,
    ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
    maxVersion: 'TLSv1.2',
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk: key, identity: 'somebody else' }),
  });
  await assert.rejects(once(named, 'secureConnect'));
  const plain = connectPlain(address);
  plain.on('error', () => {});
  plain.write('GET / HTTP/1.1\r\n\r\n');
  plain.resume();
  await once(plain, 'close');
  assert.equal(taken, 0);
});

test('a node that does not answer is given up', async (context) => {
  const { createServer } = await import('node:net');
  const silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  context.after(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  await assert.rejects(connectToNode({ host: '127.0.0.1', port }, key), /does not answer/);
});
