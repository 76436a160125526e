// The relay between real sockets.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, Server, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { queryObjects } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { Relay, type RelayOptions } from '../../src/cluster/relay.ts';
import { freePort } from '../free-port.ts';
import { poll } from '../poll.ts';
import { waitingClients } from '../waiting-clients.ts';

const refusal = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

async function relayOn(context: TestContext, more: Partial<RelayOptions> = {}) {
  const port = await freePort();
  const relay = new Relay({
    host: '127.0.0.1',
    port,
    connectionsMax: 100,
    perAddressMax: 100,
    networksOf: () => [],
    refusal: () => refusal,
    connectMs: 500,
    slowClientMs: 60_000,
    answerMs: 0,
    ...more,
  });
  await relay.listen();
  context.after(() => relay.close());
  return { relay, port };
}

async function listening(context: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}

/** All that comes until the connection ends. */
async function all(socket: Socket): Promise<string> {
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    text += bytes;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

test('requests and answers pass as they are, also large ones', async (context) => {
  const { relay, port } = await relayOn(context);
  const server = createHttpServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    response.end(Buffer.concat(parts));
  });
  relay.passTo(await listening(context, server));
  const body = Buffer.alloc(3_000_000, 'a payment ');
  for (let n = 0; n < 3; n++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
    assert.equal(answer.status, 200);
    assert(Buffer.from(await answer.arrayBuffer()).equals(body));
  }
});

