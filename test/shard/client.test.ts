// The client of a shard: how it batches requests, that each answer reaches its caller, that all
// requests are refused at once when the shard ends, and what waits, is refused or is withdrawn when
// the shard has too much to do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createIdFactory } from '../../src/core/ids.ts';
import { slotOf } from '../../src/core/slot.ts';
import { matchRoute } from '../../src/edge/http/router.ts';
import { type NoAnswer, type Port, ShardClient, workForFreeShard } from '../../src/shard/client.ts';
import { type AnswerFrame, AnswerWriter, answerFlags } from '../../src/shard/frames.ts';
import { type ClientBounds, unbounded } from '../../src/shard/lane.ts';
import type { FromShard, ToShard } from '../../src/shard/protocol.ts';
import { readRequests } from './read-requests.ts';

/** A port that a test holds the other end of. */
class FakePort implements Port {
  readonly posted: ToShard[] = [];
  readonly transferred: unknown[] = [];
  closed = false;
  readonly #listeners: { message?: (message: FromShard) => void; close?: () => void } = {};

  postMessage(message: ToShard, transfer: readonly unknown[] = []): void {
    this.posted.push(message);
    this.transferred.push(...transfer);
  }

  on(event: 'message' | 'close', listener: ((message: FromShard) => void) | (() => void)): void {
    this.#listeners[event] = listener as () => void;
  }

  close(): void {
    this.closed = true;
  }

  receive(message: FromShard): void {
    this.#listeners.message!(message);
  }

  /** The other end is gone. */
  drop(): void {
    this.#listeners.close!();
  }

  /** Bodies and correlations of the requests in a batch. */
  requestsIn(batch: ToShard): { body: string; correlation: number }[] {
    const requests: { body: string; correlation: number }[] = [];
    readRequests(batch as ArrayBuffer, ({ body, correlation }) => {
      requests.push({ body: body.toString(), correlation });
    });
    return requests;
  }
}

const routeOf = (method: string, path: string) => matchRoute(method, path)!.route;

const frame = (body: string) => ({
  route: 0,
  flags: 0,
  language: 0,
  version: 255,
  org: 'org_1',
  requestId: 'req_1',
  id: '',
  query: '',
  idempotencyKey: '',
  member: '',
  body: Buffer.from(body),
});

function batchOf(
  answers: readonly (readonly [correlation: number, body: string, status?: number])[],
): ArrayBuffer {
  const writer = new AnswerWriter();
  for (const [correlation, body, status = 200] of answers) {
    const limits = { limit: 1, remaining: 1, resetSeconds: 1 };
    const fields = { status, flags: 0, errorNumber: 0, retryAfterSeconds: 0, originalRequest: '' };
    writer.put(correlation, limits, fields, body);
  }
  return writer.take();
}

const bodyOf = (answer: AnswerFrame | NoAnswer) =>
  typeof answer === 'string' ? answer : answer.body.toString();

function connected(bounds: Partial<ClientBounds> = {}): { client: ShardClient; port: FakePort } {
  const client = new ShardClient({ ...unbounded, ...bounds });
  const port = new FakePort();
  client.connect(port);
  return { client, port };
}

test('the requests of a tick go in one batch, and each answer finds whoever waits for it', async () => {
  const { client, port } = connected();
  const answered: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    client.send(frame(name), (answer) => answered.push(`${name}: ${bodyOf(answer)}`));
  }
  assert.equal(port.posted.length, 0);
  await setImmediate();
  assert.equal(port.posted.length, 1);
  const requests = port.requestsIn(port.posted[0]!);
  assert.deepEqual(
    requests.map(({ body }) => body),
    ['a', 'b', 'c'],
  );
  assert.equal(client.waitingCount, 3);
  port.receive(batchOf(requests.toReversed().map(({ body, correlation }) => [correlation, `for ${body}`])));
  assert.deepEqual(answered, ['c: for c', 'b: for b', 'a: for a']);
  assert.equal(client.waitingCount, 0);
});

