// A service with too much to do, over real connections and a real channel to a shard whose disk the test holds: what is
// refused, who is answered first, what is not run because its client has gone, and when the service is not ready.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { systemScheduler } from '../../src/core/scheduler.ts';
import type { CheckoutPages } from '../../src/edge/checkout/pages.ts';
import { HeldBytes } from '../../src/edge/http/held-bytes.ts';
import { listen } from '../../src/edge/http/server.ts';
import { createSite } from '../../src/edge/site.ts';
import { type Port, ShardClient } from '../../src/shard/client.ts';
import type { Peer } from '../../src/shard/commit-batch.ts';
import type { ToShard } from '../../src/shard/protocol.ts';
import { until } from '../poll.ts';
import { Actor, account, org, settled } from '../shard/actor.ts';
import { RawConnection, requestText } from './raw.ts';
import { trustingApi } from './trusting-api.ts';
import { unlimited } from './unlimited.ts';

const otherOrg = 'org_000000000000000000000002';
const bounds = {
  sentMax: 4,
  sentBytesMax: 1 << 20,
  queue: { requests: 40, bytes: 1 << 20, organizationShare: 1 },
};

async function start(context: TestContext, requestTimeoutMs = 30_000) {
  const actor = new Actor();
  actor.shard.putAccount({ ...account, id: otherOrg });
  const scheduler = { soon: systemScheduler.soon, elapsedMs: () => actor.elapsedMs };
  const client = new ShardClient(bounds, scheduler);
  const { port1, port2 } = new MessageChannel();
  const peer: Peer = { post: (message, transfer) => port2.postMessage(message, transfer as ArrayBuffer[]) };
  port2.on('message', (message: ToShard) => actor.shard.receive(message, peer));
  actor.onStall = (stalledMs) => peer.post({ stalledMs }, []);
  client.connect(port1 as Port & typeof port1);
  const api = trustingApi(client);
  const visitorOf = (network: string) => ({ network, site: network });
  const unlimitedVisitors = { visitorOf, admit: () => null, giveBack: () => {} };
  const site = createSite({
    shards: [client],
    baseUrl: 'https://pay.test',
    isTrusted: () => true,
    isStopping: () => false,
    isPaused: () => false,
    stalledMsMax: 5_000,
    pages: { matches: () => false } as unknown as CheckoutPages,
    dashboard: { answer() {} },
    visitors: unlimitedVisitors,
    callers: unlimitedVisitors,
    assets: [],
  });
  let requests = 0;
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    clock: Date.now,
    newRequestId: () => `req_${String(++requests).padStart(29, '0')}`,
    requestTimeoutMs,
    slowClientMs: 30_000,
    httpsOnly: false,
    held: new HeldBytes(1 << 30),
    bodies: new HeldBytes(1 << 30),
    connections: unlimited,
    onApi: (exchange, head) => api.handle(exchange, head),
    onSite: site,
    onFailed: (error) => assert.fail(error as Error),
  });
  context.after(async () => {
    await server.stop(0);
    client.disconnect();
    port2.close();
  });
  const url = `http://127.0.0.1:${server.port}`;
  const create = (key: string, { by = org, signal = null as AbortSignal | null, language = 'en' } = {}) =>
    fetch(`${url}/v1/payment_intents`, {
      method: 'POST',
      headers: {
        Authorization: by,
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
        'Accept-Language': language,
      },
      body: JSON.stringify({ amount: 12_000, currency: 'mad', description: key }),
      signal,
    });
  /** The keys of the payments that were made, in their order. */
  const made = async (by = org): Promise<string[]> => {
    const list = () => fetch(`${url}/v1/payment_intents?limit=100`, { headers: { Authorization: by } });
    let response = await list();
    while (response.status !== 200) response = await list();
    const { data } = (await response.json()) as { data: { description: string }[] };
    return data.map(({ description }) => description).reverse();
  };
  return { actor, client, server, url, create, made };
}

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

test('beyond what may wait, requests are refused at once, did not run, and their keys may be used again', async (context) => {
  const { actor, client, create, made } = await start(context);
  actor.holdDisk();
  const taken = names(44, 'taken ').map((key) => create(key));
  await until(() => client.waitingCount === 44);
  const refused = await Promise.all(['en', 'fr', 'ar'].map((language) => create('refused', { language })));
  const messages = new Set<string>();
  for (const response of refused) {
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
    assert.equal(response.headers.get('ratelimit-limit'), null, 'it was not counted');
    assert.match(response.headers.get('request-id')!, /^req_/);
    const { error } = (await response.json()) as { error: { code: string; type: string; message: string } };
    assert.deepEqual([error.code, error.type], ['api_error', 'api_error']);
    messages.add(error.message);
  }
  assert.equal(messages.size, 3);
  assert.equal(client.refused.full, 3);
  await actor.releaseDisk();
  assert.deepEqual([...new Set((await Promise.all(taken)).map(({ status }) => status))], [200]);
  assert.deepEqual((await made()).sort(), names(44, 'taken ').sort());
  const again = await create('refused');
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, null]);
});

