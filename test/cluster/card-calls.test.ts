// Calls to CMI while nodes are lost. CMI makes two refunds of a call that comes twice, so whoever takes a partition over asks
// what became of the calls that were under way; what CMI can't tell waits for an operator.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemTimers } from '../../src/core/scheduler.ts';
import { type Cluster, clusterOf } from '../../src/operator/use-cases/cluster.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { freePort } from '../free-port.ts';
import { payments } from '../main/payments-command.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { amount, CardShop, type Started, secrets } from '../networks/card-shop.ts';
import { CmiStandIn } from '../networks/cmi-stand-in/client.ts';
import type { Misbehaviour } from '../networks/cmi-stand-in/gateway.ts';
import { poll } from '../poll.ts';
import { leftOut, onlyDatabase, startServers } from '../postgresql/servers.ts';
import { type Service, send } from '../service.ts';
import { stopInOrder } from '../stops.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { type Node, startLinkedNode } from './nodes.ts';

const part = 10_000;
const frozenMs = 3_000;
/** Longer than a node is frozen: what it has begun to send arrives before anybody may send it again. */
const doubtSeconds = 10;
/** Who gets no answer for so long asks another node. */
const patienceMs = 1_000;
const restMs = 50;

/** What the runner waits for, as operators see it. */
interface Waiting {
  readonly id: string;
  readonly charge: string;
  readonly action: string;
  readonly last_error: string | null;
}

type Request = 'PostAuth' | 'Void' | 'Credit';

/** A shop whose refunds are asked for at every node in turn, with the same key until one answers. */
class Refunds {
  readonly shop: CardShop;
  readonly #urls: readonly string[];
  #asked = 0;
  /** The refund of each charge. */
  readonly made = new Map<string, string>();

  constructor(shop: CardShop, urls: readonly string[]) {
    this.shop = shop;
    this.#urls = urls;
  }

  async refund({ id, charge }: Started): Promise<void> {
    const call = {
      key: this.shop.key,
      idempotencyKey: `refund-${id}`,
      body: { payment_intent: id, amount: part },
    };
    for (;;) {
      const url = this.#urls[this.#asked++ % this.#urls.length]!;
      const answered = send(url, '/v1/refunds', call).catch(() => null);
      const answer = await Promise.race([answered, wait(patienceMs, null, { ref: false })]);
      if (answer?.status === 200) {
        this.made.set(charge, answer.json.id);
        return;
      }
      const isUnsure =
        answer === null ||
        answer.status >= 500 ||
        answer.status === 429 ||
        answer.text.includes('"code":"idempotency_in_progress"');
      assert.ok(isUnsure, `${id}: ${answer?.text}`);
      await wait(restMs);
    }
  }

  /** One after the other, with a rest. */
  async refundAll(payments: readonly Started[]): Promise<void> {
    for (const payment of payments) {
      await this.refund(payment);
      await wait(restMs);
    }
  }
}

/** The payments of a shop, by what is to become of them. */
interface Payments {
  /** Refunded while the node is killed or frozen that runs the partition. */
  readonly atOnce: readonly Started[];
  /** Refunded when CMI keeps our names for refunds no longer. */
  readonly nameless: Started;
  readonly others: readonly Started[];
  /** Held by the card's bank, for CMI was told to debit it in an answer that was lost. */
  readonly toCapture: Started;
  /** Paid after it was canceled: to be given up. */
  readonly toVoid: Started;
}

async function pay(shop: CardShop): Promise<Payments> {
  const paid = (count: number) => Promise.all(Array.from({ length: count }, () => shop.paid()));
  const toCapture = await shop.start();
  await shop.standIn.misbehave({ oid: toCapture.charge, callback: 'answer_lost' });
  await shop.decide(toCapture, 'approve');
  const toVoid = await shop.start();
  await shop.call(`/v1/payment_intents/${toVoid.id}/cancel`, {});
  await shop.decide(toVoid, 'approve');
  const [review] = await shop.reviewsOf(toVoid.id);
  await shop.service.operate('review.close', { review: review!.id, as: 'refunded' });
  const [nameless, ...atOnce] = await paid(3);
  return { atOnce, nameless: nameless!, others: await paid(4), toCapture, toVoid };
}