test('new bounds are for what comes from now on: what waits is answered', async () => {
  const { client, port } = connected({
    sentMax: 2,
    queue: { requests: 2, bytes: 1e6, organizationShare: 1 },
  });
  const answered: string[] = [];
  const send = (name: string) =>
    client.send(frame(name), (answer) => answered.push(`${name}: ${bodyOf(answer)}`));
  for (const name of ['a', 'b', 'c', 'd', 'e']) send(name);
  assert.deepEqual(answered, ['e: overloaded']);
  client.bounds = { ...unbounded, sentMax: 1, queue: { requests: 1, bytes: 1e6, organizationShare: 1 } };
  send('f');
  assert.deepEqual(answered, ['e: overloaded', 'f: overloaded']);
  // Only when both have been answered is there room for the next.
  await setImmediate();
  const [first, second] = port.requestsIn(port.posted[0]!);
  port.receive(batchOf([[first!.correlation, 'x']]));
  await setImmediate();
  assert.equal(port.posted.length, 1);
  port.receive(batchOf([[second!.correlation, 'x']]));
  await setImmediate();
  assert.deepEqual(
    port.requestsIn(port.posted[1]!).map(({ body }) => body),
    ['c'],
  );
});

for (const { what, route, enough } of [
  { what: 'commands', route: routeOf('POST', '/v1/payment_intents'), enough: workForFreeShard / 4 },
  { what: 'queries', route: routeOf('GET', '/v1/payment_intents/pi_1'), enough: workForFreeShard },
]) {
  test(`while the shard is free, ${enough} ${what} are a batch before the tick ends; then they wait for it or for answers`, async () => {
    const { client, port } = connected();
    const sendAll = (count: number) => {
      for (let i = 0; i < count; i++) client.send({ ...frame(String(i)), route, org: `org_${i}` }, () => {});
    };
    const sizes = () => port.posted.map((message) => port.requestsIn(message).length);
    sendAll(enough + 3);
    assert.deepEqual(sizes(), [enough]);
    sendAll(2 * enough);
    assert.deepEqual(sizes(), [enough], 'the shard has not answered');
    await setImmediate();
    assert.deepEqual(sizes(), [enough, 2 * enough + 3]);
    const { correlation } = port.requestsIn(port.posted[0]!)[0]!;
    port.receive(batchOf([[correlation, 'x']]));
    sendAll(enough);
    assert.deepEqual(sizes().slice(2), [enough]);
    sendAll(1);
    await setImmediate();
    assert.deepEqual(sizes().slice(2), [enough, 1]);
  });
}

test('an answer that nobody waits for, or that comes twice, is dropped', async () => {
  const { client, port } = connected();
  const answers: string[] = [];
  client.send(frame('a'), (answer) => answers.push(bodyOf(answer)));
  await setImmediate();
  const { correlation } = port.requestsIn(port.posted[0]!)[0]!;
  port.receive(
    batchOf([
      [99, 'x'],
      [correlation, 'y'],
      [correlation, 'z'],
    ]),
  );
  assert.deepEqual(answers, ['y']);
});

test('without a shard nothing is sent and everything is refused at once', async () => {
  const client = new ShardClient();
  assert.equal(client.connected, false);
  const answers: unknown[] = [];
  client.send(frame('a'), (answer) => answers.push(answer));
  assert.deepEqual(answers, ['away']);
  assert.equal(
    client.send(frame('b'), () => {}),
    0,
    'there is nothing to withdraw',
  );
  const internal = await client.ask({ kind: 'view_payment', id: 'x' });
  assert.equal(!internal.ok && internal.code, 'api_error');
});

test('when the shard goes away, what was sent, what was about to be, and what is asked are refused', async () => {
  const { client, port } = connected();
  const answers: unknown[] = [];
  client.send(frame('sent'), (answer) => answers.push(answer));
  await setImmediate();
  const asked = client.ask({ kind: 'view_payment', id: 'x' });
  client.send(frame('about to be sent'), (answer) => answers.push(answer));
  port.drop();
  assert.deepEqual(answers, ['away', 'away']);
  assert.equal((await asked).ok, false);
  assert.deepEqual([client.connected, client.waitingCount], [false, 0]);
  await setImmediate();
  assert.equal(port.posted.length, 2);
});

test('a new shard gets what comes next, nothing of what was refused, and the old one is not heard any more', async () => {
  const { client, port } = connected();
  const answers: unknown[] = [];
  client.send(frame('old'), (answer) => answers.push(answer));
  const next = new FakePort();
  client.connect(next);
  assert.deepEqual(answers, ['away']);
  assert.equal(port.closed, true);
  client.send(frame('new'), () => {});
  await setImmediate();
  assert.deepEqual(
    next.requestsIn(next.posted[0]!).map(({ body }) => body),
    ['new'],
  );
  assert.equal(port.posted.length, 0);
  port.drop();
  assert.equal(client.connected, true);
});

