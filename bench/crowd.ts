// `npm run bench:crowd`: what ordinary clients notice of a crowd that takes connections and hardly uses them: idle
// connections, clients that take their answers slowly, and clients that send their bodies slowly; each alone, then all.
// Ordinary clients create and retrieve payment intents at a fixed rate, each measured from when it was due. Three kinds of
// rounds take turns: without a crowd, with the crowd at the bare server, which shows what it takes from the ordinary clients only
// because it shares their machine, and with the crowd at the service. It needs 24,000 descriptors in all: `ulimit -n 16384` or
// more for each process.

import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Crowd, type CrowdNews, type CrowdOrder, crowds } from './crowd-clients.ts';
import type { Load, Measured } from './load.ts';
import { memoryMib } from './memory.ts';
import { driveOpen } from './open-loop.ts';
import { bench, positive } from './options.ts';
import { median } from './report.ts';
import { requestText } from './request-text.ts';
import { creation, headersOf, intentsPath, reading } from './scenarios.ts';
import { type ServiceTarget, startBareServer, startService, unlimitedKey } from './targets.ts';
import { counted } from './varying.ts';

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly rate: number;
  readonly only: readonly string[];
  readonly idle: number;
  readonly readers: number;
  readonly writers: number;
}

const connections = 64;
const connectMsMax = 60_000;
const settleMs = 1_000;
/** A list of these is large enough that the buffers of a connection don't take it. */
const listed = 100;
const listPath = `${intentsPath}?limit=${listed}`;
const metadataKeys = 10;
const metadataCharacters = 100;

/** A crowd that is connected. */
class StandingCrowd {
  readonly #child: ChildProcess;
  readonly #order: CrowdOrder;
  news: CrowdNews = { connected: 0, opened: 0, answered: 0, refused: 0 };

  constructor(order: CrowdOrder) {
    this.#order = order;
    this.#child = fork(fileURLToPath(new URL('./crowd-clients.ts', import.meta.url)));
    this.#child.on('message', (news: CrowdNews) => {
      this.news = news;
    });
    this.#child.send(order);
  }

  /** Settles when nearly all are connected, and those that read have begun to. */
  async complete(): Promise<void> {
    const { crowd, count } = this.#order;
    const isComplete = ({ connected, answered, refused }: CrowdNews) =>
      connected >= count * 0.99 && (crowd !== 'readers' || answered + refused >= count);
    for (const deadline = performance.now() + connectMsMax; !isComplete(this.news); await wait(100))
      if (performance.now() > deadline)
        throw new Error(`of ${count} ${crowd} there are only ${JSON.stringify(this.news)}`);
  }

  leave(): void {
    this.#child.kill('SIGKILL');
  }
}

/** What a crowd asks of a server. */
interface CrowdTarget {
  readonly url: string;
  readonly key: string;
  readonly listPath: string;
}

/** An organization of its own, with payment intents whose list is long. Returns its key, and the bytes of the list. */
async function seedLongList({ url, dataDir }: ServiceTarget): Promise<{ key: string; bytes: number }> {
  const key = await unlimitedKey(dataDir);
  const metadata = Object.fromEntries(
    Array.from({ length: metadataKeys }, (_, i) => [`key_${i}`, 'x'.repeat(metadataCharacters)]),
  );
  const body = JSON.stringify({ amount: 12_000, currency: 'mad', metadata });
  for (let i = 0; i < listed; i++) {
    const headers = { ...headersOf(key), 'Idempotency-Key': `long-${i}` };
    const response = await fetch(url + intentsPath, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`an intent was refused: ${await response.text()}`);
  }
  const list = await fetch(url + listPath, { headers: headersOf(key) });
  return { key, bytes: (await list.text()).length };
}

