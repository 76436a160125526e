// A server whose handlers throw, at once or later: only their own exchanges end. And a server that is stopped while it is
// used.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { headerLines } from '../../src/edge/http/exchange.ts';
import { HeldBytes } from '../../src/edge/http/held-bytes.ts';
import { readBody } from '../../src/edge/http/request-body.ts';
import { listen, type Server } from '../../src/edge/http/server.ts';
import { poll } from '../poll.ts';
import { waitingClients } from '../waiting-clients.ts';
import { unlimited } from './unlimited.ts';

const bugs: string[] = [];
const failures: [entry: string, requestId: string | null][] = [];
const held = new HeldBytes(1024 * 1024 * 1024);
let server: Server;

const start = () =>
  listen({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    clock: Date.now,
    newRequestId: () => 'req_test',
    requestTimeoutMs: 500,
    httpsOnly: false,
    slowClientMs: 500,
    held,
    bodies: new HeldBytes(1 << 30),
    connections: unlimited,
    onFailed(error, entry, requestId) {
      bugs.push((error as Error).message);
      failures.push([entry, requestId]);
    },
    onApi: (exchange) => {
      const body = Buffer.from('ok');
      exchange.answer(200, '', body);
      // The buffer of a batch of answers is used again as soon as all of them were given.
      body.fill('x');
    },
    onSite: (exchange, { path }) => {
      if (path === '/throws') throw new Error('at once');
      if (path === '/refused') {
        exchange.isLast = true;
        return exchange.answer(400, '', 'refused');
      }
      if (path === '/streamed') {
        exchange.begin(200, '');
        exchange.guard(async () => {
          await exchange.write('piece');
          exchange.finish();
        });
        return;
      }
      if (path.startsWith('/tells')) {
        const onTrouble = () => {
          if (path === '/tells/not') throw new Error('again');
          exchange.answer(500, '', 'trouble');
        };
        exchange.trouble = { onTrouble };
        const onBody = () => {
          throw new Error('with the body');
        };
        exchange.handler = { onTimeout() {} };
        if (path === '/tells/body') return readBody(exchange, 100, onBody);
        exchange.guard(async () => {
          await wait(5);
          if (path === '/tells/streaming') exchange.begin(200, '');
          throw new Error('told');
        });
        return;
      }
      if (path === '/streams') {
        exchange.begin(200, '');
        exchange.guard(async () => {
          await exchange.write(exchange.isClosing ? 'it closes' : 'it goes on');
          exchange.finish();
        });
        return;
      }
      exchange.guard(async () => {
        await wait(5);
        if (path === '/rejects') throw new Error('later');
        const onTimeout = () => exchange.answer(303, headerLines(['Location', '/v1']), '');
        exchange.handler = { onTimeout };
      });
    },
  });

before(async () => {
  server = await start();
});

after(() => server.stop(0));

const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`, { redirect: 'manual' });

for (const { path, bug } of [
  { path: '/throws', bug: 'at once' },
  { path: '/rejects', bug: 'later' },
]) {
  test(`a handler of ${path} that fails ${bug} cuts its connection; the server goes on`, async () => {
    bugs.length = 0;
    await assert.rejects(get(path));
    assert.deepEqual(bugs, [bug]);
    assert.equal((await get('/v1')).status, 200);
    assert.equal(server.exchanges.open.size, 0);
  });
}

for (const init of [{}, { method: 'POST', body: 'x' }]) {
  const path = init.method === undefined ? '/tells' : '/tells/body';
  test(`${path}: who waits is told of a bug, and the failure carries the id of the request`, async () => {
    failures.length = 0;
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
    assert.deepEqual([answer.status, await answer.text()], [500, 'trouble']);
    assert.deepEqual(failures, [['connection', 'req_test']]);
    assert.equal((await get('/v1')).status, 200);
    assert.equal(server.exchanges.open.size, 0);
  });
}

test('a bug in the middle of an answer, or in telling of it, cuts the connection', async () => {
  bugs.length = 0;
  await assert.rejects(get('/tells/streaming').then((answer) => answer.text()));
  await assert.rejects(get('/tells/not'));
  assert.deepEqual(bugs, ['told', 'told', 'again']);
  assert.equal((await get('/v1')).status, 200);
  assert.equal(server.exchanges.open.size, 0);
});

for (const [path, body] of [
  ['/v1', 'ok'],
  ['/refused', 'refused'],
  ['/streamed', 'piece'],
] as const)
  test(`${path}: a HEAD is answered like a GET, without what comes behind the head`, async () => {
    const [asked, got] = await Promise.all(
      ['HEAD', 'GET'].map(async (method) => {
        const socket = connect(server.port);
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: pay\r\nConnection: close\r\n\r\n`);
        const text = (await buffer(socket)).toString('latin1');
        const end = text.indexOf('\r\n\r\n') + 4;
        return { status: text.split(' ')[1], behind: text.slice(end) };
      }),
    );
    assert.deepEqual(asked, { status: got!.status, behind: '' });
    assert.ok(got!.behind.includes(body));
  });

