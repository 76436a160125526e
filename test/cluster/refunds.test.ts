// Refunds, cancels and revoked keys while nodes are lost. Shops ask every node in turn, as behind a load balancer, and send a
// request again with its key until it is answered.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Shop as Account, shopOnEachShard } from '../main/shops.ts';
import { poll } from '../poll.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { type Answer, type Call, limitedOrganization, type Service, send } from '../service.ts';
import { startLinkedNode } from './nodes.ts';

/** Who gets no answer for so long asks another node. */
const patienceMs = 1_000;
const restMs = 50;

/** Null: nobody answered. */
function ask(url: string, path: string, call: Call): Promise<Answer | null> {
  const answered = send(url, path, call).catch(() => null);
  return Promise.race([answered, wait(patienceMs, null, { ref: false })]);
}

const isUnsure = ({ status, text }: Answer) =>
  status >= 500 || status === 429 || text.includes('"code":"idempotency_in_progress"');

class Shop {
  readonly #key: string;
  readonly #urls: readonly string[];
  #asked = 0;
  #isOver = false;
  #working: Promise<unknown> = Promise.resolve();
  /** What was acknowledged: the refunds of each payment, and payments that were canceled. */
  readonly refunds = new Map<string, readonly string[]>();
  readonly canceled: string[] = [];
  /** Answers that were older than what was acknowledged before they were asked for. */
  readonly stale: string[] = [];

  constructor({ key }: Account, urls: readonly string[]) {
    this.#key = key;
    this.#urls = urls;
  }

  work(): void {
    const worker = async (name: string) => {
      for (let n = 0; !this.#isOver; n++) {
        await this.#refundOne(`${name}-${n}`);
        await this.#cancelOne(`${name}-${n}-canceled`);
        await wait(restMs);
      }
    };
    this.#working = Promise.all(['one', 'two'].map(worker));
  }

  async pause(): Promise<void> {
    this.#isOver = true;
    await this.#working;
  }

  async #refundOne(name: string): Promise<void> {
    const { id } = await this.#create(name);
    const confirmed = await this.#call(`/v1/payment_intents/${id}/confirm`, `${name}-confirm`, {
      return_url: 'https://shop.example/back',
    });
    await this.#call(`/v1/test_helpers/charges/${confirmed.latest_charge}/complete`, `${name}-complete`, {});
    const refund = (amount: number) =>
      this.#call('/v1/refunds', `${name}-refund-${amount}`, { payment_intent: id, amount });
    // Each is sent twice at once, as by a client that lost patience.
    const made = await Promise.all([1_000, 1_000, 2_000, 2_000].map(refund));
    const refunds = [...new Set<string>(made.map((each) => each.id))];
    this.refunds.set(id, refunds);
    for (const each of refunds) await this.#readEverywhere(`/v1/refunds/${each}`, { id: each });
  }

  async #cancelOne(name: string): Promise<void> {
    const { id } = await this.#create(name);
    await this.#call(`/v1/payment_intents/${id}/cancel`, `${name}-cancel`, {});
    this.canceled.push(id);
    await this.#readEverywhere(`/v1/payment_intents/${id}`, { id, status: 'canceled' });
  }

  #create(name: string) {
    return this.#call('/v1/payment_intents', name, { amount: 12_000, currency: 'mad' });
  }

  // biome-ignore lint/suspicious/noExplicitAny: objects of the API.
  async #call(path: string, idempotencyKey: string, body: object): Promise<any> {
    for (;;) {
      const url = this.#urls[this.#asked++ % this.#urls.length]!;
      const answer = await ask(url, path, { key: this.#key, idempotencyKey, body });
      if (answer?.status === 200) return answer.json;
      assert(answer === null || isUnsure(answer), `${path} ${idempotencyKey}: ${answer?.text}`);
      await wait(restMs);
    }
  }

  async #readEverywhere(path: string, shown: Readonly<Record<string, string>>): Promise<void> {
    const read = async (url: string) => {
      const answer = await ask(url, path, { key: this.#key });
      if (answer === null || isUnsure(answer)) return;
      const isShown = Object.entries(shown).every(([name, value]) => answer.json[name] === value);
      if (!isShown) this.stale.push(`${url}${path}: ${answer.text}`);
    };
    await Promise.all(this.#urls.map(read));
  }

  /** Each payment has the refunds that were acknowledged and no other, and what was canceled is. */
  async check(url: string): Promise<void> {
    const get = async (path: string) => (await send(url, path, { key: this.#key })).json;
    for (const [id, refunds] of this.refunds) {
      const { data } = await get(`/v1/refunds?payment_intent=${id}`);
      assert.deepEqual(data.map((each: { id: string }) => each.id).sort(), [...refunds].sort(), id);
      assert.deepEqual(data.map((each: { amount: number }) => each.amount).sort(), [1_000, 2_000], id);
    }
    for (const id of this.canceled)
      assert.equal((await get(`/v1/payment_intents/${id}`)).status, 'canceled', id);
    assert.deepEqual(this.stale, []);
  }
}

/** Tries keys that were revoked at every node until it is told to end: what they have opened. */
function tryRevoked(context: TestContext, urls: readonly string[], revoked: readonly string[]) {
  const opened: string[] = [];
  let tries = 0;
  let isOver = false;
  const tryAll = async () => {
    while (!isOver) {
      for (const key of [...revoked])
        for (const url of urls) {
          const answer = await ask(url, '/v1/payment_intents', { key });
          if (answer?.status === 200) opened.push(url);
          if (answer?.status === 401) tries++;
        }
      await wait(restMs);
    }
  };
  const trying = tryAll();
  const end = async () => {
    isOver = true;
    await trying;
    return { opened, tries };
  };
  context.after(end);
  return end;
}

test('while a node is killed and one is frozen, refunds are made once and revoked keys open nothing', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 1);
  const { node: a, url } = await startLinkedNode(context, { url: servers.url, name: 'a' });
  const first = await a.serving;
  const accounts = await shopOnEachShard(first, 2);
  const victims = [await limitedOrganization(first), await limitedOrganization(first)];
  const start = (name: string) => startLinkedNode(context, { url: servers.url, name, first: a });
  const others = [await start('b'), await start('c')] as const;
  const [b, c] = [others[0].node, others[1].node];
  for (const node of [b, c]) await node.says(/edge \d+ takes requests on this node/);
  const urls = [url, ...others.map((other) => other.url)];
  const shops = accounts.map((account) => new Shop(account, urls));
  context.after(() => Promise.all(shops.map((shop) => shop.pause())));

  const revoked: string[] = [];
  const endTrying = tryRevoked(context, urls, revoked);
  const revoke = async (service: Service) => {
    const { key } = victims.pop()!;
    await service.operate('key.revoke', { key });
    revoked.push(key);
  };
  const progress = () => {
    const before = shops.map(({ canceled }) => canceled.length);
    return poll(() => shops.every(({ canceled }, i) => canceled.length >= before[i]! + 2) || undefined);
  };
  for (const shop of shops) shop.work();
  await progress();

  await Promise.all([b.kill(), revoke(first)]);
  await progress();

  a.process.kill('SIGSTOP');
  const next = await c.serving;
  await revoke(next);
  await progress();
  a.process.kill('SIGCONT');
  await a.says(/another node has taken the lease|has lost the lease/);
  await progress();

  for (const shop of shops) await shop.pause();
  const { opened, tries } = await endTrying();
  assert.deepEqual(opened, []);
  assert.ok(tries > 0);
  for (const shop of shops) await shop.check(next.url);
  assert.equal(await next.stop(), 0);
});
