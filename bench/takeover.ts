// `node bench/takeover.ts INTENTS KILLS [FOLDER]`: how long it takes until another node serves when the one that serves is killed,
// with so many payment intents stored; in a folder that was filled before (`fillFolder`), which stays as it is, or in a new one. Two nodes share a service over a PostgreSQL primary and a standby, all on this machine. A client
// sends creates to the node that is left, and counts from the kill to the first that is answered. Meanwhile the other node
// starts again, stands by, and is the next to take over.

import { copyFileSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../test/free-port.ts';
import { paymentsWith } from '../test/main/payments-command.ts';
import { PostgresServers } from '../test/postgresql/servers.ts';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { Node } from './cluster-node.ts';
import { type FilledFolder, fillFolder } from './growth.ts';
import { median } from './report.ts';

const intents = Number(process.argv[2] ?? 1_000_000);
const kills = Number(process.argv[3] ?? 30);
const kept = process.argv[4];
const days = 30;
/** Creates between two kills. */
const creates = 500;
const pollMs = 10;
const givenUpMs = 60_000;

let created = 0;
/** Whether a create through a node is answered. */
async function create({ port }: Node, key: string): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/payment_intents`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `takeover-${created++}`,
    },
    body: '{"amount":5000,"currency":"mad"}',
    signal: AbortSignal.timeout(1_000),
  }).catch(() => null);
  await response?.arrayBuffer().catch(() => null);
  return response?.status === 200;
}

async function killed(serving: Node, next: Node, key: string): Promise<number> {
  const fromMs = performance.now();
  await serving.kill();
  while (!(await create(next, key))) {
    if (performance.now() - fromMs > givenUpMs) throw new Error(`node ${next.name} does not serve`);
    await wait(pollMs);
  }
  return performance.now() - fromMs;
}

/** A copy of a filled folder, beside which lies `FOLDER.json`. */
function copied(folder: string): FilledFolder {
  const dataDir = join(temporaryFolder(), 'data');
  cpSync(folder, dataDir, { recursive: true });
  copyFileSync(`${folder}.secrets-key`, `${dataDir}.secrets-key`);
  return { ...(JSON.parse(readFileSync(`${folder}.json`, 'utf8')) as FilledFolder), dataDir };
}

const servers = new PostgresServers();
const nodes: Node[] = [];
try {
  const filled = kept === undefined ? await fillFolder(intents, days) : copied(kept);
  await servers.start(1);
  const moved = await paymentsWith(
    { PAYMENTS_JOURNAL_URL: servers.url },
    'import',
    '--to-postgresql',
    '--data-dir',
    filled.dataDir,
  );
  if (moved.code !== 0) throw new Error(moved.error);
  const other = join(temporaryFolder(), 'data');
  cpSync(filled.dataDir, other, { recursive: true });
  copyFileSync(`${filled.dataDir}.secrets-key`, `${other}.secrets-key`);
  nodes.push(new Node('a', filled.dataDir, await freePort(), servers.url));
  nodes.push(new Node('b', other, await freePort(), servers.url));
  let [serving, next] = nodes as [Node, Node];
  await serving.start(/Listening on/);
  await next.start(/stands by"/);
  const took: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    for (let n = 0; n < creates; n++) await create(serving, filled.key);
    took.push(await killed(serving, next, filled.key));
    process.stdout.write(`${next.name} serves after ${(took.at(-1)! / 1_000).toFixed(2)} s\n`);
    [serving, next] = [next, serving];
    await next.start(/stands by"/);
  }
  const seconds = (ms: number) => (ms / 1_000).toFixed(2);
  process.stdout.write(
    `${intents.toLocaleString('en')} payment intents, ${kills} kills: median ${seconds(median(took))} s, ` +
      `from ${seconds(Math.min(...took))} to ${seconds(Math.max(...took))} s\n`,
  );
} finally {
  await Promise.all(nodes.map((node) => node.kill()));
  await servers.stop();
}
