// Receivers that send long chains of certificates, whose signatures all take time of the thread.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { Handshakes } from '../../src/http-client/handshakes.ts';
import { Posts } from '../../src/http-client/posts.ts';
import { createManualClock } from '../manual-clock.ts';
import { until } from '../poll.ts';
import { authority, postOptions } from '../webhooks/attempt-harness.ts';
import { createAuthority, type Identity } from '../webhooks/certificates.ts';
import { startReceiver } from '../webhooks/receiver.ts';

const hosts = ['shop.example'];
const stranger = createAuthority('Stranger');
const own = stranger.issue({ hosts });
/** About 38 KB. */
const longChain: Identity = { key: own.key, cert: own.cert + stranger.cert.repeat(95) };

const notTrusted = /^certificate not trusted/;
const notConnected = 'not connected: certificates that are not trusted came too often';

async function shops() {
  const [evil, known, other] = await Promise.all([
    startReceiver({ identity: longChain }),
    startReceiver({ identity: authority.issue({ hosts }) }),
    startReceiver({ identity: authority.issue({ hosts }) }),
  ]);
  const clock = createManualClock(0);
  const posts = new Posts({ ...postOptions, monotonic: clock.monotonic, timeoutMs: 120_000 });
  const post = async ({ port }: { readonly port: number }, account: string) => {
    const request = { headers: '', body: '{}', answerBytesMax: 100, isIdempotent: false };
    const url = `https://shop.example:${port}/`;
    return (await posts.post({ ...request, endpoint: url, account, url })).failure;
  };
  const close = () => Promise.all([evil, known, other].map((receiver) => receiver.close()));
  return { evil, known, other, clock, post, close };
}

test('who sends too much that is not trusted is not connected to for a while, and only the own organization is refused', async () => {
  const { evil, known, other, clock, post, close } = await shops();
  assert.equal(await post(known, 'org_a'), null);
  for (let i = 0; i < 4; i++) assert.match((await post(evil, 'org_a')) ?? '', notTrusted);
  assert.equal(await post(evil, 'org_a'), notConnected);
  assert.equal(evil.connectionCount, 4);
  assert.equal(await post(other, 'org_a'), notConnected);
  assert.equal(await post(known, 'org_a'), null, 'its certificate was trusted the last time');
  assert.equal(await post(other, 'org_b'), null);
  clock.advance(10_000);
  assert.equal(await post(other, 'org_a'), null);
  assert.match((await post(evil, 'org_a')) ?? '', notTrusted);
  await close();
});

test('handshakes that are under way end when an organization has used up its allowance', async () => {
  const { post, close } = await shops();
  const evil = await Promise.all(Array.from({ length: 12 }, () => startReceiver({ identity: longChain })));
  const failures = await Promise.all(evil.map((receiver) => post(receiver, 'org_a')));
  const judged = failures.filter((failure) => notTrusted.test(failure ?? ''));
  assert.ok(judged.length >= 4 && judged.length < 12, `${judged.length} were judged`);
  assert.equal(await post(evil[0]!, 'org_a'), notConnected);
  await Promise.all(evil.map((receiver) => receiver.close()));
  await close();
});

test('an organization has sixteen handshakes under way, one with each receiver that is not trusted; the others wait', async () => {
  const { known, other, post, close } = await shops();
  const stuck: Socket[] = [];
  const listening = Array.from({ length: 20 }, () =>
    createServer((socket) => stuck.push(socket.on('error', () => {}))),
  );
  const receivers = await Promise.all(
    listening.map(async (server) => {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return server.address() as AddressInfo;
    }),
  );
  const [first, ...others] = receivers.flatMap((receiver) => [receiver, receiver]);
  const failures = [first!, ...others].map((receiver) => post(receiver, 'org_a'));
  const waiting = post(known, 'org_a');
  await until(() => stuck.length === 16);
  assert.equal(await post(other, 'org_b'), null, 'another organization does not wait');
  assert.equal(stuck.length, 16);
  stuck[0]!.destroy();
  await until(() => stuck.length === 17);
  assert.equal(new Set(stuck.slice(1).map(({ localPort }) => localPort)).size, 16);
  for (let ended = 1; ended < failures.length; ended++) {
    await until(() => stuck.length > ended);
    stuck[ended]!.destroy();
  }
  assert.equal(await waiting, null);
  assert.ok((await Promise.all(failures)).every((failure) => failure !== null));
  for (const server of listening) server.close();
  await close();
});

