// Links between nodes, over real sockets: what is posted at one end comes out at the other, and nobody without the key gets in.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect as connectPlain, createServer, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { serialize } from 'node:v8';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { knock } from '../../src/cluster/knock.ts';
import { Link, type LinkOptions } from '../../src/cluster/link.ts';
import { connectToNode, createNodeServer, linkKeyOf, proofByKey } from '../../src/cluster/node-tls.ts';
import { poll, until } from '../poll.ts';

const key = linkKeyOf(randomBytes(32).toString('base64'));
const proof = proofByKey(key);

/** Longer than any test. */
const silentMsMax = 600_000;

interface Side {
  readonly link: Link;
  readonly socket: Socket;
  readonly told: unknown[];
  /** What the other node has opened. */
  readonly opened: (readonly [greeting: unknown, port: MessagePort])[];
  readonly ended: Promise<() => void>;
  /** How often it was told that it has ended. */
  ends: number;
}

function sideOf(socket: Socket, side: 'dialed' | 'listened', onWire?: LinkOptions['onWire']): Side {
  const told: unknown[] = [];
  const opened: Side['opened'] = [];
  const ended = Promise.withResolvers<() => void>();
  const link = new Link(socket, side, {
    onOpened: (greeting, port) => opened.push([greeting, port]),
    ...(onWire && { onWire }),
    onControl: (message) => told.push(message),
    silentMsMax,
    onEnded(closeOpened) {
      made.ends++;
      ended.resolve(closeOpened);
    },
  });
  const made: Side = { link, socket, told, opened, ended: ended.promise, ends: 0 };
  return made;
}

/** A connection whose other side is given to `onSecure`. */
async function connected(context: TestContext, onSecure: (socket: Socket) => void): Promise<Socket> {
  const server = createNodeServer(proof, onSecure);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return connectToNode({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, 'b', proof);
}

/** Both sides of a link. */
async function linked(context: TestContext, onWire?: LinkOptions['onWire']) {
  const listening = Promise.withResolvers<Side>();
  const socket = await connected(context, (other) => listening.resolve(sideOf(other, 'listened', onWire)));
  const dialed = sideOf(socket, 'dialed');
  const listened = await listening.promise;
  context.after(async () => {
    dialed.link.end();
    listened.link.end();
    for (const { ended } of [dialed, listened]) (await ended)();
  });
  return { dialed, listened };
}

/** An open channel: both of its ends. */
async function channel(context: TestContext, onWire?: LinkOptions['onWire']) {
  const both = await linked(context, onWire);
  const { port1, port2 } = new MessageChannel();
  both.dialed.link.open({ shard: 3 }, port1);
  const [greeting, far] = await poll(() => both.listened.opened[0]);
  assert.deepEqual(greeting, { shard: 3 });
  return { ...both, near: port2, far };
}

const next = async (port: MessagePort) => (await once(port, 'message'))[0];

/** The next messages of a port. */
function nextOf(port: MessagePort, count: number): Promise<unknown[]> {
  const got: unknown[] = [];
  return new Promise((resolve) => {
    port.on('message', (message) => {
      got.push(message);
      if (got.length === count) resolve(got);
    });
  });
}

/** Frames as edges and shards send them: the bytes that are used come first. */
function frames(bytes: number, room = bytes): ArrayBuffer {
  const buffer = new ArrayBuffer(room);
  new DataView(buffer).setUint32(0, bytes, true);
  new Uint8Array(buffer).fill(7, 4, bytes);
  return buffer;
}

test('messages and bytes come out in the order in which they were posted, both ways', async (context) => {
  const { near, far } = await channel(context);
  const coming = nextOf(far, 5);
  near.postMessage({ type: 'first', at: new Map([[1, Buffer.from('a')]]), none: undefined });
  near.postMessage(frames(8, 16_384));
  near.postMessage(frames(100_000));
  near.postMessage(frames(5_000_000, 6_000_000));
  near.postMessage({ type: 'last' });
  const got = await coming;
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

/** As it is on the connection. */
function frame(channel: number, kind: number, ...payload: Uint8Array[]): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(9), ...payload]);
  bytes.writeUInt32LE(bytes.length - 4);
  bytes.writeUInt32LE(channel, 4);
  bytes[8] = kind;
  return bytes;
}

