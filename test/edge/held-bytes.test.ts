// Slow clients: they get their answers whole, those that take nothing are cut off, the bytes that are held for them, of answers
// and of bodies, are bounded, and the slow clients of one organization, or of none, slow down nobody else.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Refusal } from '../../src/contract/errors/table.ts';
import { HeldBytes } from '../../src/edge/http/held-bytes.ts';
import { readBody } from '../../src/edge/http/request-body.ts';
import { listen, type Server } from '../../src/edge/http/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { selfSigned } from '../webhooks/certificates.ts';
import { unlimited } from './unlimited.ts';

const mib = 1024 * 1024;
/** More than the time between two looks of the server for what takes too long. */
const sweepMs = 600;
const held = new HeldBytes(64 * mib);
const share = 4_096;
const bodies = new HeldBytes(8 * share);
/** More than the kernel's buffers on both sides take, which grow to some 36 MiB. */
const large = Buffer.alloc(48 * mib, 'abcdefghi\n');
const pieceBytes = mib;
/** What is written at once. */
const page = Buffer.alloc(16_000, 'x');
/** Headers that are as much, with an answer that has nothing else. */
const headOnly = `\r\nX-Test: ${page}`;
/** More than any answer to a POST, and than the kernel takes at once. */
const posted = large.subarray(0, 8 * mib);
const answers: Readonly<Record<string, Buffer>> = { '/large': large, '/page': page, '/posted': posted };
const folder = temporaryFolder();
const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
const { cert, key } = selfSigned({ hosts: ['127.0.0.1'] });
writeFileSync(files.certFile, cert);
writeFileSync(files.keyFile, key);

