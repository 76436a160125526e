// The client of a shard: how it batches requests, that each answer reaches its caller, and that all requests are refused at
// once when the shard ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { matchRoute } from '../../src/edge/router.ts';
import { type Port, ShardClient, workForFreeShard } from '../../src/shard/client.ts';
import { type AnswerFrame, AnswerWriter, readRequests } from '../../src/shard/frames.ts';
import type { FromShard, ToShard } from '../../src/shard/protocol.ts';

/** A port that a test holds the other end of. */
class FakePort implements Port {
  readonly posted: ToShard[] = [];
  closed = false;
  readonly #listeners: { message?: (message: FromShard) => void; close?: () => void } = {};

  postMessage(message: ToShard): void {
    this.posted.push(message);
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
  body: Buffer.from(body),
});

function batchOf(answers: readonly (readonly [correlation: number, body: string])[]): ArrayBuffer {
  const writer = new AnswerWriter();
  for (const [correlation, body] of answers) {
    const limits = { limit: 1, remaining: 1, resetSeconds: 1, retryAfterSeconds: 0 };
    writer.put({ correlation, status: 200, flags: 0, errorNumber: 0, ...limits, originalRequest: '' }, body);
  }
  return writer.take();
}

function connected(bytesMax?: number): { client: ShardClient; port: FakePort } {
  const client = new ShardClient(bytesMax);
  const port = new FakePort();
  client.connect(port);
  return { client, port };
}

test('the requests of a tick go in one batch, and each answer finds whoever waits for it', async () => {
  const { client, port } = connected();
  const answered: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    client.send(frame(name), (answer) => answered.push(`${name}: ${answer?.body.toString()}`));
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

for (const { what, route, enough } of [
  { what: 'commands', route: routeOf('POST', '/v1/payment_intents'), enough: workForFreeShard / 4 },
  { what: 'queries', route: routeOf('GET', '/v1/payment_intents/pi_1'), enough: workForFreeShard },
]) {
  test(`while the shard is free, ${enough} ${what} are a batch before the tick ends; then they wait for it or for answers`, async () => {
    const { client, port } = connected();
    const sendAll = (count: number) => {
      for (let i = 0; i < count; i++) client.send({ ...frame(String(i)), route }, () => {});
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
  const answers: (AnswerFrame | null)[] = [];
  client.send(frame('a'), (answer) => answers.push(answer));
  await setImmediate();
  const { correlation } = port.requestsIn(port.posted[0]!)[0]!;
  port.receive(
    batchOf([
      [99, 'x'],
      [correlation, 'y'],
      [correlation, 'z'],
    ]),
  );
  assert.deepEqual(
    answers.map((answer) => answer?.body.toString()),
    ['y'],
  );
});

test('without a shard nothing is sent and everything is refused at once', async () => {
  const client = new ShardClient();
  assert.equal(client.connected, false);
  const answers: unknown[] = [];
  client.send(frame('a'), (answer) => answers.push(answer));
  assert.deepEqual(answers, [null]);
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
  assert.deepEqual(answers, [null, null]);
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
  assert.deepEqual(answers, [null]);
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

test('more than the mailbox may hold is refused before it is sent, and an answer makes room', async () => {
  const { client, port } = connected(100_000);
  const answers: (AnswerFrame | null)[] = [];
  const send = (bytes: number) => client.send(frame('x'.repeat(bytes)), (answer) => answers.push(answer));
  send(250_000);
  assert.deepEqual(answers, [], 'an idle shard takes any request');
  send(1);
  assert.deepEqual(answers.splice(0), [null]);
  await setImmediate();
  const answerAll = () => {
    const requests = port.requestsIn(port.posted.at(-1)!);
    port.receive(batchOf(requests.map(({ correlation }) => [correlation, ''])));
    return requests.length;
  };
  assert.equal(answerAll(), 1);
  answers.length = 0;
  for (let i = 0; i < 4; i++) send(30_000);
  assert.deepEqual(answers.splice(0), [null], 'three of 30 kB fit');
  await setImmediate();
  assert.equal(answerAll(), 3);
  answers.length = 0;
  for (let i = 0; i < 1_000; i++) send(1);
  const refused = answers.length;
  assert.ok(refused > 800 && refused < 1_000, 'small ones are counted too');
  const asked = await client.ask({ kind: 'record', id: 'pi_1' });
  assert.equal(!asked.ok && asked.code, 'api_error');
  client.disconnect();
  client.connect(new FakePort());
  answers.length = 0;
  send(90_000);
  assert.deepEqual(answers, [], 'a new shard has nothing yet');
});

test('an export that has begun goes on while the mailbox is full', async () => {
  const { client, port } = connected(1);
  client.send(frame('a'), () => {});
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
