// A shard's mailbox: the order in which messages are taken, what was withdrawn, and queries that
// are taken before others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchRoute } from '../../src/edge/http/router.ts';
import type { Peer } from '../../src/shard/commit-batch.ts';
import { RequestWriter, SpareBuffers } from '../../src/shard/frames.ts';
import { type Mail, Mailbox } from '../../src/shard/mailbox.ts';
import { type InternalRequest, outcomeCommand } from '../../src/shard/protocol.ts';

const write = matchRoute('POST', '/v1/payment_intents')!.route;
const read = matchRoute('GET', '/v1/payment_intents/pi_1')!.route;
const routes: Readonly<Record<string, number>> = { w: write, r: read };
const peerOf = (): Peer => ({ post: () => {} });

/** Requests by name: `w` writes and `r` reads. The number is the correlation. */
function batchOf(...names: readonly string[]): ArrayBuffer {
  const writer = new RequestWriter();
  for (const name of names) {
    writer.put(Number(name.slice(1)), {
      route: routes[name[0]!]!,
      flags: 0,
      language: 0,
      version: 255,
      org: 'org_1',
      requestId: name,
      id: '',
      query: '',
      idempotencyKey: '',
      member: '',
      body: Buffer.from(name),
    });
  }
  return writer.take();
}

const recordOf = (id: string): InternalRequest => ({ kind: 'record', id });

function nameOf(mail: Mail): string {
  if (mail.kind === 'request') return mail.frame.body.toString();
  if (mail.kind === 'withdrawn') return `not ${mail.to.correlation}`;
  return mail.kind === 'internal' && mail.request.kind === 'record' ? mail.request.id : mail.kind;
}

function takeAll(mailbox: Mailbox): string[] {
  const names: string[] = [];
  for (let mail = mailbox.take(); mail !== undefined; mail = mailbox.take()) names.push(nameOf(mail));
  assert.equal(mailbox.length, 0);
  return names;
}

function takeQueries(mailbox: Mailbox, max = Infinity): string[] {
  const names: string[] = [];
  mailbox.takeQueries((mail) => {
    names.push(nameOf(mail));
    return names.length < max;
  });
  return names;
}

function filled() {
  const spare = new SpareBuffers();
  const mailbox = new Mailbox(spare);
  const peer = peerOf();
  const [first, second, third] = [batchOf('w1', 'r2', 'w3'), batchOf('r4', 'r5'), batchOf('w6', 'r7')];
  mailbox.pushFrames(first, peer);
  mailbox.push({ kind: 'internal', to: { peer, correlation: 9 }, request: recordOf('record') });
  mailbox.pushFrames(second, peer);
  mailbox.pushFrames(third, peer);
  return { mailbox, peer, spare, batches: [first, second, third] };
}

test('messages are taken in the order of their arrival', () => {
  const { mailbox } = filled();
  assert.equal(mailbox.length, 8);
  assert.deepEqual(takeAll(mailbox), ['w1', 'r2', 'w3', 'record', 'r4', 'r5', 'w6', 'r7']);
});

test('of what its sender has withdrawn, only that is known; what was taken before, and what others sent, stays', () => {
  const { mailbox, peer } = filled();
  const other = peerOf();
  mailbox.pushFrames(batchOf('w3', 'w8'), other);
  assert.equal(nameOf(mailbox.take()!), 'w1');
  mailbox.withdraw(peer, new Set([1, 3, 5, 99]));
  assert.deepEqual(takeAll(mailbox), ['r2', 'not 3', 'record', 'r4', 'not 5', 'w6', 'r7', 'w3', 'w8']);
});

test('queries are taken before what is ahead of them, once, and the others stay in their order', () => {
  const { mailbox } = filled();
  assert.deepEqual(takeQueries(mailbox), ['r2', 'record', 'r4', 'r5', 'r7']);
  assert.equal(mailbox.length, 3);
  assert.deepEqual(takeQueries(mailbox), []);
  assert.deepEqual(takeAll(mailbox), ['w1', 'w3', 'w6']);
});

