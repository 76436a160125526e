// `npm run bench:crowd`: what ordinary clients notice of a crowd that takes connections and hardly uses them: idle
// connections, clients that take their answers slowly, and clients that send their bodies slowly; each alone, then all.
// Ordinary clients create and retrieve payment intents at a fixed rate, each measured from when it was due. Rounds with and
// without a crowd take turns. It needs 24,000 descriptors in all: `ulimit -n 16384` or more for each process.

import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Crowd, type CrowdNews, type CrowdOrder, crowds } from './crowd-clients.ts';
import type { Load, Measured } from './load.ts';
import { driveOpen } from './open-loop.ts';
import { bench, positive } from './options.ts';
import { requestText } from './request-text.ts';
import { creation, headersOf, intentsPath, reading } from './scenarios.ts';
import { type ServiceTarget, startService, unlimitedKey } from './targets.ts';
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

/** An organization of its own, with payment intents whose list is long. Returns its key. */
async function seedLongList({ url, dataDir }: ServiceTarget): Promise<string> {
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
  return key;
}

function orderOf(crowd: Crowd, count: number, url: string, key: string): CrowdOrder {
  const port = Number(new URL(url).port);
  if (crowd === 'idle') return { crowd, count, port, request: null, body: '' };
  if (crowd === 'readers') {
    const request = requestText(reading(key, `${intentsPath}?limit=${listed}`)).join('');
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

async function measure(service: ServiceTarget, load: Load, { rate, seconds }: Options): Promise<Round> {
  const before = service.cpuSeconds()!;
  const measured = await driveOpen(load, connections, rate, seconds);
  const cpuShare = (service.cpuSeconds()! - before) / seconds;
  return { ...measured, cpuShare, residentMib: residentMib(service.pid) };
}

function residentMib(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))!;
  return Number(kib) / 1024;
}

function median(rounds: readonly Round[], of: (round: Round) => number): number {
  return rounds.map(of).sort((a, b) => a - b)[rounds.length >> 1]!;
}

function line(name: string, rounds: readonly Round[]): string {
  const figure = (of: (round: Round) => number, digits = 1) => median(rounds, of).toFixed(digits);
  const latency = `p50 ${figure((round) => round.p50Ms)} ms, p99 ${figure((round) => round.p99Ms)} ms`;
  const cost = `${figure((round) => 100 * round.cpuShare, 0)} % of a core, ${figure((round) => round.residentMib, 0)} MiB`;
  const all = rounds.map((round) => round.p99Ms.toFixed(1)).join(' ');
  return `${name}: ${latency} (p99 by round: ${all}); the service takes ${cost}\n`;
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
  const service = await startService({
    PAYMENTS_CONNECTIONS_MAX: most,
    PAYMENTS_CONNECTIONS_PER_ADDRESS_MAX: most,
  });
  try {
    const longKey = await seedLongList(service);
    const create = creation(service.key, counted('crowd'));
    const first = creation(service.key, counted('first')).request;
    const made = await fetch(service.url + intentsPath, {
      method: 'POST',
      headers: first.headers!,
      body: first.body!,
    });
    const { id } = (await made.json()) as { id: string };
    const retrieve = reading(service.key, `${intentsPath}/${id}`);
    const load = { url: service.url, requests: [create, retrieve] };
    await driveOpen(load, connections, options.rate, 2);
    for (const name of options.only) {
      const standing = name === 'all' ? crowds : [name as Crowd];
      const rounds: { without: Round[]; beside: Round[] } = { without: [], beside: [] };
      let told = '';
      for (let round = 0; round < options.rounds; round++) {
        rounds.without.push(await measure(service, load, options));
        const crowd = standing.map(
          (each) => new StandingCrowd(orderOf(each, options[each], service.url, longKey)),
        );
        await Promise.all(crowd.map((each) => each.complete()));
        await wait(settleMs);
        rounds.beside.push(await measure(service, load, options));
        told = crowd.map(({ news }, i) => `${standing[i]} ${JSON.stringify(news)}`).join(', ');
        for (const each of crowd) each.leave();
        await wait(settleMs);
      }
      process.stdout.write(line('without', rounds.without));
      process.stdout.write(line(`beside ${name}`, rounds.beside));
      const ratios = rounds.beside.map((beside, i) => beside.p99Ms / rounds.without[i]!.p99Ms);
      const ratio = ratios.sort((a, b) => a - b)[ratios.length >> 1]!;
      process.stdout.write(`${name}: p99 ${ratio.toFixed(2)} times that without (${told})\n\n`);
    }
  } finally {
    await service.stop();
  }
}

await main();
process.exit(0);