/** The stand-in makes what it is asked for, and holds its answer. */
async function hold(standIn: CmiStandIn, api: Request, { charge: oid }: Started): Promise<void> {
  await standIn.misbehave({ oid, api, fault: 'held' } satisfies Misbehaviour);
}

/** Resolves when the stand-in has got a request about the payment. */
function hasCome(standIn: CmiStandIn, api: Request, { charge }: Started): Promise<true> {
  return poll(async () => ((await standIn.order(charge))?.requests[api] ? true : undefined));
}

interface Nodes {
  readonly nodes: readonly Node[];
  readonly first: Service;
  readonly urls: readonly string[];
  readonly cluster: Cluster;
}

/** Node a has the lease; partition 0 runs on node b, and partition 1 on node c. */
async function started(context: TestContext): Promise<Nodes> {
  const servers = await startServers(context, 1);
  const port = await freePort();
  const env = {
    ...webhookEnv,
    PAYMENTS_BASE_URL: `http://127.0.0.1:${port}`,
    PAYMENTS_NETWORKS_DOUBT_SECONDS: String(doubtSeconds),
  };
  const { node: a, url } = await startLinkedNode(context, { url: servers.url, name: 'a', port, env });
  const first = await a.serving;
  const start = (name: string) => startLinkedNode(context, { url: servers.url, name, first: a, env });
  const others = await Promise.all(['b', 'c'].map(start));
  for (const { node } of others) await node.says(/edge \d+ takes requests on this node/);
  const address = parseJournalUrl(servers.url);
  assert.ok(typeof address !== 'string');
  const cluster = clusterOf([{ address, password: null, ca: null, timers: systemTimers, ...onlyDatabase }]);
  for (const [partition, node] of ['b', 'c'].entries()) await cluster.movePartition(partition, node);
  const all = [{ node: a, url }, ...others];
  return { nodes: all.map(({ node }) => node), urls: all.map((each) => each.url), first, cluster };
}

/**
 * An operator looks up what CMI can't tell, because its refund has another name there; `settled` gets the charges. Undefined:
 * calls still wait.
 */
async function settleInDoubt(service: Service, settled: Set<string>): Promise<true | undefined> {
  const waiting = await service.operate<Waiting[]>('network.waiting', {});
  for (const { id, charge, last_error } of waiting) {
    if (last_error?.includes('under another name') !== true) continue;
    const params = { call: id, as: 'done', reason: "looked up in CMI's interface" };
    const refusal = await service.operate('network.settle', params).then(
      () => null,
      ({ message }: Error) => message,
    );
    if (refusal === null) settled.add(charge);
    else assert.match(refusal, /still be under way|just being sent/);
  }
  return waiting.length === 0 || undefined;
}

/** Each refund was made once, what was held was debited once, and what was to be given up was given up once. */
async function assertOnce({ shop, made }: Refunds, payments: Payments): Promise<void> {
  const { atOnce, nameless, others, toCapture, toVoid } = payments;
  for (const { charge } of [nameless, ...atOnce, ...others]) {
    const order = await shop.order(charge);
    assert.deepEqual([order.captured, order.refunded, order.refunds], [amount, part, 1], charge);
    const { json } = await shop.call(`/v1/refunds/${made.get(charge)}`);
    assert.equal(json.status, 'succeeded', charge);
  }
  const taken = await shop.order(toCapture.charge);
  assert.deepEqual([taken.captured, taken.voided, taken.requests.PostAuth], [amount, 0, 1]);
  const given = await shop.order(toVoid.charge);
  assert.deepEqual([given.captured, given.voided, given.requests.Void], [0, amount, 1]);
}