test('an internal answer goes to who asked', async () => {
  const { client, port } = connected();
  const first = client.ask({ kind: 'record', id: 'a' });
  const second = client.ask({ kind: 'record', id: 'b' });
  const [one, two] = port.posted as { correlation: number }[];
  port.receive({ correlation: two!.correlation, answer: { ok: true, body: 'b' } });
  port.receive({ correlation: one!.correlation, answer: { ok: true, body: 'a' } });
  assert.deepEqual(
    [await first, await second],
    [
      { ok: true, body: 'a' },
      { ok: true, body: 'b' },
    ],
  );
});

/** Requests of one kind by name, and what becomes of each. */
function sender(client: ShardClient, method = 'POST') {
  const route = routeOf(method, method === 'POST' ? '/v1/payment_intents' : '/v1/payment_intents/pi_1');
  const outcomes: string[] = [];
  const send = (name: string, org = 'org_1') =>
    client.send({ ...frame(name), route, org }, (answer) => outcomes.push(`${name}: ${bodyOf(answer)}`));
  return { send, outcomes };
}

const namesIn = (port: FakePort, batch = port.posted.at(-1)!) =>
  port.requestsIn(batch).map(({ body }) => body);

/** The shard answers every request of its last batch. */
function answerAll(port: FakePort): void {
  port.receive(batchOf(port.requestsIn(port.posted.at(-1)!).map(({ correlation }) => [correlation, 'done'])));
}

const small = { sentMax: 2, queue: { requests: 3, bytes: 1_000_000, organizationShare: 1 } };

test('beyond what may be under way requests wait, an answer makes room, and more than may wait is refused at once', async () => {
  const { client, port } = connected(small);
  const { send, outcomes } = sender(client);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) send(name);
  assert.deepEqual(outcomes, ['f: overloaded']);
  assert.deepEqual(client.refused, { full: 1, organization: 0, largest: 0 });
  await setImmediate();
  assert.deepEqual(namesIn(port), ['a', 'b']);
  assert.equal(client.waitingCount, 5);
  const queries = sender(client, 'GET');
  for (const name of ['1', '2', '3']) queries.send(name);
  await setImmediate();
  assert.equal(client.waitingCount, 8, 'commands and queries');
  answerAll(port);
  answerAll(port);
  assert.deepEqual([queries.outcomes, outcomes.length], [['1: done', '2: done', '3: done'], 1]);
  port.posted.splice(1);
  answerAll(port);
  assert.deepEqual(namesIn(port), ['c', 'd'], 'at once');
  answerAll(port);
  answerAll(port);
  assert.deepEqual(outcomes.slice(1), ['a: done', 'b: done', 'c: done', 'd: done', 'e: done']);
  assert.deepEqual([client.waitingCount, client.waitingBytes], [0, 0]);
});

test('a request whose body was not read yet is refused as it would be with its body', async () => {
  const { client, port } = connected({
    ...small,
    queue: { requests: 4, bytes: 5_000, organizationShare: 0.75 },
  });
  const { send } = sender(client);
  const create = routeOf('POST', '/v1/payment_intents');
  const refusal = (org: string, bytes = 10) => client.refusal(create, org, bytes);
  assert.equal(refusal('org_1', 1_000_000), null, 'nothing waits: it is sent at once');
  for (const name of ['a', 'b', 'c', 'd', 'e']) send(name);
  assert.equal(refusal('org_2'), null);
  assert.equal(refusal('org_1'), 'overloaded');
  assert.deepEqual(client.refused, { full: 0, organization: 1, largest: 0 });
  assert.equal(refusal('org_2', 3_700), 'overloaded', 'more than the share of an organization');
  assert.deepEqual(client.refused, { full: 0, organization: 2, largest: 0 });
  assert.equal(
    client.refusal(routeOf('GET', '/v1/payment_intents/pi_1'), 'org_1', 10),
    null,
    'reads have a queue of their own',
  );
  await setImmediate();
  port.drop();
  assert.equal(refusal('org_2'), 'away');
});

test('an organization that fills the queue makes room for another, whose turn is not after all of it', async () => {
  const { client, port } = connected({ ...small, queue: { ...small.queue, requests: 30 } });
  const { send, outcomes } = sender(client);
  for (let i = 1; i <= 32; i++) send(`a${i}`);
  send('x', 'org_2');
  assert.deepEqual(outcomes, ['a32: overloaded']);
  assert.equal(client.refused.largest, 1);
  await setImmediate();
  while (!outcomes.includes('x: done')) answerAll(port);
  assert.ok(outcomes.length < 15, `after ${outcomes.length} others`);
});

