// What may happen to nodes, to their links and to PostgreSQL, while merchants work through whoever serves.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { assertWhole, merchantsOn, pauseAll, progress, startWork } from '../machine/merchants.ts';
import type { Merchant } from '../main/merchant.ts';
import { Link } from '../postgresql/links.ts';
import { leftOut, moreAdvanced, type PostgresServer, startServers } from '../postgresql/servers.ts';
import type { Service } from '../service.ts';
import { type Node, startNode } from './nodes.ts';

const skip = { skip: leftOut };
const launcher = fileURLToPath(new URL('../../src/main/launch.mjs', import.meta.url));
const backMsMax = 20_000;

interface Bench {
  readonly a: Node;
  readonly b: Node;
  /** The service of `a`, which serves. */
  readonly first: Service;
  /** Those of `a`, one for each PostgreSQL. */
  readonly links: readonly Link[];
  readonly primary: PostgresServer;
  readonly standbys: readonly PostgresServer[];
  readonly merchants: readonly Merchant[];
}

/** Node `a` serves merchants, and `b` stands by. */
async function working(context: TestContext): Promise<Bench> {
  const servers = await startServers(context, 2);
  const [primary, ...standbys] = servers.all as [PostgresServer, ...PostgresServer[]];
  const links = await Promise.all(servers.all.map(({ port }) => new Link(port).open(context)));
  const url = `postgresql://payments@${links.map(({ port }) => `127.0.0.1:${port}`)}/payments`;
  // Merchants give a request up that is not answered.
  const env = { PAYMENTS_REQUEST_TIMEOUT_MS: '2000' };
  const a = startNode(context, { url, name: 'a', env });
  const first = await a.serving;
  const merchants = await merchantsOn(context, first);
  const b = startNode(context, { url: servers.url, name: 'b', secretsKeyOf: a.dataDir, launcher });
  await b.says(/node b stands by"/);
  startWork(first, merchants);
  await progress(first, merchants, 20);
  return { a, b, first, links, primary, standbys, merchants };
}

/** `b` serves before long, and everything is there. */
async function takesOver({ b, merchants }: Bench, fault: string): Promise<void> {
  const fromMs = performance.now();
  const next = await b.serving;
  const ms = Math.round(performance.now() - fromMs);
  console.error(`${fault}: b serves after ${ms} ms`);
  assert(ms < backMsMax, `${fault}: b serves after ${ms} ms`);
  await pauseAll(merchants);
  startWork(next, merchants);
  await progress(next, merchants, 10);
  await assertWhole({ ...next, stop: () => next.stop() }, merchants, fault);
}

/** The node that serves is cut off: the other one takes over. */
async function cutOff(bench: Bench, direction: 'requests' | 'answers'): Promise<void> {
  for (const link of bench.links) link.cut(direction);
  await takesOver(bench, `${direction} lost`);
  // What comes late is of no use to anybody.
  for (const link of bench.links) link.mend();
  await bench.a.says(/another node has taken the lease|has lost the lease|stays down/);
}

test(
  'frozen for a moment, and when a standby is promoted, whoever serves goes on, until what it asks of PostgreSQL is lost',
  skip,
  async (context) => {
    const bench = await working(context);
    const { a, b, first, merchants, primary, standbys } = bench;
    a.process.kill('SIGSTOP');
    await wait(1_000);
    a.process.kill('SIGCONT');
    await progress(first, merchants, 10);
    assert.doesNotMatch(a.output(), /another node has taken the lease/);

    const [one, another] = standbys as [PostgresServer, PostgresServer];
    await primary.stop('kill');
    const [next, other] = await moreAdvanced(one, another);
    await wait(500);
    await next.promote();
    await other.follow(next);
    // The beats of the one that serves stood still for as long for everybody.
    await progress(first, merchants, 10);
    assert.doesNotMatch(b.output(), /node b has the lease/);

    await cutOff(bench, 'requests');
  },
);

test('the answers to the node that serves are lost on the way from PostgreSQL', skip, async (context) => {
  await cutOff(await working(context), 'answers');
});