test('with a receiver that was trusted five handshakes are under way, so one that is dead leaves places for others', async () => {
  const { known, other, post, close } = await shops();
  assert.equal(await post(known, 'org_a'), null);
  await known.close();
  const stuck: Socket[] = [];
  const dead = createServer((socket) => stuck.push(socket.on('error', () => {})));
  await once(dead.listen(known.port, '127.0.0.1'), 'listening');
  const failures = Array.from({ length: 20 }, () => post(known, 'org_a'));
  await until(() => stuck.length === 5);
  assert.equal(await post(other, 'org_a'), null);
  assert.equal(stuck.length, 5);
  dead.close();
  for (const socket of stuck) socket.destroy();
  assert.ok((await Promise.all(failures)).every((failure) => failure !== null));
  await close();
});

test('a receiver that was trusted is no more once its certificate is not', async () => {
  const { evil, known, post, close } = await shops();
  assert.equal(await post(known, 'org_a'), null);
  await known.close();
  const changed = await startReceiver({ identity: longChain, port: known.port });
  for (let i = 0; i < 4; i++) assert.match((await post(changed, 'org_a')) ?? '', notTrusted);
  assert.equal(await post(changed, 'org_a'), notConnected);
  assert.equal(await post(evil, 'org_a'), notConnected);
  await changed.close();
  await close();
});

test('a handshake with a receiver that was trusted goes on when others use up the allowance', async (context) => {
  const { evil, known, post, close } = await shops();
  assert.equal(await post(known, 'org_a'), null);
  await known.close();
  const slow = createServer().listen(known.port, '127.0.0.1');
  await once(slow, 'listening');
  const accepted = once(slow, 'connection');
  let isOver = false;
  const waiting = post(known, 'org_a').finally(() => {
    isOver = true;
  });
  const [socket] = await accepted;
  context.after(() => slow.close() && socket.destroy());
  for (let i = 0; i < 4; i++) assert.match((await post(evil, 'org_a')) ?? '', notTrusted);
  assert.equal(await post(evil, 'org_a'), notConnected);
  assert.equal(isOver, false);
  socket.destroy();
  await waiting;
  await close();
});

test('it ends, too, when the allowance is used up twice, by receivers that were trusted', async () => {
  const { known, post, close } = await shops();
  const identity = authority.issue({ hosts });
  const trusted = await Promise.all(Array.from({ length: 12 }, () => startReceiver({ identity })));
  for (const receiver of trusted) {
    assert.equal(await post(receiver, 'org_a'), null);
    await receiver.close();
  }
  const turned = await Promise.all(trusted.map(({ port }) => startReceiver({ identity: longChain, port })));
  const failures = await Promise.all(turned.map((receiver) => post(receiver, 'org_a')));
  const judged = failures.filter((failure) => notTrusted.test(failure ?? ''));
  assert.ok(judged.length >= 7 && judged.length < 12, `${judged.length} were judged`);
  assert.equal(await post(known, 'org_a'), notConnected);
  await Promise.all(turned.map((receiver) => receiver.close()));
  await close();
});

/** A handshake that begins, and what becomes of it. */
function handshake(handshakes: Handshakes, account: string, origin: string) {
  const below = { bytesRead: 0 };
  const made = Object.assign(new EventEmitter(), {
    _handle: { _parent: below },
    isDestroyed: false,
    destroy: () => {
      made.isDestroyed = true;
    },
    trust: () => void made.emit('secureConnect'),
    fail(bytes: number) {
      below.bytesRead = bytes;
      made.emit('error', new Error('not trusted'));
      made.emit('close');
    },
  });
  handshakes.begin(account, origin, made as unknown as TLSSocket);
  made.emit('connect');
  return made;
}

const allowance = 128 * 1024;
const perSecond = 8 * 1024;
for (const [usedBytes, afterMs, may, isEnded] of [
  [allowance - 1, 0, 'now', false],
  [allowance, 0, 'refused', false],
  [allowance + perSecond, 1_000, 'refused', false],
  [allowance + perSecond, 1_001, 'now', false],
  [2 * allowance - 1, 0, 'refused', false],
  [2 * allowance, 0, 'refused', true],
] as const)
  test(`${usedBytes} bytes that were not trusted, after ${afterMs} ms: ${may}`, () => {
    const clock = createManualClock(0);
    const handshakes = new Handshakes(clock.monotonic);
    handshake(handshakes, 'org_a', 'https://known').trust();
    const known = handshake(handshakes, 'org_a', 'https://known');
    const failing = ['a', 'b'].map((name) => handshake(handshakes, 'org_a', `https://${name}`));
    failing[0]!.fail(1);
    failing[1]!.fail(usedBytes - 1);
    clock.advance(afterMs);
    assert.equal(handshakes.mayBegin('org_a', 'https://new'), may);
    assert.equal(handshakes.mayBegin('org_a', 'https://known'), 'now');
    assert.equal(handshakes.mayBegin('org_b', 'https://new'), 'now');
    assert.equal(known.isDestroyed, isEnded);
  });