test('large bodies that are under way are bounded by their bytes, and an idle shard takes any', async () => {
  const { client, port } = connected({ ...small, sentMax: 100, sentBytesMax: 50_000 });
  const { send, outcomes } = sender(client);
  const large = 'x'.repeat(60_000);
  send(large);
  send('small');
  await setImmediate();
  assert.deepEqual(namesIn(port), [large]);
  assert.deepEqual(outcomes, []);
  answerAll(port);
  assert.deepEqual(namesIn(port), ['small']);
});

test('reads do not wait for writes', async () => {
  const { client, port } = connected(small);
  const writes = sender(client);
  const reads = sender(client, 'GET');
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) writes.send(name);
  reads.send('r');
  await setImmediate();
  assert.deepEqual(namesIn(port), ['a', 'b', 'r']);
});

test('a request that is withdrawn while it waits is never sent, and makes room', async () => {
  const { client, port } = connected(small);
  const { send, outcomes } = sender(client);
  const sent = ['a', 'b', 'c', 'd', 'e'].map((name) => send(name));
  client.withdraw(sent[2]!);
  client.withdraw(sent[2]!);
  send('f');
  await setImmediate();
  answerAll(port);
  answerAll(port);
  answerAll(port);
  assert.deepEqual(
    outcomes.map((each) => each[0]),
    ['a', 'b', 'd', 'e', 'f'],
  );
  assert.equal(client.abandoned, 1);
});

test('of a request that is withdrawn once it was sent the shard is told, and its room is free when the shard has answered', async () => {
  const { client, port } = connected(small);
  const { send, outcomes } = sender(client);
  const [a] = ['a', 'b', 'c'].map((name) => send(name));
  client.withdraw(a!);
  await setImmediate();
  assert.deepEqual(namesIn(port, port.posted[0]), ['a', 'b']);
  assert.deepEqual(port.posted[1], { withdrawn: [a] });
  assert.equal(port.posted.length, 2);
  const writer = new AnswerWriter();
  const limits = { limit: 0, remaining: 0, resetSeconds: 0 };
  const flags = answerFlags.withdrawn;
  const fields = { status: 0, flags, errorNumber: 0, retryAfterSeconds: 0, originalRequest: '' };
  writer.put(a!, limits, fields, '');
  port.receive(writer.take());
  assert.deepEqual(namesIn(port), ['c']);
  assert.deepEqual(outcomes, [], 'nobody waits for it');
  assert.equal(client.abandoned, 1);
  client.withdraw(a!);
  await setImmediate();
  assert.equal(port.posted.length, 3, 'what has an answer can not be withdrawn');
});

test('when the shard goes away, what waits to be sent is refused, too, and a new shard starts with nothing', async () => {
  const { client } = connected(small);
  const { send, outcomes } = sender(client);
  for (const name of ['a', 'b', 'c', 'd']) send(name);
  const next = new FakePort();
  client.connect(next);
  assert.deepEqual(outcomes, ['a: away', 'b: away', 'c: away', 'd: away']);
  for (const name of ['e', 'f', 'g']) send(name);
  await setImmediate();
  assert.deepEqual(namesIn(next), ['e', 'f']);
});

/** Questions about organizations, and what becomes of each. */
function asker(client: ShardClient) {
  const outcomes: string[] = [];
  const ask = (name: string, org = 'org_1') => {
    const answered = client.ask({ kind: 'payment_story', org, livemode: true, reference: name });
    void answered.then((answer) => outcomes.push(`${name}: ${answer.ok ? answer.body : answer.code}`));
  };
  return { ask, outcomes };
}

type Asked = { readonly correlation: number; readonly request: { readonly reference: string } };

/** The names of the questions that were asked. */
const askedOf = (port: FakePort) =>
  (port.posted as unknown as Asked[]).map(({ request }) => request.reference);

/** The shard answers the oldest question. */
function answerOne(port: FakePort): void {
  const { correlation } = port.posted.shift() as unknown as Asked;
  port.receive({ correlation, answer: { ok: true, body: 'done' } });
}

test('beyond what may be asked at once questions wait, an answer makes room, and more than may wait is refused at once', async () => {
  const { client, port } = connected(small);
  const { ask, outcomes } = asker(client);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) ask(name);
  await setImmediate();
  assert.deepEqual([askedOf(port), outcomes], [['a', 'b'], ['f: api_error']]);
  assert.deepEqual(client.refused, { full: 1, organization: 0, largest: 0 });
  for (const left of ['bc', 'cd', 'de', 'e', '']) {
    answerOne(port);
    assert.equal(askedOf(port).join(''), left);
  }
  await setImmediate();
  assert.deepEqual(outcomes.slice(1), ['a: done', 'b: done', 'c: done', 'd: done', 'e: done']);
});