for (const [side, first] of [
  ['dialed', 1],
  ['listened', 2],
] as const)
  test(`nodes of other releases understand what is sent, ${side}`, async (context) => {
    const other = Promise.withResolvers<Socket>();
    const server = createServer(other.resolve).listen(0, '127.0.0.1');
    await once(server, 'listening');
    context.after(() => server.close());
    const socket = connectPlain((server.address() as AddressInfo).port, '127.0.0.1');
    const setNoDelay = context.mock.method(socket, 'setNoDelay');
    const { link } = sideOf(socket, side);
    assert.deepEqual(setNoDelay.mock.calls[0]?.arguments, [true], 'nothing waits for what is sent next');
    const [own, carried] = [new MessageChannel(), new MessageChannel()];
    link.open({ shard: 3 }, own.port1);
    own.port2.postMessage(frames(8, 16));
    own.port2.postMessage('a text');
    own.port2.postMessage({ number: 2, port: carried.port1 }, [carried.port1]);
    own.port2.close();
    await once(own.port1, 'close');
    link.tell('a beat');
    link.end();
    const expected = [
      frame(first, 0, serialize({ shard: 3 })),
      frame(first, 1, new Uint8Array(frames(8))),
      frame(first, 2, serialize('a text')),
      frame(first, 3, Buffer.of(first + 2, 0, 0, 0), serialize({ number: 2 })),
      frame(first, 4),
      frame(0, 5, serialize('a beat')),
    ];
    const sent: Buffer[] = [];
    for await (const chunk of await other.promise) sent.push(chunk);
    assert.deepEqual(Buffer.concat(sent).toString('hex'), Buffer.concat(expected).toString('hex'));
  });

test('what comes in pieces is put together, wherever it was cut', () => {
  const socket = new Socket();
  const { link, told } = sideOf(socket, 'dialed');
  const bytes = Buffer.concat(['one', 'two'].map((text) => frame(0, 5, serialize(text))));
  for (const byte of bytes) socket.emit('data', Buffer.of(byte));
  for (let at = 1; at < bytes.length; at++)
    for (const piece of [bytes.subarray(0, at), bytes.subarray(at)]) socket.emit('data', piece);
  link.end();
  assert.deepEqual(told, Array(bytes.length).fill(['one', 'two']).flat());
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

test('whatever a thread may post comes out as it is', async (context) => {
  const { near, far } = await channel(context);
  const posted = [
    null,
    undefined,
    0,
    'a text',
    ['port'],
    { port: 8080 },
    { port: null },
    new Uint8Array([1]),
  ];
  const got = nextOf(far, posted.length);
  for (const message of posted) near.postMessage(message);
  assert.deepEqual(await got, posted);
});

test('both nodes open channels over one link, and each thread hears what is meant for it', async (context) => {
  const { dialed, listened } = await linked(context);
  const opened: [name: string, near: MessagePort, far: MessagePort][] = [];
  for (const number of [0, 1, 2])
    for (const [name, from, to] of [
      [`dialed ${number}`, dialed, listened],
      [`listened ${number}`, listened, dialed],
    ] as const) {
      const { port1, port2 } = new MessageChannel();
      from.link.open(name, port1);
      const [greeting, far] = await poll(() => to.opened[number]);
      assert.equal(greeting, name);
      opened.push([name, port2, far]);
    }
  for (const [name, near, far] of opened) {
    near.postMessage(`to ${name}`);
    assert.equal(await next(far), `to ${name}`);
    far.postMessage(`from ${name}`);
    assert.equal(await next(near), `from ${name}`);
  }
});

test('a port that is sent to a channel which was closed meanwhile is closed', async (context) => {
  const { near, far, dialed, listened } = await channel(context);
  // Word that the channel is closed does not get through yet.
  dialed.socket.pause();
  far.close();
  await poll(() => (listened.link.isIdle ? true : undefined));
  const { port1, port2 } = new MessageChannel();
  const [came, closed] = [once(listened.socket, 'data'), once(port2, 'close')];
  near.postMessage({ port: port1 }, [port1]);
  await came;
  dialed.socket.resume();
  await closed;
  assert.equal(listened.link.isIdle, true);
});

test('what is said to a channel that was closed meanwhile is heard by nobody, and the link goes on', async (context) => {
  const { near, far, dialed, listened } = await channel(context);
  dialed.socket.pause();
  far.close();
  await poll(() => (listened.link.isIdle ? true : undefined));
  near.postMessage(frames(64));
  near.postMessage('late');
  near.close();
  await poll(() => (dialed.link.isIdle ? true : undefined));
  dialed.socket.resume();
  const { port1 } = new MessageChannel();
  dialed.link.open({ shard: 4 }, port1);
  const [greeting] = await poll(() => listened.opened[1]);
  assert.deepEqual(greeting, { shard: 4 });
  assert.equal(listened.ends, 0);
});

test('what says that it is longer than anything that nodes say ends the link', async (context) => {
  for (const [bytes, isFault] of [
    [256 * 1024 * 1024, false],
    [256 * 1024 * 1024 + 1, true],
  ] as const) {
    const listening = Promise.withResolvers<Side>();
    const socket = await connected(context, (other) => listening.resolve(sideOf(other, 'listened')));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes);
    socket.write(length);
    const { link, ended, socket: other } = await listening.promise;
    await once(other, 'data');
    const isEnded = await Promise.race([
      ended.then(() => true),
      new Promise((resolve) => setImmediate(resolve, false)),
    ]);
    assert.equal(isEnded, isFault);
    link.end();
    socket.destroy();
  }
});

test('what can not be read ends the link, and nothing else', async (context) => {
  const frame = (kind: number, payload: Uint8Array, channel = 1) => {
    const head = Buffer.alloc(9);
    head.writeUInt32LE(5 + payload.length);
    head.writeUInt32LE(channel, 4);
    head[8] = kind;
    return Buffer.concat([head, payload]);
  };
  const junk = Buffer.from('junk');
  const opened = frame(0, serialize('a channel'));
  const rows: Record<string, Buffer> = {
    'no kind': Buffer.of(4, 0, 0, 0, 1, 0, 0, 0),
    'a message of nodes': frame(5, junk, 0),
    'a greeting': frame(0, junk),
    'a message': Buffer.concat([opened, frame(2, junk)]),
    'a port without its number': Buffer.concat([opened, frame(3, Buffer.of(3, 0))]),
    'a message with a port': Buffer.concat([opened, frame(3, Buffer.concat([Buffer.of(3, 0, 0, 0), junk]))]),
    'a port for a channel that is closed': frame(3, Buffer.of(3, 0)),
  };
  for (const [what, bytes] of Object.entries(rows)) {
    const listening = Promise.withResolvers<Side>();
    const socket = await connected(context, (other) => listening.resolve(sideOf(other, 'listened')));
    socket.write(bytes);
    const { ended, told } = await listening.promise;
    (await ended)();
    assert.deepEqual(told, [], what);
    socket.destroy();
  }
});

test('a link that is ended ends its connection at once, when nothing is left to be sent', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { dialed, listened } = await linked(context);
  dialed.link.end();
  await listened.ended;
});