function orderOf(crowd: Crowd, count: number, { url, key, listPath }: CrowdTarget): CrowdOrder {
  const port = Number(new URL(url).port);
  if (crowd === 'idle') return { crowd, count, port, request: null, body: '' };
  if (crowd === 'readers') {
    const request = requestText(reading(key, listPath)).join('');
    return { crowd, count, port, request, body: '' };
  }
  const body = JSON.stringify({ amount: 12_000, currency: 'mad', description: 'slowly'.repeat(40) });
  const headers = Object.entries(headersOf(key)).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${intentsPath} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.join('')}Idempotency-Key: slowly\r\n`;
  return { crowd, count, port, request: `${head}Content-Length: ${body.length}\r\n\r\n`, body };
}

interface Round extends Measured {
  readonly cpuShare: number;
  readonly residentMib: number;
}

/** The requests of the ordinary clients, one kind at a time, because only creates wait for the disk. */
type Loads = Readonly<Record<'create' | 'retrieve', Load>>;
type Rounds = Record<
  keyof Loads,
  { readonly without: Round[]; readonly elsewhere: Round[]; readonly beside: Round[] }
>;
const kinds = ['create', 'retrieve'] as const;
const noRounds = () => ({ without: [], elsewhere: [], beside: [] });

async function loadsOf({ url, key }: ServiceTarget): Promise<Loads> {
  const { request } = creation(key, counted('first'));
  const made = await fetch(url + intentsPath, {
    method: 'POST',
    headers: request.headers as Record<string, string>,
    body: request.body as string,
  });
  const { id } = (await made.json()) as { id: string };
  return {
    create: { url, requests: [creation(key, counted('crowd'))] },
    retrieve: { url, requests: [reading(key, `${intentsPath}/${id}`)] },
  };
}

async function measure(service: ServiceTarget, load: Load, { rate, seconds }: Options): Promise<Round> {
  const before = service.cpuSeconds()!;
  const measured = await driveOpen(load, connections, rate, seconds);
  const cpuShare = (service.cpuSeconds()! - before) / seconds;
  return { ...measured, cpuShare, residentMib: memoryMib(service.pid, 'Rss') };
}

/** Rounds without the crowd, with the crowd elsewhere, and beside it, in turn. Prints what they show. */
async function measureBeside(
  name: string,
  service: ServiceTarget,
  loads: Loads,
  [elsewhere, beside]: readonly [CrowdTarget, CrowdTarget],
  options: Options,
): Promise<void> {
  const standing = name === 'all' ? crowds : [name as Crowd];
  const rounds: Rounds = { create: noRounds(), retrieve: noRounds() };
  let told = '';
  const measureWith = async (place: 'elsewhere' | 'beside', target: CrowdTarget) => {
    const crowd = standing.map((each) => new StandingCrowd(orderOf(each, options[each], target)));
    await Promise.all(crowd.map((each) => each.complete()));
    await wait(settleMs);
    for (const kind of kinds) rounds[kind][place].push(await measure(service, loads[kind], options));
    told = crowd.map(({ news }, i) => `${standing[i]} ${JSON.stringify(news)}`).join(', ');
    for (const each of crowd) each.leave();
    await wait(settleMs);
  };
  for (let round = 0; round < options.rounds; round++) {
    for (const kind of kinds) rounds[kind].without.push(await measure(service, loads[kind], options));
    await measureWith('elsewhere', elsewhere);
    await measureWith('beside', beside);
  }
  process.stdout.write(`beside ${name} (${told})\n`);
  for (const kind of kinds) process.stdout.write(line(kind, rounds[kind]));
}

function line(kind: string, { without, elsewhere, beside }: Rounds['create']): string {
  const all = (of: (round: Round) => number, digits: number) =>
    [without, elsewhere, beside].map((rounds) => median(rounds.map(of)).toFixed(digits)).join(' → ');
  const times = (before: readonly Round[]) =>
    median(beside.map(({ p99Ms }, i) => p99Ms / before[i]!.p99Ms)).toFixed(2);
  return (
    `${kind}, without → elsewhere → beside: p50 ${all(({ p50Ms }) => p50Ms, 2)} ms, p99 ${all(({ p99Ms }) => p99Ms, 2)} ms ` +
    `(${times(without)} times without, ${times(elsewhere)} times elsewhere, round by round), ` +
    `${all(({ cpuShare }) => 100 * cpuShare, 0)} % of a core, ${all((round) => round.residentMib, 0)} MiB\n`
  );
}

async function main(): Promise<void> {
  const options = bench('bench:crowd', 'ordinary clients beside a crowd of slow and idle ones')
    .option('--rounds <n>', 'rounds, of which the median counts', positive, 3)
    .option('--seconds <n>', 'length of a round', positive, 4)
    .option('--rate <n>', 'requests a second of the ordinary clients', positive, 1_000)
    .option(
      '--only <crowd,…>',
      'these crowds only: idle, readers, writers, all',
      (text: string) => text.split(','),
      [...crowds, 'all'],
    )
    .option('--idle <n>', 'idle connections', positive, 10_000)
    .option('--readers <n>', 'clients that take their answers slowly', positive, 1_000)
    .option('--writers <n>', 'clients that send their bodies slowly', positive, 1_000)
    .parse()
    .opts<Options>();
  const most = String(options.idle + options.readers + options.writers + 1_000);
  const service = await startService({ PAYMENTS_CONNECTIONS_MAX: most });
  const bare = await startBareServer();
  try {
    const { key, bytes } = await seedLongList(service);
    const targets = [
      { url: bare.url, key, listPath: `/${bytes}` },
      { url: service.url, key, listPath },
    ] as const;
    const loads = await loadsOf(service);
    for (const kind of kinds) await driveOpen(loads[kind], connections, options.rate, 1);
    for (const name of options.only) await measureBeside(name, service, loads, targets, options);
  } finally {
    await Promise.all([service.stop(), bare.stop()]);
  }
}

await main();
process.exit(0);
