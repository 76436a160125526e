// The node that has the lease has others run partitions: what merchants see stays the same whoever runs them, and whoever is lost.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { freePort } from '../free-port.ts';
import { assertWhole, merchantsOn, progress, startWork } from '../machine/merchants.ts';
import type { Merchant } from '../main/merchant.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { poll } from '../poll.ts';
import { leftOut, type PostgresServers, startServers } from '../postgresql/servers.ts';
import type { Service } from '../service.ts';
import { stopInOrder } from '../stops.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';
import { clusterCommand, type Node, startNode } from './nodes.ts';

const skip = { skip: leftOut };
const timeoutMs = 4_000;
const flightsMax = 5;

interface Cluster {
  readonly servers: PostgresServers;
  readonly a: Node;
  readonly b: Node;
  readonly service: Service;
  readonly merchants: readonly Merchant[];
}

async function startLender(
  context: TestContext,
  servers: PostgresServers,
  name: string,
  first?: Node,
  more: Readonly<Record<string, string>> = {},
): Promise<Node> {
  const env = { PAYMENTS_CLUSTER_LINK: `127.0.0.1:${await freePort()}`, PAYMENTS_SHARDS: '2', ...more };
  const secretsKeyOf = first?.dataDir;
  return startNode(context, { url: servers.url, name, env, ...(secretsKeyOf && { secretsKeyOf }) });
}

/** Node a has the lease, node b runs a partition for it, and merchants work on both partitions. */
async function started(context: TestContext): Promise<Cluster> {
  const servers = await startServers(context, 1);
  const a = await startLender(context, servers, 'a');
  const service = await a.serving;
  const merchants = await merchantsOn(context, service);
  startWork(service, merchants);
  const b = await startLender(context, servers, 'b', a);
  await a.says(/partition \d runs on node b after/);
  await progress(service, merchants, 20);
  return { servers, a, b, service, merchants };
}

async function settleAll(service: Service, merchants: readonly Merchant[], hint: string): Promise<void> {
  await progress(service, merchants, 20);
  await assertWhole(service, merchants, hint);
}

/** A node that runs a partition is killed under load, then the one that has the lease. */
async function killNodes(context: TestContext, { servers, a, service, merchants }: Cluster): Promise<void> {
  const c = await startLender(context, servers, 'c', a);
  await a.says(/partition \d runs on node c after/);
  await progress(service, merchants, 20);
  let fromMs = performance.now();
  await c.kill();
  await progress(service, merchants, 1);
  console.error(
    `all partitions serve ${Math.round(performance.now() - fromMs)} ms after the kill of who ran one`,
  );
  await a.says(/the link to node c is lost/);
  await progress(service, merchants, 10);
  const d = await startLender(context, servers, 'd', a);
  await a.says(/partition \d runs on node d after/);
  await progress(service, merchants, 10);
  fromMs = performance.now();
  await a.kill();
  const next = await d.serving;
  console.error(
    `all partitions serve ${Math.round(performance.now() - fromMs)} ms after the kill of who had the lease`,
  );
  startWork(next, merchants);
  await settleAll(next, merchants, 'a node frozen, given another, drained and stopped, and nodes killed');
}

test(
  'while a node runs a partition PostgreSQL is restarted, and the node is frozen, given another, drained, stopped and killed',
  skip,
  async (context) => {
    const cluster = await started(context);
    await restartPrimary(cluster);
    await freezeAndMove(cluster);
    await killNodes(context, cluster);
  },
);