test('questions about one organization make room for those about another, whose turn is not after all of them', async () => {
  const { client, port } = connected({ ...small, queue: { ...small.queue, requests: 12 } });
  const { ask, outcomes } = asker(client);
  for (const name of 'abcdefghijklmn') ask(name, 'org_crowd');
  ask('x', 'org_2');
  await setImmediate();
  assert.deepEqual(outcomes, ['n: api_error']);
  assert.deepEqual(client.refused, { full: 0, organization: 0, largest: 1 });
  // A turn has 8 KiB: as many questions.
  for (let i = 0; i < 9; i++) answerOne(port);
  assert.deepEqual(askedOf(port), ['j', 'x']);
});

test('questions about one organization are bounded by its part, by an id or by its name', async () => {
  const { client, port } = connected({ ...small, queue: { ...small.queue, organizationShare: 0.5 } });
  const { ask, outcomes } = asker(client);
  const org = 'org_1';
  const id = createIdFactory((count) => 'a'.repeat(count)).next('pi', slotOf(org), 1);
  for (const name of ['a', 'b', 'c', 'd']) ask(name);
  const views = await Promise.all([
    client.ask({ kind: 'view_payment', id }),
    client.handOver({ kind: 'open_network_calls', org, limit: 1 }),
  ]);
  assert.deepEqual(
    views.map(({ ok }) => ok),
    [false, false],
  );
  assert.deepEqual([askedOf(port), outcomes], [['a', 'b'], ['d: api_error']]);
});

test('what networks post is bounded by its bytes', async () => {
  const { client, port } = connected({ sentMax: 9, sentBytesMax: 3_000 });
  const post = (body: string) =>
    void client.handOver({
      kind: 'network_callback',
      org: 'org_1',
      mode: 'live',
      connector: 'http',
      signature: '',
      body: body.repeat(2_000),
    });
  for (const body of ['a', 'b']) post(body);
  const { ask } = asker(client);
  for (const name of ['c', 'd', 'e']) ask(name);
  post('f');
  assert.equal(port.posted.length, 2);
  assert.deepEqual([client.waitingCount, client.waitingBytes], [6, 6 * 1024 + 3 * 2_000]);
  answerOne(port);
  assert.deepEqual(askedOf(port).slice(1, 4), ['c', 'd', 'e'], 'the room of a large one is that of many');
  while (port.posted.length > 0) answerOne(port);
  assert.deepEqual([client.waitingCount, client.waitingBytes], [0, 0]);
});

test('what the shard says of its disk is known until it says otherwise, or ends', () => {
  let nowMs = 50_000;
  const scheduler = { soon: () => {}, elapsedMs: () => nowMs };
  const client = new ShardClient(unbounded, scheduler);
  const port = new FakePort();
  client.connect(port);
  assert.equal(client.stalledMs, 0);
  port.receive({ stalledMs: 300 });
  nowMs += 1_000;
  assert.equal(client.stalledMs, 1_300);
  port.receive({ stalledMs: null });
  assert.equal(client.stalledMs, 0);
  port.receive({ stalledMs: 300 });
  client.connect(new FakePort());
  assert.equal(client.stalledMs, 0);
});

