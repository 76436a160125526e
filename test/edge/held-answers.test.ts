// Answers that clients are slow to take: they come whole, those that take nothing are cut, what is held is bounded, and an
// organization's slow readers are in nobody's way but its own.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { HeldAnswers } from '../../src/edge/held-answers.ts';
import { listen, type Server } from '../../src/edge/server.ts';
import { unlimited } from './unlimited.ts';

const mib = 1024 * 1024;
const held = new HeldAnswers(64 * mib);
/** More than the buffers of a connection take. */
const large = Buffer.alloc(24 * mib, 'abcdefghi\n');
const pieceBytes = mib;
let server: Server;

before(async () => {
  server = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    clock: Date.now,
    newRequestId: () => 'req_test',
    requestTimeoutMs: 30_000,
    slowClientMs: 1_000,
    httpsOnly: false,
    held,
    connections: unlimited,
    onBug: (error) => assert.fail(error as Error),
    onSite: (exchange) => exchange.answer(200, [], 'ok'),
    onApi: (exchange, { path }) => {
      exchange.holder = 'org_1';
      if (path === '/v1/whole') exchange.answer(200, [], large);
      else {
        exchange.begin(200, []);
        exchange.guard(async () => {
          for (let at = 0; at < large.length && exchange.isOpen; at += pieceBytes)
            await exchange.write(large.toString('latin1', at, at + pieceBytes));
          exchange.finish();
        });
      }
    },
  });
});
after(() => server.stop(0));

function get(path: string): Socket {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
  return socket;
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!isTrue()) {
    assert.ok(performance.now() < deadline, `this came true in time: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

for (const path of ['/v1/whole', '/v1/pieces']) {
  test(`${path}: an answer that is taken bit by bit is whole, and held for as long`, async () => {
    const socket = get(path);
    await until(() => held.bytes > 0);
    let bytes = 0;
    let most = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      most = Math.max(most, held.bytes);
      socket.pause();
      setTimeout(() => socket.resume(), 1);
    });
    await until(() => bytes > large.length && held.bytes === 0);
    assert.ok(most <= large.length);
    socket.destroy();
    await until(() => server.exchanges.open.size === 0);
  });

  test(`${path}: a client that takes nothing is cut, and nothing is held for it any more`, async () => {
    const socket = get(path);
    await until(() => held.bytes > 0);
    await until(() => held.bytes === 0);
    assert.equal(server.exchanges.open.size, 0);
    socket.destroy();
  });

  test(`${path}: a client that goes away is held nothing for`, async () => {
    const socket = get(path);
    await until(() => held.bytes > 0);
    socket.destroy();
    await until(() => held.bytes === 0 && server.exchanges.open.size === 0);
  });
}

test('several requests on a connection: a large answer in between is whole', async () => {
  const address = `http://127.0.0.1:${server.port}`;
  for (let i = 0; i < 3; i++) {
    const answer = await fetch(`${address}/v1/whole`);
    assert.equal(answer.headers.get('content-length'), String(large.length));
    assert.ok(large.equals(Buffer.from(await answer.arrayBuffer())));
    assert.equal(await (await fetch(address)).text(), 'ok');
  }
});

test('room: all together, and a part of it for each holder, whose first answer is always taken', () => {
  const answers = new HeldAnswers(800);
  assert.ok(answers.hasRoom('a', 5_000));
  answers.add('a', 60);
  assert.deepEqual([answers.hasRoom('a', 40), answers.hasRoom('a', 41)], [true, false]);
  answers.add('a', -20);
  assert.equal(answers.hasRoom('a', 41), true);
  for (const holder of 'bcdefgh') answers.add(holder, 100);
  answers.add('i', 59);
  assert.deepEqual([answers.bytes, answers.hasRoom('j', 1), answers.hasRoom('a', 2)], [799, true, false]);
  answers.add('j', 1);
  assert.equal(answers.hasRoom('k', 1), false);
  for (const [holder, bytes] of [
    ['a', 40],
    ['i', 59],
    ['j', 1],
  ] as const)
    answers.add(holder, -bytes);
  for (const holder of 'bcdefgh') answers.add(holder, -100);
  assert.equal(answers.bytes, 0);
});
