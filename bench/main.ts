// `npm run bench`: how many payment intents the service creates, reads and replays in a second, and what share that
// is of a bare uWebSockets.js server. The service runs as in production: a process of its own, every write on disk
// (fsync) before its answer, log level `info` (written to /dev/null), its limits raised. The load comes from
// autocannon in this process, on the same machine, from few connections and from many. Servers and kinds of requests
// take turns in short rounds, so that what else the machine does falls on all of them alike.

import { drive, type Load } from './load.ts';
import { bench, counts, positive } from './options.ts';
import { type Round, type Summary, summarize, table } from './report.ts';
import { type ServiceTarget, startBareServer, startService, type Target } from './targets.ts';

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: readonly number[];
  readonly json: boolean;
}

const warmUpSeconds = 1;
const seededCount = 1_000;
const body = JSON.stringify({
  amount: 12_000,
  currency: 'mad',
  payment_method_types: ['card', 'cash'],
  metadata: { order_id: 'order-1042' },
});
const note =
  'CPU µs: processor time of the measured process for one request. ratio: requests/s, as a share of the bare server\n' +
  'with a body (create, replay) or without (retrieve). autocannon runs on the same machine and is what limits the bare\n' +
  'server: the ratio is against what autocannon can drive. With few connections, waiting for the disk limits creations;\n' +
  'with many, the processor does.';

interface Scenario extends Load {
  readonly name: string;
  readonly target: Target;
  readonly comparedWith: string | null;
}

function readOptions(): Options {
  return bench('bench', 'creations, reads and replays a second, beside a bare server')
    .option('--seconds <n>', 'length of one round of one kind of request', positive, 2)
    .option('--rounds <n>', 'rounds, of which the median counts', positive, 5)
    .option(
      '--connections <n,…>',
      'connections that send one request at a time: a table each',
      counts,
      [100, 256],
    )
    .option('--json', 'print JSON', false)
    .parse()
    .opts();
}

/** Texts of one width that differ: `prefix-000001`, `prefix-000002`, … */
function keys(prefix: string): () => string {
  let count = 0;
  return () => `${prefix}-${String(count++).padStart(9, '0')}`;
}

/** The texts of a list, over and over. */
function cycle(texts: readonly string[]): () => string {
  let position = 0;
  return () => texts[position++ % texts.length]!;
}

/** Creates some intents one after the other; answers their keys and ids, and the size of an answer. */
async function seed({ url, key }: ServiceTarget) {
  const next = keys('seed');
  const seeded: { key: string; id: string }[] = [];
  let answerBytes = 0;
  while (seeded.length < seededCount) {
    const idempotencyKey = next();
    const headers = { ...headersOf(key), 'Idempotency-Key': idempotencyKey };
    const response = await fetch(`${url}/v1/payment_intents`, { method: 'POST', headers, body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`an intent was refused: ${text}`);
    answerBytes = text.length;
    seeded.push({ key: idempotencyKey, id: JSON.parse(text).id });
  }
  return { seeded, answerBytes };
}

function headersOf(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
}

async function scenariosOf(service: ServiceTarget, bare: Target): Promise<Scenario[]> {
  const { seeded, answerBytes } = await seed(service);
  const ids = cycle(seeded.map(({ id }) => id));
  const headers = headersOf(service.key);
  const posted = (path: string, next: () => string): Pick<Load, 'request' | 'varying'> => {
    const first = next();
    const request = { method: 'POST', path, headers: { ...headers, 'Idempotency-Key': first }, body };
    return { request, varying: { first, next } };
  };
  const firstId = ids();
  const got = (path: string) => ({ method: 'GET', path, headers });
  const of = (target: Target, comparedWith: string | null) => ({ target, url: target.url, comparedWith });
  const path = '/v1/payment_intents';
  return [
    { name: 'bare, body', ...of(bare, null), ...posted(`/${answerBytes}`, keys('bare')) },
    { name: 'create', ...of(service, 'bare, body'), ...posted(path, keys('load')) },
    { name: 'replay', ...of(service, 'bare, body'), ...posted(path, cycle(seeded.map(({ key }) => key))) },
    { name: 'bare, no body', ...of(bare, null), request: got(`/${answerBytes}`), varying: null },
    {
      name: 'retrieve',
      ...of(service, 'bare, no body'),
      request: got(`${path}/${firstId}`),
      varying: { first: firstId, next: ids },
    },
  ];
}

async function measure(scenario: Scenario, connections: number, seconds: number): Promise<Round> {
  const before = scenario.target.cpuSeconds();
  const measured = await drive(scenario, connections, seconds);
  const after = scenario.target.cpuSeconds();
  const cpuMicroseconds =
    before === null || after === null ? null : ((after - before) * 1e6) / measured.requests;
  return { ...measured, cpuMicroseconds };
}

/** The scenarios in turn, round by round; the first round warms up and does not count. */
async function series(
  scenarios: readonly Scenario[],
  connections: number,
  rounds: number,
  seconds: number,
): Promise<Summary[]> {
  for (const scenario of scenarios) await measure(scenario, connections, warmUpSeconds);
  const rows = scenarios.map(({ name, comparedWith }) => ({ name, comparedWith, rounds: [] as Round[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [i, scenario] of scenarios.entries()) {
      rows[i]!.rounds.push(await measure(scenario, connections, seconds));
    }
  }
  return summarize(rows);
}

async function main(): Promise<void> {
  const options = readOptions();
  const { seconds, rounds } = options;
  const service = await startService();
  const bare = await startBareServer();
  try {
    const scenarios = await scenariosOf(service, bare);
    const tables = [];
    for (const connections of options.connections) {
      const results = await series(scenarios, connections, rounds, seconds);
      tables.push({ connections, results });
      if (!options.json) process.stdout.write(`${connections} connections\n\n${table(results)}\n\n`);
    }
    const shown = { seconds, rounds, tables };
    process.stdout.write(options.json ? `${JSON.stringify(shown)}\n` : `${note}\n`);
  } finally {
    await Promise.all([service.stop(), bare.stop()]);
  }
}

await main();