test('without a node that serves, clients are told to come back', async (context) => {
  const { relay, port } = await relayOn(context);
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/v1/payment_intents`)).status;
  assert.equal(await ask(), 503);
  relay.passTo(`127.0.0.1:${await freePort()}`);
  assert.equal(await ask(), 503);
});

/** The address of a node that takes no connection, whose system answers nobody any more. */
async function hangingNode(context: TestContext): Promise<string> {
  const source = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(source, { eval: true });
  const [port] = await once(worker, 'message');
  // More than its system takes for it.
  const waiting = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  context.after(async () => {
    for (const socket of waiting) socket.destroy();
    await worker.terminate();
  });
  await once(waiting[0]!, 'connect');
  return `127.0.0.1:${port}`;
}

test('a node that does not answer is given up, and its clients are told to come back', async (context) => {
  const { relay, port } = await relayOn(context, { connectMs: 50 });
  relay.passTo(await hangingNode(context));
  const startedAt = performance.now();
  assert.equal(await all(connect(port, '127.0.0.1')), refusal);
  assert(performance.now() - startedAt < 30_000, 'a system tries for two minutes');
});

test('of a node that serves soon nothing is passed on any more, whoever is named', async (context) => {
  const { relay, port } = await relayOn(context);
  const greeting = createServer((socket) => socket.end('hello'));
  const target = await listening(context, greeting);
  relay.passTo(target);
  assert.equal(await all(connect(port, '127.0.0.1')), 'hello');
  relay.passToNobody();
  relay.passTo(target);
  assert.equal(await all(connect(port, '127.0.0.1')), refusal);
});

test('where TLS is spoken, what nobody serves is closed', async (context) => {
  const { port } = await relayOn(context, { refusal: null });
  assert.equal(await all(connect(port, '127.0.0.1')), '');
});

test('connections to a node end when another one serves, and when the relay closes', async (context) => {
  const { relay, port } = await relayOn(context);
  const greeting = (name: string) =>
    createServer((socket) =>
      socket
        .on('error', () => {})
        .on('data', (data) => socket.write(data))
        .write(name),
    );
  const a = await listening(context, greeting('a'));
  relay.passTo(a);
  const first = connect(port, '127.0.0.1');
  const [hello] = await once(first, 'data');
  assert.equal(String(hello), 'a');
  relay.passTo(a);
  first.write('still there');
  assert.equal(String((await once(first, 'data'))[0]), 'still there');
  const ended = all(first);
  relay.passTo(await listening(context, greeting('b')));
  await ended;
  const second = connect(port, '127.0.0.1');
  assert.equal(String((await once(second, 'data'))[0]), 'b');
  const closed = all(second);
  relay.close();
  await closed;
});

test('whom it tells to come back is told so although another node serves meanwhile', async (context) => {
  let taken = 0;
  const networksOf = () => {
    taken++;
    return [];
  };
  const { relay, port } = await relayOn(context, { networksOf, connectMs: 60_000 });
  const refused = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const write = promisify(
    refused.write.bind(refused) as (text: string, done: (error?: Error) => void) => void,
  );
  assert.equal(String((await once(refused, 'data'))[0]), refusal);
  relay.passTo(await hangingNode(context));
  // A reset would come before the second one.
  await write('a request ');
  await write('that is long');
  refused.end();
  const waiting = all(connect(port, '127.0.0.1'));
  await poll(() => taken === 2 || undefined);
  relay.passTo(null);
  assert.equal(await waiting, refusal);
});

test('when it closes, what is under way is answered first', async (context) => {
  const { relay, port } = await relayOn(context, { answerMs: 60_000 });
  const asked = Promise.withResolvers<Socket>();
  const server = createServer((socket) => socket.once('data', () => asked.resolve(socket)));
  relay.passTo(await listening(context, server));
  const client = connect(port, '127.0.0.1');
  client.write('is it paid?');
  const answer = all(client);
  const serving = await asked.promise;
  const closed = relay.close();
  await poll(async () => !(await isOpen(port)) || undefined);
  serving.write('it is');
  await closed;
  assert.equal(await answer, 'it is');
});

/** One that was answered and asks nothing more. */
async function quietClient(port: number): Promise<Socket> {
  const client = connect(port, '127.0.0.1');
  client.write('hello');
  await once(client, 'data');
  return client.resume();
}

test('when it closes, each connection ends when it is quiet, whatever others wait for', async (context) => {
  const { relay, port } = await relayOn(context, { answerMs: 60_000 });
  const asked = Promise.withResolvers<Socket>();
  const server = createServer((socket) =>
    socket.on('data', (said) => (String(said) === 'hello' ? socket.write('hello') : asked.resolve(socket))),
  );
  relay.passTo(await listening(context, server));
  const quiet = await quietClient(port);
  const waiting = connect(port, '127.0.0.1');
  waiting.write('is it paid?');
  const answer = all(waiting);
  const serving = await asked.promise;
  const closed = relay.close();
  await once(quiet, 'close');
  serving.write('it is');
  await closed;
  assert.equal(await answer, 'it is');
});

test('when it closes, an answer that its client reads slowly comes whole', async (context) => {
  const { relay, port } = await relayOn(context, { answerMs: 60_000 });
  // More than the buffers of the system take.
  const answer = Buffer.alloc(30_000_000, 'a payment ');
  const server = createServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', (said) => socket.write(String(said) === 'hello' ? said : answer)),
  );
  relay.passTo(await listening(context, server));
  const slow = connect(port, '127.0.0.1').on('error', () => {});
  slow.write('which are paid?');
  await once(slow, 'readable');
  const quiet = await quietClient(port);
  const closed = relay.close();
  await once(quiet, 'close');
  let bytes = 0;
  for await (const part of slow) bytes += (part as Buffer).length;
  assert.equal(bytes, answer.length);
  await closed;
});

test('when it closes, one that has just come ends, too, when it is quiet', async (context) => {
  const closed = Promise.withResolvers<void>();
  const { relay, port } = await relayOn(context, {
    answerMs: 60_000,
    networksOf() {
      // The node that serves has not taken it yet.
      queueMicrotask(() => relay.close().then(closed.resolve));
      return [];
    },
  });
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  relay.passTo(await listening(context, echo));
  const client = connect(port, '127.0.0.1');
  client.write('one');
  const startedAt = performance.now();
  await all(client);
  await closed.promise;
  assert(performance.now() - startedAt < 30_000);
});

test('when it has closed, it waits for nothing more', async (context) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const { relay } = await relayOn(context);
  await relay.close();
  assert(timers() <= before);
});

test('when it closes, what gets no answer is given up', async (context) => {
  const { relay, port } = await relayOn(context, { answerMs: 50 });
  const silent = createServer((socket) => socket.resume());
  relay.passTo(await listening(context, silent));
  const client = connect(port, '127.0.0.1');
  client.write('is it paid?');
  const answer = all(client);
  await once(client, 'connect');
  await relay.close();
  assert.equal(await answer, '');
});

/** A relay to a server that says what it hears, with a client that was answered. */
async function passingOn(context: TestContext) {
  const { relay, port } = await relayOn(context);
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  relay.passTo(await listening(context, echo));
  const client = connect(port, '127.0.0.1');
  client.write('one');
  assert.equal(String((await once(client, 'data'))[0]), 'one');
  return { relay, port, client };
}

test('while it rests others take the connections, and those that it passes on already go on', async (context) => {
  const { relay, port, client: before } = await passingOn(context);
  await relay.rest();
  await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' });
  before.write('two');
  assert.equal(String((await once(before, 'data'))[0]), 'two');
  await relay.listen();
  const after = connect(port, '127.0.0.1');
  after.write('three');
  assert.equal(String((await once(after, 'data'))[0]), 'three');
  const closed = [all(before), all(after)];
  relay.close();
  await Promise.all(closed);
});

test('it refuses new connections for good, and those that it passes on already go on', async (context) => {
  const { relay, port, client: before } = await passingOn(context);
  await relay.refuseNew();
  await relay.listen();
  await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' });
  before.write('two');
  assert.equal(String((await once(before, 'data'))[0]), 'two');
  const closed = all(before);
  relay.close();
  await closed;
});

test('the time to connect bounds nothing of what is passed on', async (context) => {
  const { relay, port } = await relayOn(context, { connectMs: 20 });
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  relay.passTo(await listening(context, echo));
  const client = connect(port, '127.0.0.1');
  for (const word of ['one', 'two']) {
    client.write(word);
    assert.equal(String((await once(client, 'data'))[0]), word);
    client.setTimeout(60);
    await once(client, 'timeout');
  }
  client.destroy();
});

test('a client that is gone takes its connection to the node with it', async (context) => {
  const { relay, port } = await relayOn(context);
  const served: Socket[] = [];
  const server = createServer((socket) => {
    served.push(socket.on('error', () => {}));
    socket.write('x');
  });
  relay.passTo(await listening(context, server));
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    const client = connect(port, '127.0.0.1');
    await once(client, 'data');
    const ended = all(served.at(-1)!);
    client[leave]();
    await ended;
  }
});

test('it listens once however often it is told to, rests so, too, and listens no more once it is closed', async (context) => {
  const { relay, port } = await relayOn(context);
  await relay.listen();
  await Promise.all([relay.rest(), relay.rest()]);
  assert.equal(await isOpen(port), false);
  await relay.listen();
  assert.equal(await isOpen(port), true);
  await relay.close();
  await relay.listen();
  assert.equal(await isOpen(port), false);
});

test('an address that somebody else listens on is refused', async (context) => {
  const address = await listening(context, createServer());
  await assert.rejects(relayOn(context, { port: Number(address.split(':')[1]) }), { code: 'EADDRINUSE' });
});

test('a connection that the system fails to give costs that one alone', async (context) => {
  const listen = context.mock.method(Server.prototype, 'listen').mock;
  const { port } = await relayOn(context);
  for (let failures = 0; failures < 2; failures++)
    listen.calls.at(-1)!.result!.emit('error', new Error('ENOBUFS'));
  assert.equal(await all(connect(port, '127.0.0.1')), refusal);
});

test('two relays share an address where the system has that', async (context) => {
  const { port } = await relayOn(context);
  const other = relayOn(context, { port });
  if (process.platform === 'linux') await other;
  else await assert.rejects(other, { code: 'EADDRINUSE' });
});

test('nothing is kept of connections that have ended', async (context) => {
  const { relay, port } = await relayOn(context);
  relay.passTo(
    await listening(
      context,
      createServer((socket) => socket.end('hello')),
    ),
  );
  const pass = async (count: number) => {
    for (let passed = 0; passed < count; passed++)
      assert.equal(await all(connect(port, '127.0.0.1')), 'hello');
    return queryObjects(Socket, { format: 'count' });
  };
  const before = await pass(5);
  assert((await pass(50)) < before + 50);
});

test('it rests although it was told so while its name was looked up', async (context) => {
  const { relay, port } = await relayOn(context, { host: 'localhost' });
  await Promise.all([relay.rest(), relay.listen(), relay.rest()]);
  await assert.rejects(once(connect(port, 'localhost'), 'connect'), { code: 'ECONNREFUSED' });
});

test('a client that goes on sending after its refusal is let go', async (context) => {
  const { port } = await relayOn(context);
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const answer = all(client);
  const sending = setInterval(() => client.write('x'), 10);
  assert.equal(await answer, refusal);
  clearInterval(sending);
});

test('a client that takes nothing of its answer makes room for others, and one that waits goes on', async (context) => {
  const { relay, port } = await relayOn(context, { connectionsMax: 2, slowClientMs: 1_000 });
  const large = Buffer.alloc(20_000_000);
  const server = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.end(large)));
  relay.passTo(await listening(context, server));
  const [waiting, stuck] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  context.after(() => void stuck.destroy());
  stuck.on('error', () => {}).write('a request');
  await poll(async () => {
    const other = connect(port, '127.0.0.1').on('error', () => {});
    other.write('a request');
    const isTaken = await new Promise<true | undefined>((resolve) =>
      other.once('data', () => resolve(true)).once('close', () => resolve(undefined)),
    );
    other.destroy();
    return isTaken;
  });
  const answer = all(waiting);
  waiting.write('a request');
  assert.equal((await answer).length, large.length);
});

test('an answer that ends in its middle ends so at the client', async (context) => {
  const { relay, port } = await relayOn(context);
  const server = createServer((socket) => {
    socket.write('half an answer');
    socket.once('data', () => socket.resetAndDestroy());
  });
  relay.passTo(await listening(context, server));
  const client = connect(port, '127.0.0.1');
  const answer = all(client);
  await once(client, 'data');
  client.write('more');
  assert.equal(await answer, 'half an answer');
});

test('who has come before it rests is taken', async (context) => {
  const { relay, port } = await relayOn(context);
  const told = waitingClients(port, 8, 'a request');
  const rested = relay.rest();
  assert.deepEqual(new Set(await told), new Set([refusal]));
  await rested;
  await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' });
});

test('it rests soon when nobody waits to be taken', async (context) => {
  const { relay } = await relayOn(context);
  let [turns, isOver] = [0, false];
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  count();
  await relay.rest();
  isOver = true;
  assert.ok(turns < 50, `${turns} turns`);
});

test('a client whose node ends the connection without a word is told to come back', async (context) => {
  const { relay, port } = await relayOn(context, { connectMs: 60_000 });
  const ends: Record<string, (socket: Socket) => void> = {
    'reset when it is asked': (socket) => socket.once('data', () => socket.resetAndDestroy()),
    'ended when it is asked': (socket) => socket.once('data', () => socket.end()),
    'reset at once': (socket) => socket.resetAndDestroy(),
    'ended at once': (socket) => socket.end(),
  };
  for (const [name, end] of Object.entries(ends)) {
    const ended = Promise.withResolvers<void>();
    const server = createServer((socket) => end(socket.on('error', () => {}).once('close', ended.resolve)));
    relay.passTo(await listening(context, server));
    const client = connect(port, '127.0.0.1');
    const answer = all(client);
    if (name.endsWith('at once')) await ended.promise;
    client.write('a request');
    assert.equal(await answer, refusal, name);
  }
  // Who asks nothing is told nothing.
  assert.equal(await all(connect(port, '127.0.0.1')), '');
});

test('no more connections than are allowed are taken', async (context) => {
  const { relay, port } = await relayOn(context, { connectionsMax: 2 });
  const silent = createServer((socket) => socket.on('error', () => {}).write('x'));
  relay.passTo(await listening(context, silent));
  const open = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  for (const socket of open) await once(socket, 'data');
  assert.equal(await all(connect(port, '127.0.0.1')), '');
  for (const socket of open) socket.destroy();
});

test('a network has a share of the connections, and a site four times that', async (context) => {
  // What the address tells apart elsewhere, the order does here.
  const networks: string[] = [];
  const addresses = new Set<string>();
  const { relay, port } = await relayOn(context, {
    perAddressMax: 2,
    networksOf(address) {
      addresses.add(address);
      const network = networks.shift();
      return network === undefined || network === 'trusted' ? [] : [network, 'site'];
    },
  });
  const served: Socket[] = [];
  const greeting = createServer((socket) => {
    served.push(socket.on('error', () => {}));
    socket.write('x');
  });
  relay.passTo(await listening(context, greeting));
  const sockets: Socket[] = [];
  context.after(() => sockets.forEach((socket) => void socket.destroy()));
  const isTaken = (network: string) => {
    networks.push(network);
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    const [taken, closed] = [once(socket, 'data'), once(socket, 'close')];
    return Promise.race([taken.then(() => true), closed.then(() => false)]);
  };
  const takenOf = async (...come: string[]) => {
    const taken: string[] = [];
    for (const network of come) if (await isTaken(network)) taken.push(network);
    return taken.join(' ');
  };
  /** The first of those that were taken and are open is closed. */
  const leave = async () => {
    sockets.shift()!.destroy();
    await all(served.shift()!);
  };
  // One that has ended makes room for one, in its network and in its site.
  assert.equal(await takenOf('1'), '1');
  await leave();
  assert.equal(await takenOf('1', '1'), '1 1');
  await leave();
  assert.equal(await takenOf('1', '1'), '1');
  assert.equal(await takenOf('2', '2', '3', '3', '4', '4', '5'), '2 2 3 3 4 4');
  assert.equal(await takenOf('trusted', 'trusted', 'trusted'), 'trusted trusted trusted');
  await leave();
  assert.equal(await takenOf('5', '1', '6'), '5');
  assert.deepEqual([...addresses], ['127.0.0.1']);
});
