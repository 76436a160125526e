// Nodes whose partitions have their logs in two databases: what merchants see is the same, and a database that is down takes
// nothing from the partitions of the other one.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ClusterStatus } from '../../src/cluster/cluster-status.ts';
import { freePort } from '../free-port.ts';
import { assertWhole, progress, startWork } from '../machine/merchants.ts';
import { Merchant } from '../main/merchant.ts';
import { paymentsWith } from '../main/payments-command.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { poll } from '../poll.ts';
import { leftOut, type PostgresServer, startServers } from '../postgresql/servers.ts';
import { clusterCommand, type Node, startNode } from './nodes.ts';

const skip = { skip: leftOut };

/** Two databases, each a server without standbys, and nodes over them. */
async function started(context: TestContext) {
  const [first, second] = await Promise.all([startServers(context, 0), startServers(context, 0)]);
  const url = `0-1=${first.url} 2-2=${second.url}`;
  const nodeNamed = async (name: string, like?: Node) => {
    const env = {
      PAYMENTS_JOURNAL_SINGLE: 'true',
      PAYMENTS_CLUSTER_LINK: `127.0.0.1:${await freePort()}`,
      PAYMENTS_SHARDS: '3',
    };
    return startNode(context, { url, name, env, ...(like && { secretsKeyOf: like.dataDir }) });
  };
  return { first: first.all[0]!, second: second.all[0]!, nodeNamed, cluster: clusterCommand({ url }) };
}

test(
  'the logs of partitions lie in two databases, of which one is down for a while',
  skip,
  async (context) => {
    const { first, second, nodeNamed, cluster } = await started(context);
    const a = await nodeNamed('a');
    const service = await a.serving;
    const shops = await shopOnEachShard(service, 3);
    const merchants = shops.map(({ key }, shard) => new Merchant(context, `shop${shard}`, key));
    startWork(service, merchants);
    const b = await nodeNamed('b', a);
    await a.says(/partition \d runs on node b after/);
    await progress(service, merchants, 10);

    const partitionsIn = async (server: PostgresServer) => {
      const text = 'select distinct partition from payments.log order by partition';
      return (await server.query<{ partition: number }>(text, 'payments')).map(({ partition }) => partition);
    };
    assert.deepEqual([await partitionsIn(first), await partitionsIn(second)], [[0, 1], [2]]);
    const status = async () => JSON.parse((await cluster('status', '--json')).out) as ClusterStatus;
    const { partitions, nodes, other_databases: others } = await status();
    assert.equal(partitions, 3);
    assert.deepEqual(nodes.flatMap((node) => node.partitions).sort(), [0, 1, 2]);
    assert.deepEqual(
      others.map((each) => [each.partitions, each.trouble]),
      [['2-2', null]],
    );
    assert.match((await cluster('status')).out, /^of partitions 2-2 +127\.0\.0\.1:\d+, timeline 1$/m);
    for (const to of ['b', 'a', 'b']) {
      const moved = await cluster('move', '2', to);
      assert.match(moved.out, new RegExp(`^Node ${to} runs partition 2`, 'm'), moved.error);
    }
    await progress(service, merchants, 10);

    await second.stop('kill');
    const going = merchants.slice(0, 2);
    await progress(service, going, 10);
    assert.match(String((await status()).other_databases[0]?.trouble), /^no PostgreSQL takes writes/);
    assert.match(
      (await cluster('status')).out,
      /^of partitions 2-2 +CAN'T BE ASKED: no PostgreSQL takes writes/m,
    );
    // One that has never seen that database is given what lies in the other.
    const c = await nodeNamed('c', a);
    await a.says(/partition [01] runs on node c after/);
    await progress(service, going, 10);
    await a.kill();
    const next = await Promise.any([b.serving, c.serving]);
    startWork(next, merchants);
    await progress(next, going, 10);
    await second.start();
    await progress(next, merchants, 10);
    await assertWhole(next, merchants, 'a database was down');
  },
);