/** Partitions fail with PostgreSQL wherever they run, and stay where they are. */
async function restartPrimary({ servers, a, service, merchants }: Cluster): Promise<void> {
  const from = a.output().length;
  const [primary] = servers.all;
  await primary!.stop('fast');
  await primary!.start();
  await progress(service, merchants, 20);
  const said = a.output().slice(from);
  assert.notEqual(said.match(/ended and is started again/g), null);
  assert.equal(said.match(/partition \d runs on[^"]+/g), null);
}

/** A node that runs a partition is frozen, given another, drained and stopped. */
async function freezeAndMove({ servers, a, b, service, merchants }: Cluster): Promise<void> {
  b.process.kill('SIGSTOP');
  await a.says(/the link to node b is lost/);
  await progress(service, merchants, 20);
  b.process.kill('SIGCONT');
  await b.says(/partition \d does not run on this node any more/);
  // It is given a partition again when it has shown that it lives.
  await a.says(/(partition \d runs on node b after[\s\S]*){2}/);
  await progress(service, merchants, 10);

  const cluster = clusterCommand(servers);
  const partitions = async () => {
    const { nodes } = JSON.parse((await cluster('status', '--json')).out);
    return nodes.map(({ node, partitions }: { node: string; partitions: number[] }) => [node, partitions]);
  };
  const [[, ofA], [, ofB]] = await partitions();
  assert.deepEqual([ofA.length, ofB.length, [...ofA, ...ofB].sort()], [1, 1, [0, 1]]);
  // The nodes stay even: what b ran goes to a.
  const moved = await cluster('move', String(ofA[0]), 'b');
  assert.match(
    moved.out,
    new RegExp(`^Node b runs partition ${ofA[0]}, which node a ran, after \\d+ ms\\.$`, 'm'),
    moved.error,
  );
  console.error(moved.out.trim());
  await a.says(new RegExp(`partition ${ofB[0]} runs on this node after`));
  await progress(service, merchants, 10);
  assert.deepEqual(await partitions(), [
    ['a', ofB],
    ['b', ofA],
  ]);
  assert.match((await cluster('status')).out, new RegExp(`^b +stands by +${ofA[0]} +${ofA[0]} `, 'm'));
  assert.match(
    (await cluster('move', '2', 'b')).error,
    /there is no partition 2: the service has those from 0 to 1/,
  );
  assert.match((await cluster('move', '0', 'c')).error, /no node c is there: a, b/);
  const text = await service.metrics();
  assert.match(text, new RegExp(`^payments_partition_runs\\{shard="${ofA[0]}",node="b"\\} 1$`, 'm'));
  assert.match(text, /^payments_links 1$/m);
  assert.match(text, /^payments_links_lost_total [1-9]/m);
  const drained = await cluster('drain', 'b');
  assert.match(
    drained.out,
    new RegExp(`^Node b ran partition ${ofA[0]}, and runs none any more, after \\d+ ms\\.$`, 'm'),
  );
  console.error(drained.out.trim());
  assert.deepEqual(await partitions(), [
    ['a', [0, 1]],
    ['b', []],
  ]);
  assert.match((await cluster('status')).out, /^b +stands by, drained +- +- /m);
  assert.match((await cluster('move', '0', 'b')).error, /node b was drained: have it join first/);
  const back = a.output().length;
  const joined = await cluster('join', 'b');
  assert.match(joined.out, /^Node b is given partitions again/);
  await poll(() => /partition \d runs on node b after/.test(a.output().slice(back)) || undefined);
  assert.match((await cluster('join', 'b')).out, /^Node b was not drained/);
  assert.match((await cluster('join', 'x')).error, /no node x is there: a, b/);
  await progress(service, merchants, 5);
  b.process.kill('SIGTERM');
  await a.says(/(the link to node b is lost[\s\S]*){2}/);
  await progress(service, merchants, 5);
}

test(
  'a node that is stopped gives what it runs back at once, and webhooks wait for its attempts',
  skip,
  async (context) => {
    const begun: number[] = [];
    const receiver = await startReceiver({ respond: () => void begun.push(performance.now()) });
    context.after(() => receiver.close());
    const servers = await startServers(context, 1);
    const env = { ...webhookEnv, PAYMENTS_WEBHOOKS_TIMEOUT_MS: String(timeoutMs) };
    const a = await startLender(context, servers, 'a', undefined, env);
    const service = await a.serving;
    const shops = await shopOnEachShard(service, 2);
    for (const { key } of shops) {
      const endpoint = { url: `${receiver.origin}/hook`, enabled_events: ['payment_intent.created'] };
      assert.equal((await service.call('/v1/webhook_endpoints', { key, body: endpoint })).status, 200);
    }
    const b = await startLender(context, servers, 'b', a, env);
    await a.says(/partition \d runs on node b after/);
    const lent = Number(/partition (\d) runs on node b after/.exec(a.output())![1]);
    const { key } = shops[lent]!;
    const create = async (n: number) =>
      service.until(async () => {
        const created = await service.call('/v1/payment_intents', {
          key,
          body: { amount: 5_000 + n, currency: 'mad' },
          idempotencyKey: `n${n}`,
        });
        return created.status === 200 || undefined;
      });
    for (let n = 0; n < 2 * flightsMax; n++) await create(n);
    // Node b delivers, once the attempts that node a might have made are over.
    await eventually(() => begun.length === flightsMax);
    const fromMs = performance.now();
    b.process.kill('SIGTERM');
    await b.says(/partition \d does not run on this node any more/);
    await create(2 * flightsMax);
    console.error(`the partition serves ${Math.round(performance.now() - fromMs)} ms after the stop`);
    await eventually(() => begun.length > flightsMax);
    const endedMs = begun[0]! + timeoutMs;
    assert.ok(begun[flightsMax]! >= endedMs, `sent ${Math.round(endedMs - begun[flightsMax]!)} ms too early`);
    assert.equal(await service.stop(), 0);
  },
);

test(
  'a partition whose start on another node waits for PostgreSQL is said to run there when it does',
  skip,
  async (context) => {
    const servers = await startServers(context, 1);
    const a = await startLender(context, servers, 'a');
    const service = await a.serving;
    const locking = new pg.Client(servers.all[0]!.address('postgres', 'payments'));
    locking.on('error', () => {});
    await locking.connect();
    // Nobody can take a partition until this ends.
    await locking.query('begin');
    await locking.query('select 1 from payments.partitions for update');
    const b = await startLender(context, servers, 'b', a);
    await b.says(/the partition can't be acquired in PostgreSQL/);
    assert.doesNotMatch(a.output(), /partition \d runs on node b/);
    await locking.end();
    await a.says(/partition \d runs on node b after/);
    await stopInOrder(service);
  },
);
