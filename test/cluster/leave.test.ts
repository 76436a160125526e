// A node leaves for good by one command: others do what it did, it stops in order, and nothing tells of it any more.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterStatus } from '../../src/cluster/cluster-status.ts';
import { type Shop, shopOnEachShard } from '../main/shops.ts';
import { poll } from '../poll.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { send } from '../service.ts';
import { clusterCommand, type LinkedNode, type Node, startLinkedNode } from './nodes.ts';

const body = { amount: 5_000, currency: 'mad' };
const restMs = 20;
/** Each connection is a new one, so it meets whoever listens now. */
const fresh = { connection: 'close' };

/** Somebody pays in a shop through a node, again and again. */
class Payer {
  /** What came of the requests: statuses, or why there was no answer. */
  readonly outcomes = new Set<number | string>();
  /** The longest time between two payments that were made. */
  gapMs = 0;
  #isOver = false;
  readonly #ended: Promise<void>;

  constructor(url: string, shop: Shop, name: string) {
    this.#ended = this.#pay(url, shop, name);
  }

  async #pay(url: string, { key }: Shop, name: string): Promise<void> {
    let paidMs = performance.now();
    for (let count = 0; !this.#isOver; await wait(restMs)) {
      const call = { key, body, idempotencyKey: `${name}-${count}`, headers: fresh };
      const outcome = await send(url, '/v1/payment_intents', call).then(
        ({ status }) => status,
        ({ cause }: { cause?: { code?: string } }) => cause?.code ?? 'an error',
      );
      this.outcomes.add(outcome);
      if (outcome !== 200) continue;
      count++;
      const nowMs = performance.now();
      this.gapMs = Math.max(this.gapMs, nowMs - paidMs);
      paidMs = nowMs;
    }
  }

  async stop(): Promise<this> {
    this.#isOver = true;
    await this.#ended;
    return this;
  }
}

test('a node that runs a partition leaves, and so does the one that has the lease', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 1);
  const cluster = clusterCommand(servers);
  const status = async (): Promise<ClusterStatus> => JSON.parse((await cluster('status', '--json')).out);
  const shown = async () => (await status()).nodes.map(({ node, partitions }) => [node, partitions]);
  /** Drains a node, and waits until it has heard of that: it asks every second. */
  const drained = async (name: string) => {
    assert.equal((await cluster('drain', name)).code, 0);
    const atMs = performance.now();
    await poll(async () => {
      const elapsed = (performance.now() - atMs) / 1_000;
      const seen = (await status()).nodes.find(({ node }) => node === name)!.seen_seconds;
      return seen + 0.2 < elapsed || undefined;
    });
  };
  const start = (name: string, first?: Node) => startLinkedNode(context, { url: servers.url, name, first });
  const a = await start('a');
  const service = await a.node.serving;
  const shops = await shopOnEachShard(service, 2);
  assert.match((await cluster('leave', 'a')).error, /no other node stands by: start one first/);
  assert.match((await cluster('leave', 'x')).error, /no node x is there: a/);

  /** Has a node leave while the shops are paid in through all nodes. */
  const leaves = async (leaving: LinkedNode, stays: LinkedNode) => {
    const payers = shops.flatMap((shop, shard) =>
      [leaving, stays].map(
        ({ node, url }) => new Payer(url, shop, `${leaving.node.name}${node.name}${shard}`),
      ),
    );
    await poll(() => payers.every(({ outcomes }) => outcomes.has(200)) || undefined);
    const { process } = leaving.node;
    process.ref();
    const ended = once(process, 'exit');
    const { out, error } = await cluster('leave', leaving.node.name);
    assert.deepEqual(await ended, [0, null], leaving.node.output());
    console.error(out.trim() || error);
    for (const [n, payer] of payers.entries()) {
      await payer.stop();
      const outcomes = [...payer.outcomes];
      console.error(`${outcomes.join(', ')}; at most ${Math.round(payer.gapMs)} ms between two payments`);
      // Every second one pays through the node that stays.
      if (n % 2 === 1)
        assert.deepEqual(
          outcomes.filter((each) => each !== 200 && each !== 503),
          [],
        );
    }
    return { out, error };
  };

  const b = await start('b', a.node);
  await b.node.says(/edge \d+ takes requests on this node/);
  await a.node.says(/partition \d runs on node b after/);
  const left = await leaves(b, a);
  assert.match(left.out, /^Node b ran partition \d, and has left, after \d+ ms\.$/m, left.error);
  assert.deepEqual(await shown(), [['a', [0, 1]]]);
  const text = await service.metrics();
  assert.doesNotMatch(text, /node="b"/);
  assert.match(text, /^payments_links 0$/m);

  // One that was lost for good is forgotten, too.
  const c = await start('c', a.node);
  await c.node.says(/node c stands by"/);
  await c.node.kill();
  await poll(async () => /^c +gone /m.test((await cluster('status')).out) || undefined);
  assert.match((await cluster('leave', 'c')).out, /^Node c was gone, and is forgotten\.$/m);
  assert.deepEqual(await shown(), [['a', [0, 1]]]);

  // One that is to leave and has not yet may stay.
  const primary = servers.all[0]!;
  await primary.query(
    "insert into payments.nodes (process, node, leaving, seen_at) values ('x', 'x', true, now() + interval '1 hour')",
    'payments',
  );
  assert.match((await cluster('join', 'x')).out, /^Node x is given partitions again within seconds\.$/m);
  await primary.query("delete from payments.nodes where node = 'x'", 'payments');

  const d = await start('d', a.node);
  await d.node.says(/edge \d+ takes requests on this node/);
  await a.node.says(/partition \d runs on node d after/);
  const e = await start('e', a.node);
  await e.node.says(/node e stands by"/);
  await drained('e');
  await leaves(a, d);
  assert.equal(await poll(async () => (await status()).serving ?? undefined), 'd', 'e was drained');
  await d.node.serving;
  assert.deepEqual(await shown(), [
    ['d', [0, 1]],
    ['e', []],
  ]);
});
