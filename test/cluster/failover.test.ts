// Nodes that share a service: one serves, the others stand by, and what was acknowledged stays whoever serves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkAudit, readAudit } from '../../src/operator/audit/audit.ts';
import { freePort } from '../free-port.ts';
import { assertWhole, merchantsOn, pauseAll, progress, startWork } from '../machine/merchants.ts';
import { paymentsWith } from '../main/payments-command.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { limitedOrganization, send } from '../service.ts';
import { clusterCommand, startNode } from './nodes.ts';

const skip = { skip: leftOut };

/** What connections to the node come to until it serves: statuses, and codes of what failed but for resets. */
async function statusesUntil(url: string, serving: Promise<unknown>): Promise<Set<string>> {
  let isServing = false;
  void serving.then(() => {
    isServing = true;
  });
  const statuses = new Set<string>();
  for (let isLast = false; !isLast; await wait(5)) {
    isLast = isServing;
    const answer = await send(url, '/readyz', { headers: { connection: 'close' } }).then(
      ({ status }) => String(status),
      ({ cause, message }: Error) => (cause as NodeJS.ErrnoException | undefined)?.code ?? message,
    );
    if (answer !== 'ECONNRESET') statuses.add(answer);
  }
  return statuses;
}

test(
  'a node that was frozen answers nothing when it wakes up, and one that is killed under load is taken over',
  skip,
  async (context) => {
    const servers = await startServers(context, 1);
    const a = startNode(context, { url: servers.url, name: 'a' });
    const first = await a.serving;
    const merchants = await merchantsOn(context, first);
    const { secret } = first.keys!;
    const { key: revoked } = await limitedOrganization(first);
    const startNext = async (name: string) => {
      const port = await freePort();
      const env = { PAYMENTS_PORT: String(port) };
      const node = startNode(context, { url: servers.url, name, secretsKeyOf: a.dataDir, env });
      await node.says(/stands by"/);
      return { node, url: `http://127.0.0.1:${port}` };
    };
    startWork(first, merchants);
    const b = await startNext('b');
    await progress(first, merchants, 20);
    a.process.kill('SIGSTOP');
    const second = await b.node.serving;
    await second.operate('key.revoke', { key: revoked });
    const answers: Promise<number>[] = [];
    const frozen = a.output().length;
    a.process.kill('SIGCONT');
    for (let n = 0; n < 40; n++) {
      answers.push(
        first.call('/v1/payment_intents', { key: revoked }).then(
          ({ status }) => status,
          () => 0,
        ),
      );
      await wait(5);
    }
    const statuses = new Set(await Promise.all(answers));
    assert(!statuses.has(200), `the node that was frozen answered ${[...statuses]}`);
    await a.says(/another node has taken the lease/);
    // That the lease moves is expected: it is told in plain lines.
    const alarms = a
      .output()
      .slice(frozen)
      .split('\n')
      .filter((line) => /"level":"fatal"|"JournalFailure"/.test(line));
    assert.deepEqual(alarms, []);
    assert.equal((await second.call('/v1/payment_intents', { key: revoked })).status, 401);

    const c = await startNext('c');
    await pauseAll(merchants);
    startWork(second, merchants);
    await progress(second, merchants, 20);
    const fromMs = performance.now();
    await b.node.kill();
    const asked = statusesUntil(c.url, c.node.serving);
    const third = await c.node.serving;
    // Somebody answers all the time, if only that it is to be tried again.
    assert.deepEqual([...(await asked)].sort(), ['200', '503']);
    const ms = Math.round(performance.now() - fromMs);
    console.error(`c serves after ${ms} ms`);
    assert(ms < 15_000, `c serves after ${ms} ms`);
    const read = await third.call('/v1/payment_intents', { key: secret });
    assert.equal(read.status, 200, read.text);
    await pauseAll(merchants);
    startWork(third, merchants);
    await progress(third, merchants, 5);
    await assertWhole(third, merchants, 'a node frozen, and one killed');
  },
);

test(
  'any node takes any request, one that stops leaves at once, and a service alone waits for the last',
  skip,
  async (context) => {
    const servers = await startServers(context, 1);
    const ports = [await freePort(), await freePort()] as const;
    const of = (name: string, port: number, metricsPort: number) => ({
      url: servers.url,
      name,
      env: {
        PAYMENTS_PORT: String(port),
        PAYMENTS_CLUSTER_ADDRESS: `127.0.0.1:${port}`,
        PAYMENTS_METRICS_PORT: String(metricsPort),
      },
    });
    const metricsPorts = [await freePort(), await freePort()] as const;
    const a = startNode(context, of('a', ports[0], metricsPorts[0]));
    const first = await a.serving;
    const key = first.keys!.secret;
    const b = startNode(context, { ...of('b', ports[1], metricsPorts[1]), secretsKeyOf: a.dataDir });
    await b.says(/node b stands by"/);
    const create = (idempotencyKey: string) =>
      send(`http://127.0.0.1:${ports[1]}`, '/v1/payment_intents', {
        method: 'POST',
        body: { amount: 5_000, currency: 'mad' },
        idempotencyKey,
        key,
      });
    const opened = await first.operate<{ id: string }>('org.create', { name: 'Souk' });
    const passed = await first.until(async () => {
      const answer = await create('one');
      return answer.status === 200 ? answer : undefined;
    });
    assert.equal(passed.json.amount, 5_000);
    const metrics = async (port: number) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await first.until(
      async () =>
        /payments_standby_behind_entries\{shard="0"\} 0/.test(await metrics(metricsPorts[1])) || undefined,
    );
    assert.match(await metrics(metricsPorts[1]), /payments_node_serves\{node="b"\} 0/);
    assert.match(await metrics(metricsPorts[0]), /payments_node_serves\{node="a"\} 1/);
    const onB = (...words: string[]) => paymentsWith({}, ...words, '--data-dir', b.dataDir);
    assert.match((await onB('doctor')).out, /^service +ok +node b stands by$/m);
    assert.match((await onB('metrics')).out, /payments_node_serves\{node="b"\} 0/);
    assert.match(
      (await onB('org', 'list')).error,
      /node b stands by: run the command on the node that serves/,
    );

    const fromMs = performance.now();
    assert.equal(await first.stop(), 0);
    const second = await b.serving;
    console.error(`b serves ${Math.round(performance.now() - fromMs)} ms after a was told to stop`);
    assert.deepEqual((await create('one')).json, passed.json);
    assert.match(await metrics(metricsPorts[1]), /payments_node_serves\{node="b"\} 1/);
    // Who did what on the other node is known here, and it is as it was written there.
    await second.operate('org.suspend', { org: opened.id });
    const actions = readAudit(b.dataDir, 100).operators.filter(({ outcome }) => outcome === 'done');
    const about = actions.filter((row) => JSON.stringify(row).includes(opened.id));
    assert.deepEqual(
      about.map(({ action }) => action),
      ['org.create', 'org.suspend'],
    );
    assert.deepEqual(checkAudit(b.dataDir).operators.broken, []);

    // A service alone is refused where nodes share the log, until they have stopped.
    const alone = startNode(context, {
      url: servers.url,
      name: '',
      secretsKeyOf: a.dataDir,
      env: { PAYMENTS_CLUSTER_NODE: '' },
    });
    await alone.says(/set PAYMENTS_CLUSTER_NODE, or stop them all/);
    assert.equal(await second.stop(), 0);
    await alone.serving;
  },
);

test('operators see the nodes, and have another one serve', skip, async (context) => {
  const servers = await startServers(context, 1);
  const ports = [await freePort(), await freePort()] as const;
  const launcher = fileURLToPath(new URL('../../src/main/launch.mjs', import.meta.url));
  const of = (name: string, port: number) => ({
    url: servers.url,
    name,
    launcher,
    env: { PAYMENTS_PORT: String(port), PAYMENTS_CLUSTER_ADDRESS: `127.0.0.1:${port}` },
  });
  const a = startNode(context, of('a', ports[0]));
  const first = await a.serving;
  const key = first.keys!.secret;
  const cluster = clusterCommand(servers);
  assert.match((await cluster('drain', 'a')).error, /no other node stands by: start one first/);
  assert.match((await cluster('move', 'lease', 'b')).error, /no node b stands by: a serves/);
  const b = startNode(context, { ...of('b', ports[1]), secretsKeyOf: a.dataDir });
  await b.says(/node b stands by"/);
  const status = async () => JSON.parse((await cluster('status', '--json')).out);
  const both = await first.until(async () => {
    const found = await status();
    return found.nodes.length === 2 && found.nodes[1].behind_entries === 0 ? found : undefined;
  });
  assert.equal(both.serving, 'a');
  assert.deepEqual(
    both.nodes.map(({ node, role, address }: Record<string, string>) => [node, role, address]),
    [
      ['a', 'serves', `127.0.0.1:${ports[0]}`],
      ['b', 'stands by', `127.0.0.1:${ports[1]}`],
    ],
  );
  assert.equal(both.partitions, 2);
  assert.match((await cluster('status')).out, /^serving +a\n/);

  // A client that asks both nodes by turns, and comes back after what it is told to come back after.
  const answers: string[] = [];
  let isOver = false;
  const client = (async () => {
    for (let n = 0; !isOver; n++) {
      const answer = await send(`http://127.0.0.1:${ports[n % 2]}`, '/v1/payment_intents', {
        method: 'POST',
        body: { amount: 5_000 + n, currency: 'mad' },
        idempotencyKey: `n${n}`,
        key,
      }).then(
        ({ status }) => String(status),
        () => 'broken',
      );
      answers.push(answer);
      await wait(20);
    }
  })();
  const moved = await cluster('move', 'lease', 'b');
  assert.equal(moved.code, 0, moved.error);
  assert.match(moved.out, /^Node b has the lease that node a had, after \d+ ms\.$/m);
  console.error(moved.out);
  await b.serving;
  await a.says(/node a stands by"/);
  await first.until(
    async () => (await status()).nodes.every(({ role }: { role: string }) => role !== 'gone') || undefined,
  );
  const back = await first.until(async () => {
    const drained = await cluster('drain', 'b');
    return drained.code === 0 ? drained : undefined;
  });
  assert.match(back.out, /^Node a has the lease that node b had/);
  const { takeovers } = await status();
  assert.deepEqual(
    takeovers.map(({ node, previous, reason }: Record<string, string>) => [node, previous, reason]),
    [
      ['a', 'b', 'b has stopped'],
      ['b', 'a', 'a has stopped'],
      ['a', null, 'the first node'],
    ],
  );
  const served = answers.length;
  await first.until(() => answers.slice(served).includes('200') || undefined);
  isOver = true;
  await client;
  const others = answers.filter((answer) => !['200', '429', '503', 'broken'].includes(answer));
  assert.deepEqual(others, []);
});

test(
  'nodes that only pass on what comes stay ready while the one that serves is about to stop',
  skip,
  async (context) => {
    const servers = await startServers(context, 1);
    const [port, address] = [await freePort(), `127.0.0.1:${await freePort()}`];
    const a = startNode(context, {
      url: servers.url,
      name: 'a',
      env: {
        PAYMENTS_PORT: address.split(':')[1]!,
        PAYMENTS_CLUSTER_ADDRESS: address,
        PAYMENTS_STOP_NOTICE_MS: '600000',
      },
    });
    const service = await a.serving;
    const b = startNode(context, {
      url: servers.url,
      name: 'b',
      secretsKeyOf: a.dataDir,
      env: { PAYMENTS_PORT: String(port) },
    });
    await b.says(/node b stands by"/);
    const ready = () => send(`http://127.0.0.1:${port}`, '/readyz', { headers: { connection: 'close' } });
    await service.until(async () => (await ready()).status === 200 || undefined);
    a.process.kill('SIGTERM');
    // Its edge learns of it a moment after its main thread.
    await service.until(
      async () =>
        (await send(`http://${address}`, '/readyz', {})).headers.get('connection') === 'close' || undefined,
    );
    assert.equal((await ready()).status, 200);
  },
);

test('a node that stands by and is about to stop leaves the lease to others', skip, async (context) => {
  const servers = await startServers(context, 1);
  const a = startNode(context, { url: servers.url, name: 'a' });
  const first = await a.serving;
  const startNext = (name: string, env: Readonly<Record<string, string>> = {}) =>
    startNode(context, { url: servers.url, name, secretsKeyOf: a.dataDir, env });
  const port = await freePort();
  const b = startNext('b', { PAYMENTS_PORT: String(port), PAYMENTS_STOP_NOTICE_MS: '600000' });
  await b.says(/node b stands by"/);
  b.process.kill('SIGTERM');
  const takesNone = () =>
    send(`http://127.0.0.1:${port}`, '/readyz', {}).then(
      () => undefined,
      () => true,
    );
  await first.until(takesNone);
  await a.stop();
  const c = startNext('c');
  const taker = await Promise.race([b, c].map(({ name, serving }) => serving.then(() => name)));
  assert.equal(taker, 'c');
});