test('a link over which nothing comes is ended, and what nobody takes then is let go after a second', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { dialed, listened } = await linked(context);
  listened.socket.pause();
  const { port1 } = new MessageChannel();
  dialed.link.open(Buffer.alloc(30_000_000), port1);
  context.mock.timers.tick(silentMsMax - 1);
  assert.deepEqual([dialed.ends, listened.ends], [0, 0]);
  context.mock.timers.tick(1);
  assert.deepEqual([dialed.ends, listened.ends], [1, 1]);
  context.mock.timers.tick(999);
  assert.equal(dialed.socket.destroyed, false);
  context.mock.timers.tick(1);
  assert.equal(dialed.socket.destroyed, true);
});

test('a link over which something comes goes on', async (context) => {
  const timers = context.mock.method(globalThis, 'setTimeout').mock;
  const { dialed, listened } = await linked(context);
  const begunAnew = timers.calls.flatMap(({ arguments: [, ms], result }) =>
    result !== undefined && ms === silentMsMax ? [context.mock.method(result, 'refresh').mock] : [],
  );
  const counts = () => begunAnew.map((refresh) => refresh.callCount()).sort();
  for (const count of [1, 2]) {
    dialed.link.tell('a beat');
    while (listened.told.length < count) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(counts(), [0, count]);
  }
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

test('a message with the end of a wire is dropped where no wires end, and the link goes on', async (context) => {
  const { near, far } = await channel(context);
  near.postMessage({ wire: { wire: '7.1', offeredTo: 'q' } });
  near.postMessage('later');
  assert.equal(await next(far), 'later');
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
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([isNearClosed, dialed.link.isIdle], [false, true]);
  closeOpened();
  await once(near, 'close');
  assert.deepEqual([dialed.ends, listened.ends], [1, 1]);
});

test('a channel that is opened once the link has ended is closed', async (context) => {
  const { dialed } = await linked(context);
  dialed.link.end();
  const { port1, port2 } = new MessageChannel();
  const closed = once(port2, 'close');
  dialed.link.open('too late', port1);
  await closed;
  assert.equal(dialed.link.isIdle, true);
});

test('what comes once the link has ended is not heard', async (context) => {
  const { dialed } = await linked(context);
  const message = frame(0, 5, serialize('a message'));
  dialed.socket.emit('data', message);
  dialed.link.end();
  dialed.socket.emit('data', message);
  assert.deepEqual(dialed.told, ['a message']);
});

test('what was posted before the last port was closed comes out although the link ends then', async (context) => {
  // However long it takes to go out.
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { far, near, dialed, listened } = await channel(context);
  const got = next(far);
  listened.socket.pause();
  near.postMessage(frames(30_000_000));
  near.close();
  await until(() => dialed.link.isIdle);
  dialed.link.end();
  dialed.link.tell('too late');
  listened.socket.resume();
  assert.equal((await got).byteLength, 30_000_000);
});

test('nodes tell each other something without a channel', async (context) => {
  const { dialed, listened } = await linked(context);
  listened.link.tell({ type: 'beat', sent: { monotonicMs: 1.5, wallMs: 2 } });
  while (dialed.told.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(dialed.told, [{ type: 'beat', sent: { monotonicMs: 1.5, wallMs: 2 } }]);
});

test('nodes of other releases have the same key', () => {
  assert.equal(
    linkKeyOf(Buffer.alloc(32, 7).toString('base64')).toString('hex'),
    '4aa538e96536076e692d368ad3cbb3acd55bca449ddfc99e4202bc77df43d6db',
  );
});

test('who does not have the key gets no further than the handshake', async (context) => {
  let taken = 0;
  const server = createNodeServer(proof, () => taken++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  await assert.rejects(connectToNode(address, 'b', proofByKey(randomBytes(32))));
  // TLS at once, without a key, with another name, and bytes that are no TLS.
  const knocked = async () => {
    const socket = connectPlain(address).on('error', () => {});
    await knock(socket, key);
    return socket;
  };
  for (const way of [address, { socket: await knocked() }])
    await assert.rejects(once(connectTls({ ...way, rejectUnauthorized: false }), 'secureConnect'));
  const named = connectTls({
    socket: await knocked(),
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

test('who says nothing is given up, and a connection between two that have the key stays', async (context) => {
  const silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  context.after(() => silent.close());
  const socket = await connected(context, (other) => other.on('error', () => {}));
  const startedAt = performance.now();
  const stranger = connectPlain({ host: '127.0.0.1', port: socket.remotePort! }).resume();
  const { port } = silent.address() as AddressInfo;
  await Promise.all([
    assert.rejects(connectToNode({ host: '127.0.0.1', port }, 'b', proof), /does not answer/),
    once(stranger, 'close'),
  ]);
  assert(performance.now() - startedAt < 5_500, 'after three seconds');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(socket.destroyed, false);
  socket.destroy();
});

test('strangers who say nothing keep no node out: who has waited longest gives way', async (context) => {
  const server = createNodeServer(proof, () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  const strangers: Socket[] = [];
  const come = async () => {
    const stranger = connectPlain(address).resume();
    strangers.push(stranger);
    // It is asked whether it has the key.
    await once(stranger, 'data');
    return stranger;
  };
  context.after(() => {
    for (const stranger of strangers) stranger.destroy();
    server.close();
  });
  const oldest = await come();
  for (let others = 1; others < 64; others++) await come();
  const gone = once(oldest, 'close');
  const node = await connectToNode(address, 'b', proof);
  await gone;
  // It is not among those any more.
  const next = once(strangers[1]!, 'close');
  await come();
  await come();
  await next;
  assert.equal(node.destroyed, false);
  node.destroy();
});

test('a node takes connections from 64 others, and closes what comes beyond that', async (context) => {
  const server = createNodeServer(proof, (socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  const node = () => connectToNode(address, 'b', proof);
  const nodes: Socket[] = [];
  context.after(() => nodes.map((each) => each.destroy()));
  while (nodes.length < 64) nodes.push(await node());
  await assert.rejects(node());
  nodes[0]!.destroy();
  const isLetIn = () =>
    node().then(
      (socket) => socket.destroy(),
      () => undefined,
    );
  await poll(isLetIn);
  assert.equal(
    nodes.slice(1).some(({ destroyed }) => destroyed),
    false,
  );
});