/** A client whose ticks end when the test says so. */
function ticking(bounds: Partial<ClientBounds> = {}) {
  const due: (() => void)[] = [];
  let nowMs = 0;
  const scheduler = { soon: (action: () => void) => void due.push(action), elapsedMs: () => nowMs };
  const client = new ShardClient({ ...unbounded, ...bounds }, scheduler);
  const port = new FakePort();
  client.connect(port);
  const endTick = () => {
    for (const action of due.splice(0)) action();
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { client, port, due, endTick, pass };
}

/** The shard answers the queries of its last batch, each with so many bytes, or refuses them. */
function answerWith(port: FakePort, bytes: number, status = 200): void {
  const requests = port.requestsIn(port.posted.at(-1)!);
  port.receive(batchOf(requests.map(({ correlation }) => [correlation, 'x'.repeat(bytes), status])));
}

test('of an organization with large answers one query is under way, and others need not wait for the rest', () => {
  const { client, port, endTick } = ticking();
  const { send } = sender(client, 'GET');
  const sendMany = () => {
    for (let i = 0; i < 100; i++) send(`${i}`, 'large');
    endTick();
  };
  sendMany();
  const first = namesIn(port).length;
  assert.ok(first < 70, `${first} at once`);
  answerWith(port, 2_000_000);
  for (let i = 0; i < 3; i++) {
    assert.equal(namesIn(port).length, 1);
    send('other', 'org_2');
    endTick();
    assert.deepEqual(namesIn(port), ['other'], 'it is sent at once');
    answerAll(port);
    port.posted.pop();
    answerWith(port, 2_000_000);
  }
  while (client.waitingCount > 0) answerWith(port, 2_000_000);
  for (let i = 0; i < 300; i++) {
    send('refused', 'large');
    endTick();
    answerWith(port, 300, 429);
  }
  sendMany();
  assert.equal(namesIn(port).length, 1, 'a rest and refusals are no answers');
});

test('while the disk keeps answers waiting, other queries of an organization with large ones are sent', () => {
  const { client, port, endTick } = ticking();
  const { send } = sender(client, 'GET');
  const sendTwo = () => {
    for (const name of ['first', 'second']) send(name, 'large');
    endTick();
    return namesIn(port);
  };
  sendTwo();
  answerWith(port, 2_000_000);
  assert.deepEqual(sendTwo(), ['first']);
  port.receive({ stalledMs: 100 });
  endTick();
  assert.deepEqual(namesIn(port), ['second']);
  port.receive({ stalledMs: null });
  const { length } = port.posted;
  sendTwo();
  assert.equal(port.posted.length, length, 'the stall is over');
});

test('an organization with small answers has all of its queries under way, soon', () => {
  const { client, port, endTick } = ticking();
  const { send } = sender(client, 'GET');
  for (let i = 0; i < 2_000; i++) {
    send('', 'org_1');
    endTick();
    answerWith(port, 600);
  }
  port.posted.length = 0;
  for (let i = 0; i < 256; i++) send('', 'org_1');
  endTick();
  assert.equal(port.posted.flatMap((batch) => namesIn(port, batch)).length, 256);
});

/** So many commands are sent before the tick ends, while the shard is free. */
const enoughCommands = workForFreeShard / 4;

test('a tick ends once, and its batch is handed over; an answer alone ends none', () => {
  const { client, port, due, endTick } = ticking();
  const { send } = sender(client);
  for (const name of ['a', 'b', 'c']) send(name);
  assert.equal(due.length, 1);
  endTick();
  assert.deepEqual(port.transferred, port.posted);
  const [first, ...others] = port.requestsIn(port.posted[0]!);
  send('d');
  port.receive(batchOf([[first!.correlation, 'done']]));
  assert.equal(port.posted.length, 1, 'its own tick has not ended');
  client.withdraw(others[0]!.correlation);
  assert.equal(due.length, 1);
  endTick();
  assert.deepEqual(namesIn(port, port.posted[1]), ['d']);
  assert.deepEqual(port.posted[2], { withdrawn: [others[0]!.correlation] });
  client.withdraw(others[1]!.correlation);
  endTick();
  assert.deepEqual(port.posted[3], { withdrawn: [others[1]!.correlation] }, 'without a request beside it');
});

test('the buffer of answers is used for the next requests', () => {
  const { client, port, endTick } = ticking();
  const { send } = sender(client);
  send('a');
  endTick();
  const answers = batchOf([[port.requestsIn(port.posted[0]!)[0]!.correlation, 'done']]);
  port.receive(answers);
  send('b');
  endTick();
  assert.equal(port.posted[1], answers);
});

test('a shard is busy from what it is sent until it answers, and what is sent meanwhile waits for the tick', () => {
  const { client, port, endTick } = ticking();
  const { send } = sender(client);
  const sendMany = () => {
    for (let i = 0; i < enoughCommands; i++) send(String(i));
    return port.posted.length;
  };
  send('alone');
  endTick();
  assert.equal(sendMany(), 1, 'it has one request');
  endTick();
  port.receive(batchOf([[port.requestsIn(port.posted[0]!)[0]!.correlation, 'done']]));
  assert.equal(sendMany(), 3, 'it has answered');
  assert.equal(sendMany(), 3, 'and was sent something since');
});

test('a new shard is free, whatever the one before had or was about to get', () => {
  const { client, port, endTick } = ticking({ sentMax: 20 });
  const { send, outcomes } = sender(client);
  const sent = send('a');
  endTick();
  for (let i = 1; i < enoughCommands; i++) send(String(i));
  client.withdraw(sent);
  void client.ask({ kind: 'record', id: 'a' });
  assert.equal(port.posted.length, 2);
  const next = new FakePort();
  client.connect(next);
  assert.equal(outcomes.length, enoughCommands);
  for (let i = 1; i < enoughCommands; i++) send(String(i));
  assert.deepEqual(next.posted, []);
  send('last');
  assert.equal(namesIn(next, next.posted[0]).length, enoughCommands);
  endTick();
  assert.equal(next.posted.length, 1, 'nothing is withdrawn from it');
  for (let i = 0; i < 20; i++) void client.ask({ kind: 'record', id: 'a' });
  assert.equal(next.posted.length, 21, 'it may be asked as much as ever');
});

test('larger bounds let more wait, and what waits comes before what is new', async () => {
  const queue = { requests: 1, bytes: 1e6, organizationShare: 1 };
  const { client, port, endTick } = ticking({ sentMax: 1, queue });
  const { send, outcomes } = sender(client);
  for (const name of ['a', 'b', 'c']) send(name);
  assert.deepEqual(outcomes, ['c: overloaded']);
  client.bounds = { ...unbounded, sentMax: 9, queue: { ...queue, requests: 9 } };
  send('d');
  endTick();
  assert.deepEqual(namesIn(port), ['a']);
  answerAll(port);
  assert.deepEqual(namesIn(port), ['b', 'd']);
  for (let i = 0; i < 9 + 9; i++) void client.ask({ kind: 'record', id: 'a' });
  assert.equal((await client.ask({ kind: 'record', id: 'a' })).ok, false);
  assert.equal(port.posted.length, 2 + 9);
});

test('what waits is counted with its bytes: what was sent, and large bodies; in the queues all of them', () => {
  const queue = { requests: 9, bytes: 1e6, organizationShare: 1 };
  const { client, port, endTick } = ticking({ sentMax: 2, queue });
  const [commands, queries] = [sender(client), sender(client, 'GET')];
  const counted = (from: typeof commands, bytes: number) => {
    const before = client.waitingBytes;
    from.send('x'.repeat(bytes));
    return client.waitingBytes - before;
  };
  assert.deepEqual([counted(commands, 1_024), counted(commands, 3_000)], [1_024, 1_024 + 3_000]);
  assert.deepEqual([counted(queries, 10), counted(queries, 2_000)], [1_024, 1_024 + 2_000]);
  assert.deepEqual([counted(commands, 100), counted(queries, 50)], [1_024 + 100, 1_024 + 50]);
  endTick();
  while (client.waitingCount > 0) answerAll(port);
  assert.equal(client.waitingBytes, 0);
});

test('a lane is full when the bytes that are under way are as many as may be', () => {
  const { client, port, endTick } = ticking({ sentBytesMax: 2_000 });
  const { send } = sender(client);
  for (const bytes of [1_999, 10, 1_025, 20]) send('x'.repeat(bytes));
  endTick();
  assert.deepEqual(
    namesIn(port).map(({ length }) => length),
    [1_999, 10, 1_025],
  );
  const exact = ticking({ sentBytesMax: 2_000 });
  for (const bytes of [2_000, 10]) sender(exact.client).send('x'.repeat(bytes));
  exact.endTick();
  assert.equal(namesIn(exact.port).length, 1);
});

test('what is handed over is answered like what is asked, and bounded with it', async () => {
  const { client, port } = ticking({ sentMax: 1, queue: { requests: 0, bytes: 1e6, organizationShare: 1 } });
  const request = { kind: 'open_network_calls', org: null, limit: 5 } as const;
  for (const body of ['a', 'b', 'c']) {
    const handed = client.handOver(request);
    const last = port.posted.at(-1) as unknown as { correlation: number; request: unknown };
    assert.equal(last.request, request);
    const refused = await Promise.all([client.ask({ kind: 'record', id: 'x' }), client.handOver(request)]);
    assert.deepEqual(
      refused.map(({ ok }) => ok),
      [false, false],
    );
    port.receive({ correlation: last.correlation, answer: { ok: true, body } });
    assert.deepEqual(await handed, { ok: true, body });
    // It was answered: nobody is told again.
    port.receive({ correlation: last.correlation, answer: { ok: true, body: 'again' } });
  }
});

test('a stall that is over is over, and what concerns deliveries says nothing of the disk', () => {
  const { client, port, pass } = ticking();
  port.receive({ stalledMs: 300 });
  port.receive({ stalledMs: null });
  pass(5_000);
  assert.equal(client.stalledMs, 0);
  port.receive({ outbox: { endpoints: [], complete: true, deliveries: [], recorded: [] } });
  assert.equal(client.stalledMs, 0);
});

test('an export that has begun goes on while the mailbox is full', async () => {
  const { client, port } = connected({ sentMax: 0 });
  const request = {
    kind: 'export_page',
    route: 0,
    org: 'org_1',
    livemode: false,
    query: '',
    cursor: '',
  } as const;
  const page = client.ask(request);
  const [{ correlation }] = port.posted as unknown as [{ correlation: number }];
  port.receive({ correlation, answer: { ok: true, body: 'page', cursor: null } });
  assert.equal((await page).ok, true);
});

test('whatever is sent, answered, withdrawn and lost: each has one end, bounds hold, and nothing is left', async () => {
  const routes = { GET: '/v1/payment_intents/pi_1', POST: '/v1/payment_intents' };
  const bounds = { sentMax: 4, sentBytesMax: 9_000 };
  let state = 1;
  const upTo = (count: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * count);
  };
  for (let run = 0; run < 30; run++) {
    const queue = { requests: 6, bytes: 20_000, organizationShare: 0.7 };
    const client = new ShardClient({ ...bounds, queue });
    let port = new FakePort();
    /** What the shard has and has not answered, with the lane and the bytes of each. */
    let held: { correlation: number; lane: number; bytes: number }[] = [];
    let toldWithdrawn = new Set<number>();
    const listen = () => {
      [held, toldWithdrawn] = [[], new Set()];
      port = new FakePort();
      client.connect(port);
    };
    const hear = () => {
      for (const message of port.posted.splice(0))
        if (message instanceof ArrayBuffer)
          for (const { body, correlation } of port.requestsIn(message))
            held.push({ correlation, lane: correlation & 1, bytes: body.length });
        else if ('withdrawn' in message)
          for (const each of message.withdrawn) toldWithdrawn.add(each as number);
      for (const lane of [0, 1]) {
        const own = held.filter((each) => each.lane === lane);
        const large = own.map(({ bytes }) => (bytes > 1_024 ? bytes : 0));
        assert.ok(own.length <= bounds.sentMax);
        const before = large.slice(0, -1).reduce((sum, bytes) => sum + bytes, 0);
        assert.ok(before < bounds.sentBytesMax, `${before} bytes before the last one`);
      }
    };
    const answer = (count: number) => {
      const writer = new AnswerWriter();
      for (const { correlation } of held.splice(0, count)) {
        const flags = toldWithdrawn.has(correlation) ? answerFlags.withdrawn : 0;
        const fields = { status: 200, flags, errorNumber: 0, retryAfterSeconds: 0, originalRequest: '' };
        writer.put(correlation, { limit: 1, remaining: 1, resetSeconds: 1 }, fields, 'done');
      }
      port.receive(writer.take());
    };
    listen();
    const ends: string[][] = [];
    const sent: number[] = [];
    for (let step = 0; step < 60; step++) {
      const [what, method] = [upTo(10), upTo(2) === 0 ? 'GET' : 'POST'] as const;
      if (what < 6) {
        const own: string[] = [];
        ends.push(own);
        const body = 'x'.repeat(upTo(3) === 0 ? 4_000 : 10);
        const given = { ...frame(body), route: routeOf(method, routes[method]), org: `org_${upTo(3)}` };
        sent.push(client.send(given, (answer) => own.push(bodyOf(answer))));
      } else if (what === 6) client.withdraw(sent[upTo(sent.length)] ?? 0);
      else if (what === 7) await setImmediate();
      else if (held.length > 0) answer(1 + upTo(held.length));
      if (upTo(40) === 0) listen();
      hear();
    }
    for (let rest = 0; rest < 40 && client.waitingCount > 0; rest++) {
      await setImmediate();
      hear();
      if (held.length > 0) answer(held.length);
    }
    assert.deepEqual([client.waitingCount, client.waitingBytes, held.length], [0, 0, 0]);
    const counts = Map.groupBy(ends, (own) => own.join());
    assert.ok([...counts.keys()].every((end) => ['', 'done', 'away', 'overloaded'].includes(end)));
    assert.equal(counts.get('')?.length ?? 0, client.abandoned);
    const { full, organization, largest } = client.refused;
    assert.equal(counts.get('overloaded')?.length ?? 0, full + organization + largest);

    for (const method of ['GET', 'POST'] as const)
      for (let i = 0; i < bounds.sentMax; i++)
        client.send({ ...frame('x'), route: routeOf(method, routes[method]) }, () => {});
    await setImmediate();
    hear();
    assert.equal(held.length, 2 * bounds.sentMax, 'there is room for as many as ever');
  }
});