for (const isTls of [false, true]) {
  describe(isTls ? 'over TLS' : 'over TCP', () => {
    let server: Server;
    let slowClientMs = 30_000;
    let answered = 0;
    /** Of streamed answers, those that were written. */
    let pieces = 0;
    /** Who writes one, and goes on when its client has gone: it may hold a share until then. */
    let writers = 0;

    const start = () =>
      listen({
        host: '127.0.0.1',
        port: 0,
        tls: isTls ? files : null,
        clock: Date.now,
        newRequestId: () => 'req_test',
        requestTimeoutMs: 30_000,
        get slowClientMs() {
          return slowClientMs;
        },
        httpsOnly: false,
        held,
        bodies,
        connections: unlimited,
        onFailed: (error) => assert.fail(error as Error),
        onSite: (exchange, { path }) => {
          answered++;
          if (path === '/head-only') exchange.answer(303, headOnly, '');
          else exchange.answer(200, '', answers[path] ?? 'ok');
        },
        onApi: (exchange, { path }) => {
          exchange.holder = 'org_1';
          if (path.startsWith('/v1/body/')) {
            exchange.holder = path;
            const answer = (body: Buffer | Refusal) =>
              exchange.answer(200, '', 'code' in body ? body.code : `${body.length}`);
            return readBody(exchange, 100_000, answer);
          }
          if (path === '/v1/whole') exchange.answer(200, '', large);
          else {
            exchange.begin(200, '');
            writers++;
            exchange.guard(async () => {
              for (let at = 0; at < large.length && exchange.isOpen; at += pieceBytes, pieces++)
                await exchange.write(large.toString('latin1', at, at + pieceBytes));
              exchange.finish();
              writers--;
            });
          }
        },
      });
    before(async () => {
      server = await start();
    });
    after(() => server.stop(0));

    function send(text: string, { port } = server): Socket {
      const socket = isTls ? connectTls({ port, rejectUnauthorized: false }) : connect(port);
      socket.on('error', () => {});
      socket.write(text);
      return socket;
    }

    const get = (path: string) => send(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);

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
          if (Math.floor(bytes / pieceBytes) === Math.floor((bytes - chunk.length) / pieceBytes)) return;
          socket.pause();
          setTimeout(() => socket.resume(), 1);
        });
        await until(() => bytes > large.length && held.bytes === 0);
        assert.ok(most <= large.length);
        socket.destroy();
        await until(() => server.exchanges.open.size === 0);
      });

      test(`${path}: a client that takes a part now and then is not cut, however long that takes`, async (context) => {
        const realNow = performance.now.bind(performance);
        let passedMs = 0;
        context.mock.method(performance, 'now', () => realNow() + passedMs);
        const socket = get(path);
        await until(() => held.bytes > 0);
        let bytes = 0;
        socket.on('data', (chunk) => {
          bytes += chunk.length;
        });
        // The kernel has more than a part of it.
        for (let round = 0; round < 2; round++) {
          passedMs += slowClientMs * 0.6;
          const before = [held.bytes, pieces];
          socket.resume();
          await until(() => held.bytes < before[0]! || pieces > before[1]!);
          socket.pause();
        }
        await new Promise((resolve) => setTimeout(resolve, sweepMs));
        socket.resume();
        await until(() => bytes > large.length && held.bytes === 0);
        socket.destroy();
        await until(() => server.exchanges.open.size === 0);
      });

      test(`${path}: a client that takes nothing is cut, and nothing is held for it any more`, async () => {
        const socket = get(path);
        await until(() => held.bytes > 0);
        slowClientMs = 100;
        await until(() => held.bytes === 0);
        slowClientMs = 30_000;
        assert.equal(server.exchanges.open.size, 0);
        await until(() => writers === 0);
        socket.destroy();
      });

      test(`${path}: a client that goes away is held nothing for`, async () => {
        const socket = get(path);
        await until(() => held.bytes > 0);
        socket.destroy();
        await until(() => held.bytes === 0 && server.exchanges.open.size === 0);
        await until(() => writers === 0);
      });
    }

    for (const path of ['/page', '/head-only']) {
      test(`${path}: a client that takes no answers and goes on asking is held one for, and cut at the next request`, async () => {
        const again = `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`;
        const socket = get(path);
        socket.pause();
        const before = answered;
        for (let asked = 1; held.bytes === 0; asked++) {
          while (answered - before < asked || (server.exchanges.open.size > 0 && held.bytes === 0))
            await turn();
          if (held.bytes === 0) socket.write(again);
          assert.ok(asked < 5_000, 'an answer is held');
        }
        assert.ok(held.bytes <= page.length);
        const last = answered;
        socket.write(again);
        await until(() => held.bytes === 0 && server.exchanges.open.size === 0);
        assert.equal(answered, last);
        socket.destroy();
      });
    }

    test('strangers have one share: the next of them is cut, and organizations have theirs', async () => {
      const [first, organization] = [get('/large'), get('/v1/whole')];
      await until(() => held.bytes > large.length);
      const bytes = held.bytes;
      assert.ok((await buffer(get('/large'))).length < large.length);
      assert.equal(held.bytes, bytes);
      first.destroy();
      organization.destroy();
      await until(() => held.bytes === 0);
    });

    test('a large answer to a request whose end is not certain is whole, and the last one', async () => {
      const { request } = isTls ? https : http;
      const options = { port: server.port, path: '/posted', method: 'POST', rejectUnauthorized: false };
      const asked = request(options);
      asked.write('a');
      const [answer] = (await once(asked.end('b'), 'response')) as [http.IncomingMessage];
      assert.equal(answer.headers.connection, 'close');
      assert.ok(posted.equals(await buffer(answer)));
      await until(() => held.bytes === 0 && server.exchanges.open.size === 0);
    });

    test('before a stop a large answer is held for a slow client, too, and a stop waits until it is whole', async () => {
      const stopping = await start();
      stopping.announceStop();
      const socket = send('GET /posted HTTP/1.1\r\nHost: test\r\n\r\n', stopping);
      await until(() => held.bytes > 0);
      const stopped = stopping.stop(30_000);
      const answer = (await buffer(socket)).toString('latin1');
      assert.match(answer, /^HTTP.1.1 200 OK\r\n.*Connection: close\r\n/s);
      assert.ok(answer.includes(posted.toString('latin1')));
      await stopped;
      assert.equal(held.bytes, 0);
    });

    test('bodies that are not whole yet have a share of the room for each organization', async () => {
      const post = (org: string, bytes: number) =>
        send(`POST /v1/body/${org} HTTP/1.1\r\nHost: test\r\nContent-Length: ${bytes}\r\n\r\n`);
      const answerOf = async (socket: Socket) => String((await once(socket, 'data'))[0]);
      const first = post('a', 3_500);
      first.write('x'.repeat(3_000));
      await until(() => bodies.bytes === 3_000);
      const other = post('b', 9_000);
      other.write('x'.repeat(4_000));
      await until(() => bodies.bytes === 7_000);
      const second = post('a', 3_000);
      second.write('x'.repeat(1_500));
      assert.match(await answerOf(second), /Connection: close.*api_error/s);
      const small = post('a', 100);
      small.write('x'.repeat(100));
      assert.match(await answerOf(small), /100$/, 'one that comes whole needs no room');
      assert.equal(bodies.bytes, 7_000);
      first.write('x'.repeat(500));
      assert.match(await answerOf(first), /3500$/);
      assert.equal(bodies.bytes, 4_000);
      other.write('x'.repeat(4_000));
      assert.match(await answerOf(other), /api_error/, 'one that grows beyond the share');
      assert.equal(bodies.bytes, 0);
      const gone = post('b', 9_000);
      gone.write('x'.repeat(4_000));
      await until(() => bodies.bytes === 4_000);
      gone.destroy();
      await until(() => bodies.bytes === 0);
      for (const socket of [first, second, other, small]) socket.destroy();
    });

    test('several requests on a connection: a large answer in between is whole', async () => {
      const { Agent, request } = isTls ? https : http;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const sockets = new Set<Socket>();
      const fetch = async (path: string) => {
        const options = { port: server.port, path, agent, rejectUnauthorized: false };
        const [answer] = (await once(request(options).end(), 'response')) as [http.IncomingMessage];
        sockets.add(answer.socket);
        return { length: answer.headers['content-length'], body: await buffer(answer) };
      };
      for (let i = 0; i < 3; i++) {
        const answer = await fetch('/v1/whole');
        assert.equal(answer.length, String(large.length));
        assert.ok(large.equals(answer.body));
        assert.equal((await fetch('/')).body.toString(), 'ok');
      }
      assert.equal(sockets.size, 1);
      agent.destroy();
    });
  });
}

test('room: all together, and a part of it for each holder, whose first answer is always taken', () => {
  const answers = new HeldBytes(800);
  const [first, ...others] = [...'abcdefgh'].map((holder) => ({ holder }));
  const [second, last, newest, none] = [...'aijk'].map((holder) => ({ holder }));
  assert.ok(answers.hasRoom(first!, 5_000));
  answers.set(first!, 60);
  assert.deepEqual([answers.hasRoom(second!, 40), answers.hasRoom(second!, 41)], [true, false]);
  assert.deepEqual([answers.take(first!, 100), answers.take(first!, 101), answers.bytes], [true, false, 100]);
  answers.set(first!, 40);
  assert.equal(answers.hasRoom(second!, 41), true);
  for (const client of others) answers.set(client, 100);
  answers.set(last!, 59);
  assert.deepEqual(
    [answers.bytes, answers.hasRoom(newest!, 1), answers.hasRoom(second!, 2)],
    [799, true, false],
  );
  answers.set(newest!, 1);
  assert.deepEqual([answers.hasRoom(none!, 1), answers.hasRoom(none!, 0)], [false, true]);
  for (const client of [first, ...others, last, newest]) answers.set(client!, 0);
  assert.equal(answers.bytes, 0);
});