/** CMI's statement of a shop tells what the service tells. */
async function assertReconciles(shop: CardShop, of: Payments, dataDir: string): Promise<void> {
  const own = [of.nameless, of.toCapture, of.toVoid, ...of.atOnce, ...of.others];
  const [head, ...lines] = (await shop.standIn.statement()).split('\n');
  const isOwn = (line: string) => own.some(({ charge }) => line.includes(charge));
  const file = join(temporaryFolder(), 'statement.csv');
  writeFileSync(file, [head, ...lines.filter(isOwn), ''].join('\n'));
  const args = ['reconcile', shop.org, '--mode', 'live', '--network', 'cmi', '--file', file, '--dry-run'];
  const { code, out, error } = await payments(...args, '--data-dir', dataDir);
  assert.equal(code, 0, `${out}${error}`);
}

test('whatever is under way at CMI when nodes are killed or frozen is done once, or waits for an operator', {
  skip: leftOut,
}, async (context) => {
  const { nodes, first, urls, cluster } = await started(context);
  const [a, b, c] = nodes as [Node, Node, Node];
  const standIn = await CmiStandIn.start(secrets);
  context.after(() => standIn.stop());
  const accounts = await shopOnEachShard(first, 2);
  const shops = await Promise.all(accounts.map(({ id }) => CardShop.within(first, id, standIn)));
  const refunds = shops.map((shop) => new Refunds(shop, urls));
  const all = await Promise.all(shops.map(pay));
  /** Freezes a node for a while, and until what it did is done elsewhere. */
  const freeze = async ({ process }: Node, untilElsewhere: () => Promise<unknown>) => {
    process.kill('SIGSTOP');
    await Promise.all([untilElsewhere(), wait(frozenMs)]);
    process.kill('SIGCONT');
  };

  // Both partitions lose their node while a refund is under way, and others are asked for.
  for (const [at, { atOnce, toCapture, toVoid }] of all.entries()) {
    await hold(standIn, 'Credit', atOnce[at]!);
    await hold(standIn, 'PostAuth', toCapture);
    await hold(standIn, 'Void', toVoid);
  }
  const working = refunds.flatMap((each, at) => {
    const { atOnce, others } = all[at]!;
    return [each.refundAll(atOnce), each.refundAll(others)];
  });
  for (const each of working) each.catch(() => {});
  await Promise.all(all.map(({ atOnce }, at) => hasCome(standIn, 'Credit', atOnce[at]!)));
  const runsElsewhere = () =>
    poll(async () => {
      const of = (await cluster.status()).nodes.find(({ node }) => node === 'c');
      return of === undefined || !of.partitions.includes(1) || undefined;
    });
  await Promise.all([b.kill(), freeze(c, runsElsewhere)]);

  // Whoever runs the partitions now asks about what was to be debited or given up, and tells CMI that again.
  for (const { toCapture, toVoid } of all) {
    await hasCome(standIn, 'PostAuth', toCapture);
    await hasCome(standIn, 'Void', toVoid);
  }
  await Promise.all(working);
  const named = all.flatMap(({ atOnce, others }) => [...atOnce, ...others]);
  for (const payment of named) await hasCome(standIn, 'Credit', payment);
  await standIn.set({ keepsTransId: false });
  for (const { nameless } of all) await hold(standIn, 'Credit', nameless);
  await Promise.all(refunds.map((each, at) => each.refund(all[at]!.nameless)));
  for (const { nameless } of all) await hasCome(standIn, 'Credit', nameless);
  await freeze(a, () => c.serving);
  const next = await c.serving;
  await standIn.release();

  const settled = new Set<string>();
  await poll(() => settleInDoubt(next, settled));
  assert.deepEqual([...settled].sort(), all.map(({ nameless }) => nameless.charge).sort());
  for (const [at, made] of refunds.entries()) {
    Object.assign(made.shop, { service: next });
    await assertOnce(made, all[at]!);
    await assertReconciles(made.shop, all[at]!, c.dataDir);
  }
  await stopInOrder(next);
});
