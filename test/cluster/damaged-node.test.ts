// The files of a partition are damaged on the node that has the lease, and later stands by: another node that has them whole runs
// it, operators are told, and the other partitions are followed and can be run there.

import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import '../on-disk.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import type { Service } from '../service.ts';
import { stopInOrder } from '../stops.ts';
import { clusterCommand, type Node, startLinkedNode } from './nodes.ts';

const env = {
  PAYMENTS_SHARDS: '2',
  PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '3600000',
};

/** The files of the log of the node's partition 0. */
function filesOf({ dataDir }: Node): string[] {
  const log = join(dataDir, 'shard-0', 'log');
  return readdirSync(log).map((segment) => join(log, segment, 'data.mdb'));
}

const hasInLog = (node: Node, text: string) =>
  filesOf(node).some((file) => readFileSync(file).includes(text));

/** Flips a bit of every `text` there, in place: the node has the files mapped, and may be writing to them. */
function damage(node: Node, text: string): void {
  assert(hasInLog(node, text));
  for (const file of filesOf(node)) {
    const bytes = readFileSync(file);
    const opened = openSync(file, 'r+');
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
      writeSync(opened, Uint8Array.of(bytes[at]! ^ 1), 0, 1, at);
    closeSync(opened);
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

test('a partition whose files are damaged where the lease is runs on another node', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 1);
  const cluster = clusterCommand(servers);
  const { node: a } = await startLinkedNode(context, { url: servers.url, name: 'a', env });
  const service = await a.serving;
  const shops = await shopOnEachShard(service, 2);
  const first = await created(service, shops[0]!.key, 'payment-0');
  const { node: b } = await startLinkedNode(context, { url: servers.url, name: 'b', first: a, env });
  await a.says(/partition \d runs on node b after/);
  assert.equal((await cluster('move', '0', 'b')).code, 0);
  for (let number = 1; number < 10; number++) await created(service, shops[0]!.key, `payment-${number}`);
  await service.until(() => hasInLog(a, 'payment-9') || undefined);
  damage(a, 'payment-4');
  // It comes back at once.
  await cluster('move', '0', 'a');
  await a.says(/this node has damaged files of partition 0, which other nodes are to run/);
  assert.equal((await created(service, shops[0]!.key, 'payment-0')).id, first.id);

  await b.kill();
  await a.says(/partition 0 is down until a node is linked that has its files whole/);
  assert.equal((await create(service, shops[0]!.key, 'down')).status, 503);
  await created(service, shops[1]!.key, 'other');

  const restart = (node: Node) =>
    startLinkedNode(context, { url: servers.url, name: node.name, dataDir: node.dataDir, env });
  const { node: whole } = await restart(b);
  assert.equal((await created(service, shops[0]!.key, 'payment-0')).id, first.id);
  const later = await created(service, shops[0]!.key, 'later');
  const { out } = await cluster('status');
  assert.match(out, /^NODE a HAS DAMAGED FILES of partition 0, /m);
  assert.match((await cluster('move', '0', 'a')).error, /node a has damaged files of partition 0/);
  // What operators are told to do.
  const moved = await cluster('move', 'lease', 'b');
  assert.equal(moved.code, 0, moved.error);
  const next = await whole.serving;
  assert.equal((await created(next, shops[0]!.key, 'later')).id, later.id);
  await created(next, shops[1]!.key, 'other');
  await a.kill();
  const { node: damaged } = await restart(a);
  // It finds them as it stands by, follows the other partition, and can run that.
  await damaged.says(/this node has damaged files of partition 0, [^\n]*shard-0/);
  await whole.says(/node a can run partitions/);
  await next.until(async () => {
    const { out } = await cluster('status');
    return /^NODE a HAS DAMAGED FILES of partition 0, /m.test(out) || undefined;
  });
  assert.match((await cluster('move', '0', 'a')).error, /node a has damaged files of partition 0/);
  const lent = await cluster('move', '1', 'a');
  assert.equal(lent.code, 0, lent.error);
  await created(next, shops[0]!.key, 'where it is whole');
  await created(next, shops[1]!.key, 'where it was damaged');
  assert.match(damaged.output(), /partition 1 runs on this node/);
  await stopInOrder(next);
});