test('a request for which there is no room is refused before its body comes, and its connection goes on', async (context) => {
  const { actor, client, create, url } = await start(context);
  actor.holdDisk();
  const taken = names(44, 'taken ').map((key) => create(key));
  await until(() => client.waitingCount === 44);
  const connection = new RawConnection(url);
  const headers = [
    ['Authorization', org],
    ['Content-Length', '20'],
  ] as const;
  await connection.send(requestText('POST /v1/payment_intents', headers));
  const [refused] = await connection.answers();
  assert.equal(refused?.status, 503);
  const { error } = JSON.parse(refused.text) as { error: { request_id: string } };
  assert.equal(error.request_id, refused.headers.get('request-id'));
  await actor.releaseDisk();
  await Promise.all(taken);
  await connection.send('{"amount":', '"twelve"} ');
  await connection.send(requestText('GET /v1/account', [['Authorization', org]]));
  const [, answered] = await connection.answers(2);
  assert.equal(answered?.status, 200);
  connection.end();
});

test('an organization with little to do is answered while another floods', async (context) => {
  const { actor, client, create } = await start(context);
  actor.holdDisk();
  const order: string[] = [];
  const noted = (name: string, response: Promise<Response>) =>
    response.then(({ status }) => order.push(`${name} ${status}`));
  const flood = names(44, 'flood ').map((key) => noted('flood', create(key)));
  await until(() => client.waitingCount === 44);
  const few = names(3, 'few ').map((key) => noted('few', create(key, { by: otherOrg })));
  await until(() => client.refused.largest === 3);
  await until(() => order.length === 3);
  assert.deepEqual(order, ['flood 503', 'flood 503', 'flood 503']);
  await actor.releaseDisk();
  await Promise.all([...flood, ...few]);
  assert.equal(order.filter((each) => each === 'few 200').length, 3);
  assert.ok(
    order.lastIndexOf('few 200') < 3 + 25,
    `the last of the few is number ${order.lastIndexOf('few 200')}`,
  );
});

test('a request whose client is gone before its turn is not run, and one that is in a turn runs on', async (context) => {
  const { actor, client, server, create, made } = await start(context);
  actor.holdDisk();
  const gone = new AbortController();
  const abandoned = [create('in a turn', gone).catch(() => {})];
  await until(() => actor.batches.length === 1);
  // The shard takes no more writes now: its mailbox has three, and the others wait at the edge.
  actor.elapsedMs += 300;
  for (const key of names(20, 'abandoned '))
    abandoned.push(create(key, gone).catch(() => {}) as Promise<undefined>);
  await until(() => client.waitingCount === 21 && actor.shard.queued === 3);
  const patient = create('patient');
  await until(() => client.waitingCount === 22);
  gone.abort();
  await Promise.all(abandoned);
  await until(() => client.waitingCount === 5 && server.exchanges.open.size === 1);
  await settled();
  await actor.releaseDisk();
  assert.equal((await patient).status, 200);
  assert.deepEqual(await made(), ['in a turn', 'patient']);
  assert.equal(client.abandoned, 20);
  assert.equal(client.waitingCount, 0);
});

test('a request whose time is up before its turn is answered with 503 and not run', async (context) => {
  const { actor, client, create, made } = await start(context, 1_000);
  actor.holdDisk();
  const inTurn = create('in a turn');
  await until(() => actor.batches.length === 1);
  actor.elapsedMs += 300;
  const late = await Promise.all(names(20, 'late ').map((key) => create(key)));
  for (const response of late) {
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
    const { error } = (await response.json()) as { error: { message: string } };
    assert.match(error.message, /took too long/);
  }
  await inTurn;
  await settled();
  await actor.releaseDisk();
  await until(() => client.waitingCount === 0);
  assert.deepEqual(await made(), ['in a turn']);
  assert.equal(client.abandoned, 20);
});

test('while the disk keeps writes waiting, what is on disk is read', async (context) => {
  const { actor, client, create, url } = await start(context);
  const { id } = (await (await create('kept')).json()) as { id: string };
  actor.holdDisk();
  const waiting = names(30, 'waiting ').map((key) => create(key));
  await until(() => client.waitingCount === 30 && actor.batches.length > 1);
  actor.elapsedMs += 300;
  actor.shard.tick();
  for (let i = 0; i < 10; i++) {
    const response = await fetch(`${url}/v1/payment_intents/${id}`, { headers: { Authorization: org } });
    assert.equal(response.status, 200);
    assert.equal(((await response.json()) as { id: string }).id, id);
  }
  assert.equal(client.waitingCount, 30);
  await actor.releaseDisk();
  await Promise.all(waiting);
});

test('the service is not ready while a commit takes too long, says why, and recovers by itself', async (context) => {
  const { actor, client, create, url } = await start(context);
  const ready = async () => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, await response.text()];
  };
  assert.deepEqual(await ready(), [200, 'ready\n']);
  actor.holdDisk();
  const waiting = create('waiting');
  await until(() => actor.batches.length === 1);
  actor.elapsedMs += 4_900;
  actor.shard.tick();
  await until(() => client.stalledMs > 0);
  assert.deepEqual(await ready(), [200, 'ready\n']);
  actor.elapsedMs += 2_200;
  assert.deepEqual(await ready(), [503, 'not ready: a commit of shard 0 has waited for 7 s\n']);
  await actor.releaseDisk();
  await until(() => client.stalledMs === 0);
  assert.deepEqual(await ready(), [200, 'ready\n']);
  assert.equal((await waiting).status, 200);
});
