// `node bench/lending.ts ROUNDS SECONDS`: what it costs to have other nodes run partitions. Creates go to one node of a service
// over PostgreSQL (a primary and a standby), by turns with nobody else there, with two nodes that each run one of its three
// partitions (to the node with the lease, and to one that stands by), and with the same two when they only follow. All of it shares this machine, so this shows costs, and no gain.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterStatus } from '../src/cluster/cluster-status.ts';
import { elementAt } from '../src/core/assert.ts';
import { newSecretsKey } from '../src/crypto/secret-box.ts';
import { freePort } from '../test/free-port.ts';
import { paymentsWith } from '../test/main/payments-command.ts';
import { PostgresServers } from '../test/postgresql/servers.ts';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { Node } from './cluster-node.ts';
import { drive } from './load.ts';
import { median } from './report.ts';
import { creation } from './scenarios.ts';
import { unlimitedKey } from './targets.ts';
import { counted } from './varying.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 8);
/** Of one organization each, so that all partitions have some. */
const keysMax = 12;
const connectionsEach = 5;

const servers = new PostgresServers();
const folder = temporaryFolder();
/** The same on each node. */
const secretsKey = newSecretsKey();
let measured = 0;

async function nodeNamed(name: string): Promise<Node> {
  const dataDir = join(folder, name);
  writeFileSync(`${dataDir}.secrets-key`, secretsKey);
  const env = {
    PAYMENTS_SHARDS: '3',
    PAYMENTS_LOG_LEVEL: 'warn',
    PAYMENTS_REQUEST_LOGS_KEPT_DAYS: '0',
    PAYMENTS_CLUSTER_LINK: `127.0.0.1:${await freePort()}`,
  };
  return new Node(name, dataDir, await freePort(), servers.url, env);
}

/** One round. Returns creates a second, and microseconds of processor time for each in all nodes. */
async function measure(
  nodes: readonly Node[],
  keys: readonly string[],
  through = elementAt(nodes, 0),
): Promise<{ perSecond: number; microseconds: number; p50Ms: number }> {
  const spent = () => nodes.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const before = spent();
  measured++;
  const url = `http://127.0.0.1:${through.port}`;
  const runs = await Promise.all(
    keys.map((key, n) =>
      drive({ url, requests: [creation(key, counted(`round${measured}-${n}`))] }, connectionsEach, seconds),
    ),
  );
  const requests = runs.reduce((sum, run) => sum + run.requests, 0);
  return {
    perSecond: runs.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0),
    microseconds: ((spent() - before) * 1e6) / requests,
    p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
  };
}

type Run = Awaited<ReturnType<typeof measure>>;
const runs: Record<'alone' | 'followed' | 'lent' | 'through', Run[]> = {
  alone: [],
  followed: [],
  lent: [],
  through: [],
};
const nodes: Node[] = [];

/** The two other nodes are started, and end again when `use` has been called. */
async function beside(
  [a, b, c]: readonly Node[],
  keys: readonly string[],
  use: () => Promise<void>,
): Promise<void> {
  const others = [b, c] as [Node, Node];
  // They say nothing at this level of the log, and show in what they run.
  await Promise.all(others.map((node) => node.start(/(?:)/)));
  await allAnswer([a!, ...others], keys);
  await use();
  await Promise.all(others.map((node) => node.kill('SIGTERM')));
  await allAnswer([a!], keys);
}

try {
  await servers.start(1);
  for (const name of ['a', 'b', 'c']) nodes.push(await nodeNamed(name));
  const [a] = nodes as [Node];
  await a.start(/Listening on/);
  const keys: string[] = [];
  while (keys.length < keysMax) keys.push(await unlimitedKey(a.dataDir));
  await measure([a], keys);
  for (let round = 0; round < rounds; round++) {
    runs.alone.push(await measure([a], keys));
    await beside(nodes, keys, async () => {
      runs.lent.push(await measure(nodes, keys));
      runs.through.push(await measure(nodes, keys, elementAt(nodes, 1)));
      for (const name of ['b', 'c']) await cluster('drain', name);
      await allAnswer([a], keys);
      runs.followed.push(await measure(nodes, keys));
    });
  }
  for (const [name, measured] of Object.entries(runs)) {
    const of = (value: (run: Run) => number) => median(measured.map(value));
    process.stdout.write(
      `${name}: ${Math.round(of((run) => run.perSecond))} creates/s, ` +
        `${of((run) => run.microseconds).toFixed(1)} µs of processor time each, p50 ${of((run) => run.p50Ms).toFixed(2)} ms\n`,
    );
  }
  for (const base of ['alone', 'followed'] as const) {
    for (const kind of ['lent', 'through'] as const) {
      const ratios = runs[kind].map(({ perSecond }, round) => perSecond / runs[base][round]!.perSecond);
      process.stdout.write(`${kind} ÷ ${base}: ${median(ratios).toFixed(2)}\n`);
    }
  }
} finally {
  await Promise.all(nodes.map((node) => node.kill()));
  await servers.stop();
}

function cluster(...words: string[]) {
  return paymentsWith({ PAYMENTS_JOURNAL_URL: servers.url }, 'cluster', ...words);
}

/** Resolves when these nodes share the three partitions, and all of them serve. */
async function allAnswer(among: readonly Node[], keys: readonly string[]): Promise<void> {
  const [first] = among as [Node];
  const runs = ({ nodes: found }: ClusterStatus, name: string) =>
    found.find(({ node }) => node === name)?.partitions.length;
  const isSpread = async () => {
    const status = JSON.parse((await cluster('status', '--json')).out) as ClusterStatus;
    return among.every(({ name }) => runs(status, name) === 3 / among.length);
  };
  while (!(await isSpread())) await wait(200);
  const url = `http://127.0.0.1:${first.port}/v1/payment_intents?limit=1`;
  for (const key of keys)
    while (!(await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).ok) await wait(50);
}
