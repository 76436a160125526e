// The files of a partition are damaged on the node that has the lease: another node that has them whole runs it, and operators
// are told.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import '../on-disk.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import type { Service } from '../service.ts';
import { clusterCommand, type Node, startLinkedNode } from './nodes.ts';

const env = {
  PAYMENTS_SHARDS: '2',
  PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '3600000',
};

/** Flips a bit of every `text` in the log of the node's partition 0. */
function damage({ dataDir }: Node, text: string): void {
  const log = join(dataDir, 'shard-0', 'log');
  for (const segment of readdirSync(log)) {
    const file = join(log, segment, 'data.mdb');
    const bytes = readFileSync(file);
    assert(bytes.includes(text));
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at]! ^= 1;
    writeFileSync(file, bytes);
  }
}

const create = (service: Service, key: string, idempotencyKey: string) =>
  service.call('/v1/payment_intents', {
    key,
    body: { amount: 12_000, currency: 'mad', description: idempotencyKey },
    idempotencyKey,
  });

/** Until it succeeds, as a client would. Returns the body. */
const created = (service: Service, key: string, idempotencyKey: string) =>
  service.until(async () => {
    const answer = await create(service, key, idempotencyKey);
    return answer.status === 200 ? (answer.json as { readonly id: string }) : undefined;
  });

/** Both nodes have everything, and node b is the first to end. */
async function filled(context: TestContext, url: string) {
  const { node: a } = await startLinkedNode(context, { url, name: 'a', env });
  const service = await a.serving;
  const shops = await shopOnEachShard(service, 2);
  const first = await created(service, shops[0]!.key, 'payment-0');
  for (let number = 1; number < 10; number++) await created(service, shops[0]!.key, `payment-${number}`);
  const { node: b } = await startLinkedNode(context, { url, name: 'b', first: a, env });
  await a.says(/partition \d runs on node b after/);
  await b.kill();
  await created(service, shops[0]!.key, 'more');
  await a.kill();
  return { a, b, shops, first };
}

test('a partition whose files are damaged where the lease is runs on another node', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 1);
  const { a, b, shops, first } = await filled(context, servers.url);
  damage(a, 'payment-4');
  const restart = (node: Node) =>
    startLinkedNode(context, { url: servers.url, name: node.name, dataDir: node.dataDir, env });
  const { node: damaged } = await restart(a);
  const service = await damaged.serving;
  await damaged.says(/this node has damaged files of partition 0, which other nodes are to run/);
  await damaged.says(/partition 0 is down until a node is linked that has its files whole/);
  assert.equal((await create(service, shops[0]!.key, 'down')).status, 503);
  await created(service, shops[1]!.key, 'other');

  const { node: whole } = await restart(b);
  assert.equal((await created(service, shops[0]!.key, 'payment-0')).id, first.id);
  const later = await created(service, shops[0]!.key, 'later');
  const cluster = clusterCommand(servers);
  const { out } = await cluster('status');
  assert.match(out, /^NODE a HAS DAMAGED FILES of partition 0, /m);
  assert.match((await cluster('move', '0', 'a')).error, /node a has damaged files of partition 0/);
  // What operators are told to do.
  const moved = await cluster('move', 'lease', 'b');
  assert.equal(moved.code, 0, moved.error);
  const next = await whole.serving;
  assert.equal((await created(next, shops[0]!.key, 'later')).id, later.id);
  await created(next, shops[1]!.key, 'other');
  await damaged.kill();
  const { node: refused } = await restart(a);
  await refused.says(/the partitions can't be followed: [^\n]*shard-0/);
  assert.equal(await next.stop(), 0);
});