test('queries are taken from a batch that was begun, and from later ones', () => {
  const { mailbox, peer } = filled();
  assert.equal(nameOf(mailbox.take()!), 'w1');
  assert.deepEqual(takeQueries(mailbox), ['r2', 'record', 'r4', 'r5', 'r7']);
  mailbox.pushFrames(batchOf('w10', 'r11'), peer);
  assert.deepEqual(takeQueries(mailbox), ['r11']);
  assert.deepEqual(takeAll(mailbox), ['w3', 'w6', 'w10']);
});

for (const max of [1, 2, 3, 4]) {
  test(`queries that are taken ${max} at a time are all taken, and nothing is lost`, () => {
    const { mailbox } = filled();
    const taken: string[] = [];
    for (let some = takeQueries(mailbox, max); some.length > 0; some = takeQueries(mailbox, max))
      taken.push(...some);
    assert.deepEqual(taken, ['r2', 'record', 'r4', 'r5', 'r7']);
    assert.deepEqual(takeAll(mailbox), ['w1', 'w3', 'w6']);
  });
}

test('a withdrawn query is not taken as one, and a taken one can not be withdrawn', () => {
  const { mailbox, peer } = filled();
  mailbox.withdraw(peer, new Set([4]));
  assert.deepEqual(takeQueries(mailbox), ['r2', 'record', 'r5', 'r7']);
  mailbox.withdraw(peer, new Set([2, 5, 6]));
  assert.deepEqual(takeAll(mailbox), ['w1', 'w3', 'not 4', 'not 6']);
});

test('the buffer of a batch is free when all its requests are taken, also those that are taken early', () => {
  const spare = new SpareBuffers();
  const mailbox = new Mailbox(spare);
  const batch = batchOf('r1', 'r2');
  mailbox.pushFrames(batch, peerOf());
  takeQueries(mailbox);
  assert.equal(spare.take(1).buffer, batch);
});

test('a buffer is free once, when all of its requests are taken, and not before', () => {
  const { mailbox, spare, batches } = filled();
  assert.equal(takeAll(mailbox).length, 8);
  const buffers = Array.from({ length: 3 }, () => spare.take(1).buffer);
  assert.ok(batches.every((each) => buffers.includes(each)));
  assert.equal(batches.includes(spare.take(1).buffer), false, 'there were three');

  const batch = batchOf('r1', 'w2', 'r3');
  mailbox.pushFrames(batch, peerOf());
  assert.deepEqual(takeQueries(mailbox, 1), ['r1']);
  assert.deepEqual(takeQueries(mailbox, 1), ['r3']);
  assert.ok(spare.take(1).buffer !== batch, 'a command is in it');
  assert.deepEqual(takeAll(mailbox), ['w2']);
  const queries = batchOf('r4', 'r5');
  mailbox.pushFrames(queries, peerOf());
  for (const name of ['r4', 'r5']) assert.deepEqual(takeQueries(mailbox, 1), [name]);
  takeQueries(mailbox);
  const freed = [queries, batch].map((buffer) => spare.take(1).buffer === buffer);
  assert.deepEqual([freed, takeAll(mailbox)], [[true, true], []]);
});

test('a command that comes by itself is no query, and a report can not be withdrawn', () => {
  const { mailbox, peer } = filled();
  const request = outcomeCommand('nc_1', { result: 'done' });
  mailbox.push({ kind: 'internal', to: { peer, correlation: 1 }, request });
  mailbox.push({ kind: 'outbox', peer, message: { thread: 0, open: false, reports: [] } });
  mailbox.withdraw(peer, new Set([1]));
  assert.deepEqual(takeQueries(mailbox), ['r2', 'record', 'r4', 'r5', 'r7']);
  assert.deepEqual(takeAll(mailbox), ['not 1', 'w3', 'w6', 'internal', 'outbox']);
});