test(
  'a holder of the lease of which another database has noted a later one leaves it',
  skip,
  async (context) => {
    const { first, second, nodeNamed } = await started(context);
    const a = await nodeNamed('a');
    await a.serving;
    const epochIn = async (server: PostgresServer) => {
      const [row] = await server.query<{ epoch: string }>('select epoch from payments.lease', 'payments');
      return Number(row?.epoch);
    };
    const before = await epochIn(first);
    await second.query(`update payments.lease set epoch = ${before + 7}`, 'payments');
    await a.says(/node a has lost the lease: another database has noted a later one/);
    const b = await nodeNamed('b', a);
    await b.serving;
    assert.equal(await epochIn(first), before + 8);
  },
);

test(
  'the logs of a service move from one database to two, and its other node goes on',
  skip,
  async (context) => {
    const servers = await startServers(context, 0);
    const [server] = servers.all;
    for (const name of ['one', 'two']) await server!.query(`create database ${name} owner payments`);
    const at = (name: string) => servers.url.replace(/payments$/, name);
    const list = `0-0=${at('one')} 1-1=${at('two')}`;
    const env = { PAYMENTS_JOURNAL_SINGLE: 'true', PAYMENTS_SHARDS: '2' };
    const start = (url: string, name: string, from?: Pick<Node, 'dataDir'>, dataDir?: string) =>
      startNode(context, {
        url,
        name,
        env,
        ...(from && { secretsKeyOf: from.dataDir }),
        ...(dataDir && { dataDir }),
      });
    const a = start(servers.url, 'a');
    let service = await a.serving;
    const shops = await shopOnEachShard(service, 2);
    const createAll = () =>
      Promise.all(
        shops.map(async ({ key }) => {
          const body = { amount: 12_500, currency: 'mad' };
          const { json } = await service.call('/v1/payment_intents', { key, body, idempotencyKey: 'one' });
          return json.id as string;
        }),
      );
    const before = await createAll();
    const b = start(servers.url, 'b', a);
    await b.says(/node b stands by/);
    const caughtUp = async () => {
      const { nodes } = JSON.parse((await clusterCommand(servers)('status', '--json')).out);
      return nodes.some(
        (each: { node: string; behind_entries: number }) => each.node === 'b' && each.behind_entries === 0,
      );
    };
    await poll(async () => (await caughtUp()) || undefined);
    await b.stop();
    await a.stop();

    const command = (url: string, ...words: string[]) =>
      paymentsWith({ ...env, PAYMENTS_JOURNAL_URL: url, PAYMENTS_DATA_DIR: a.dataDir }, ...words);
    const exported = await command(servers.url, 'export', '--from-postgresql');
    assert.equal(exported.code, 0, exported.error);
    const wrong = await command(`0-1=${at('one')} 2-2=${at('two')}`, 'import', '--to-postgresql');
    assert.match(wrong.error, /names databases of the partitions 0-2, and the service has 0-1/);
    for (const words of [
      ['import', '--to-postgresql'],
      ['verify', '--postgresql'],
    ]) {
      const done = await command(list, ...words);
      assert.equal(done.code, 0, done.out + done.error);
    }
    const alone = await command(list, 'serve');
    assert.match(alone.error, /names several databases, .*: set PAYMENTS_CLUSTER_NODE/);

    const next = start(list, 'a', undefined, a.dataDir);
    service = await next.serving;
    assert.deepEqual(await createAll(), before);
    const again = start(list, 'b', undefined, b.dataDir);
    await again.says(/node b stands by/);
    await next.kill();
    // Who has written the list down wrongly is told so, not that no node serves.
    const told = async (url: string) => {
      const { out, error } = await clusterCommand({ url })('status');
      return /the logs of .*|CAN'T BE ASKED.*/.exec(out + error)?.[0];
    };
    const isNamedFor = (there: string, here: string) =>
      `the logs of ${there}, and PAYMENTS_JOURNAL_URL names it for ${here}`;
    const [one, two] = ['0-0', '1-1'].map((range) => `the partitions ${range} of the division 0-0 1-1`);
    assert.ok((await told(`0-0=${at('two')} 1-1=${at('one')}`))?.startsWith(isNamedFor(two!, one!)));
    assert.ok((await told(at('one')))?.startsWith(isNamedFor(one!, 'all partitions')));
    await server!.query('create database three owner payments');
    assert.match(
      (await told(`0-0=${at('one')} 1-1=${at('three')}`)) ?? '',
      /CAN'T BE ASKED: .*: relation .* does not exist/,
    );
    service = await again.serving;
    assert.deepEqual(await createAll(), before);
  },
);
