// A stop while PostgreSQL answers nothing, and writes wait for it: it is in order, and in time. Nobody is told that they are
// done, and the next start finds what PostgreSQL has of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNode } from '../cluster/nodes.ts';
import { type Service, startService, withRequestLogs } from '../service.ts';
import { stopInOrder } from '../stops.ts';
import { leftOut, type PostgresServer, startServers } from './servers.ts';

const skip = { skip: leftOut };
const stopMsMax = 5_000;

type Pair = readonly [primary: PostgresServer, standby: PostgresServer];

interface Silence {
  readonly name: string;
  readonly begin: (servers: Pair) => unknown;
  readonly end: (servers: Pair) => unknown;
  /** The primary has the write that waits. */
  readonly isStored: boolean;
}

const silences: readonly Silence[] = [
  {
    name: 'the standby is lost',
    begin: ([, standby]) => standby.stop('kill'),
    end: ([, standby]) => standby.start(),
    isStored: true,
  },
  {
    name: 'all servers stand still',
    begin: (servers) => servers.map((server) => server.freeze()),
    end: (servers) => servers.map((server) => server.thaw()),
    isStored: false,
  },
];

function create(service: Service, idempotencyKey: string) {
  const body = { amount: 12_000, currency: 'mad' };
  return service.call('/v1/payment_intents', { key: service.keys!.secret, body, idempotencyKey });
}

/** How many payments there are. */
async function payments(service: Service, key: string): Promise<number> {
  const { json } = await service.call('/v1/payment_intents', { key });
  return json.data.length;
}

/** A write that waits for PostgreSQL, and an operator's. */
async function waitingWrites(service: Service) {
  const late = create(service, 'late');
  late.catch(() => {});
  const change = service.operate('org.create', { name: 'Late' });
  change.catch(() => {});
  await service.until(() => /keeps a commit waiting/.test(service.output()) || undefined);
  return { late, change };
}

/** False: the machine was too busy for that. */
async function stopInTime(service: Service): Promise<boolean> {
  const { ms, isInOrder } = await stopInOrder(service);
  if (isInOrder) assert(ms < stopMsMax, `it took ${ms} ms:\n${service.output()}`);
  return isInOrder;
}

/** What becomes of a write that waits when the service stops. */
async function assertRefused(service: Service, late: ReturnType<typeof create>): Promise<void> {
  const { status, headers, json } = await late;
  assert.deepEqual([status, json.error.code], [503, 'api_error']);
  assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  assert.match(service.output(), /PostgreSQL has not answered in time, and the shard stops without it/);
}

for (const { name, begin, end, isStored } of silences)
  test(`${name}: a stop is in order, and what PostgreSQL has is found again`, skip, async (context) => {
    const servers = await startServers(context, 1);
    const pair = servers.all as unknown as Pair;
    const env = { ...withRequestLogs, PAYMENTS_JOURNAL_URL: servers.url, PAYMENTS_SHARDS: '2' };
    const service = await startService({ env });
    context.after(() => service.kill());
    const { secret } = service.keys!;
    assert.equal((await create(service, 'first')).status, 200);
    await begin(pair);
    const { late, change } = await waitingWrites(service);
    if (await stopInTime(service)) await assertRefused(service, late);
    await assert.rejects(change);

    await end(pair);
    const again = await startService({ dataDir: service.dataDir, env });
    context.after(() => again.kill());
    if (isStored) assert.equal(await payments(again, secret), 2);
    const retried = { ...again, keys: service.keys };
    for (const key of ['first', 'late']) assert.equal((await create(retried, key)).status, 200);
    assert.equal(await payments(again, secret), 2);
    await stopInOrder(again);
  });

test('all servers are lost: a stop is in order', skip, async (context) => {
  const servers = await startServers(context, 1);
  const env = { PAYMENTS_JOURNAL_URL: servers.url, PAYMENTS_SHARDS: '2' };
  const service = await startService({ env });
  context.after(() => service.kill());
  assert.equal((await create(service, 'first')).status, 200);
  await Promise.all(servers.all.map((server) => server.stop('kill')));
  assert.equal((await create(service, 'late')).status, 503);
  await stopInTime(service);
});

test('all servers stand still: the stop of a node that serves is in order', skip, async (context) => {
  const servers = await startServers(context, 1);
  const service = await startNode(context, { url: servers.url, name: 'a' }).serving;
  assert.equal((await create(service, 'first')).status, 200);
  for (const server of servers.all) server.freeze();
  const { late } = await waitingWrites(service);
  if (await stopInTime(service)) assert.equal((await late).status, 503);
});