test('an exchange that takes too long gets the answer that its handler has for that', async () => {
  const answer = await get('/waits');
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/v1']);
});

test('before a stop it takes requests, also on new connections, and says that each answer was the last', async () => {
  const stopping = await start();
  const request = 'GET /v1 HTTP/1.1\r\nHost: pay\r\n\r\n';
  const before = connect(stopping.port, '127.0.0.1');
  before.write(request);
  assert.doesNotMatch(String((await once(before, 'data'))[0]), /connection: close/i);
  stopping.announceStop();
  for (const socket of [before, connect(stopping.port, '127.0.0.1')]) {
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    socket.write(request);
    await once(socket, 'end');
    assert.match(answer, /^HTTP\/1\.1 200 OK[\s\S]*connection: close[\s\S]*\r\nok\r\n0\r\n\r\n$/i);
  }
  const streamed = await fetch(`http://127.0.0.1:${stopping.port}/streams`);
  assert.equal(streamed.headers.get('connection'), 'close');
  assert.equal(await streamed.text(), 'it goes on');
  await stopping.stop(5_000);
});

test('a stop answers what was sent on connections before they could know of it, and says that it was the last', async () => {
  const stopping = await start();
  const request = 'GET /v1 HTTP/1.1\r\nHost: pay\r\n\r\n';
  const ask = async (socket: Socket) => {
    socket.write(request);
    const [chunk] = await once(socket, 'data');
    assert.match(String(chunk), /\r\nok/);
    return String(chunk);
  };
  const sockets = Array.from({ length: 8 }, () => connect(stopping.port, '127.0.0.1'));
  for (const answer of await Promise.all(sockets.map(ask))) assert.doesNotMatch(answer, /connection: close/i);
  const stopped = stopping.stop(5_000);
  for (const answer of await Promise.all(sockets.map(ask))) {
    assert.match(answer, /^HTTP\/1\.1 200 OK/);
    assert.match(answer, /connection: close/i);
  }
  await stopped;
});

test('a stop answers those who have come before it', async () => {
  const stopping = await start();
  const told = waitingClients(stopping.port, 8, 'GET /v1 HTTP/1.1\r\nHost: pay\r\n\r\n');
  const stopped = stopping.stop(5_000);
  for (const answer of await told) assert.match(answer, /^HTTP\/1\.1 200 OK[\s\S]*connection: close/i);
  await stopped;
});

test('a stop refuses those that still wait when its time is over, and the refusals go out', async () => {
  const stopping = await start();
  const { open } = stopping.exchanges;
  const waiting = fetch(`http://127.0.0.1:${stopping.port}/waits`);
  await poll(() => open.size === 1 || undefined);
  await stopping.stop(0, () => {
    for (const exchange of open) exchange.answer(503, '', 'away');
  });
  const answer = await waiting;
  assert.deepEqual([answer.status, await answer.text()], [503, 'away']);
});
