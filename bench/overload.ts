// `npm run bench:overload`: the service beyond what it can do. Saturation is what 256 connections get that send one create at a
// time. Then a multiple of it becomes due in an open loop (flood-clients.ts says how it is bounded), by some merchants, while
// an ordinary client of another one creates a payment intent now and then. What the service can't do it refuses with 503; the
// answered rest is the goodput. With `--stall`, the disk stops instead (overload-stall.ts).

import { setTimeout as wait } from 'node:timers/promises';
import { countOf, creates, Flood } from './flood.ts';
import type { FloodResult, Quantiles } from './flood-clients.ts';
import { memoryMib } from './memory.ts';
import { bench, positive } from './options.ts';
import { type Noticed, OrdinaryClient } from './ordinary-client.ts';
import { stall, stallTable } from './overload-stall.ts';
import type { ThreadSeconds } from './processor-time.ts';
import { aligned } from './report.ts';
import { type ServiceTarget, startService, unlimitedKey } from './targets.ts';
import { timeNow } from './time.ts';

interface Options {
  readonly seconds: number;
  readonly times: number;
  readonly connections: number;
  readonly saturation: number;
  readonly merchants: number;
  readonly stall?: number;
  readonly rate: number;
  readonly json: boolean;
}

/** What a load got, and what it cost. */
interface Phase {
  readonly answeredPerSecond: number;
  readonly refusedPerSecond: number;
  readonly answered: Quantiles | null;
  /** Cores that the service's threads used, and the clients. */
  readonly cores: ThreadSeconds;
}

interface Overload extends Phase {
  readonly saturation: Phase;
  /** The same once more when all is over. */
  readonly saturationAfter: Phase;
  readonly seconds: number;
  readonly wantedPerSecond: number;
  /** What was really written, of what was due. */
  readonly offeredPerSecond: number;
  /** How late that was. */
  readonly lateness: Quantiles | null;
  /** What was answered, as a share of saturation. */
  readonly goodput: number;
  readonly refused: Quantiles | null;
  readonly failed: number;
  readonly odd: string | null;
  /** Memory of the service that no file backs. */
  readonly mib: { readonly start: number; readonly middle: number; readonly end: number };
  readonly ordinary: {
    readonly before: Noticed;
    readonly during: Noticed;
    readonly backAfterMs: number | null;
  };
  /** From the end of the load until the last answer to it. */
  readonly drainedAfterMs: number;
}

/** The name of their processor time. */
const clients = 'the clients';
const saturatingConnections = 256;
const warmUpSeconds = 4;
const usualMs = 3_000;
const afterMs = 5_000;
const patienceMs = 30_000;
const shownCoresMin = 0.01;

type Keys = readonly string[];

async function saturate(service: ServiceTarget, keys: Keys, prefix: string, seconds: number): Promise<Phase> {
  const asked = { connections: saturatingConnections, seconds, perSecond: null, patienceMs };
  const flood = await Flood.connect(creates(service.url, keys, prefix, asked));
  const before = await service.threads();
  const result = await flood.run();
  if (countOf(result, 'answered') < result.fates.length)
    throw new Error(`a create was not answered: ${result.odd ?? 'no answer in time'}`);
  return phaseOf(result, before, await service.threads());
}

function phaseOf(result: FloodResult, before: ThreadSeconds, after: ThreadSeconds): Phase {
  const seconds = (result.endedAt - result.startedAt) / 1_000;
  const threads = Object.entries(after).map(([name, used]) => [name, (used - (before[name] ?? 0)) / seconds]);
  return {
    answeredPerSecond: result.answeredInTime / seconds,
    refusedPerSecond: countOf(result, 'refused') / seconds,
    answered: result.answered,
    cores: { ...Object.fromEntries(threads), [clients]: result.cpuSeconds / seconds },
  };
}

async function overload(service: ServiceTarget, options: Options): Promise<Overload> {
  const { seconds, times, connections } = options;
  const keys = [service.key];
  while (keys.length < options.merchants) keys.push(await unlimitedKey(service.dataDir));
  await saturate(service, keys, 'warm', warmUpSeconds);
  const saturation = await saturate(service, keys, 'full', options.saturation);
  const client = new OrdinaryClient(service.url, await unlimitedKey(service.dataDir));
  const wantedPerSecond = saturation.answeredPerSecond * times;
  const asked = { connections, seconds, perSecond: wantedPerSecond, patienceMs };
  await wait(usualMs);
  const usualUntil = timeNow();
  const flood = await Flood.connect(creates(service.url, keys, 'load', asked));
  const mib = { start: memoryMib(service.pid, 'Anonymous'), middle: 0, end: 0 };
  const threadsBefore = await service.threads();
  const running = flood.run();
  await wait(seconds * 500);
  mib.middle = memoryMib(service.pid, 'Anonymous');
  await wait(seconds * 500);
  mib.end = memoryMib(service.pid, 'Anonymous');
  const threadsAfter = await service.threads();
  const result = await running;
  await wait(Math.max(0, result.endedAt + afterMs - timeNow()));
  client.leave();
  const before = client.noticed(usualUntil - usualMs, usualUntil);
  const phase = phaseOf(result, threadsBefore, threadsAfter);
  return {
    ...phase,
    saturation,
    saturationAfter: await saturate(service, keys, 'over', options.saturation),
    seconds,
    wantedPerSecond,
    offeredPerSecond: (result.fates.length - countOf(result, 'leftOut')) / seconds,
    lateness: result.lateness,
    goodput: phase.answeredPerSecond / saturation.answeredPerSecond,
    refused: result.refused,
    failed: countOf(result, 'failed') + countOf(result, 'abandoned'),
    odd: result.odd,
    mib,
    ordinary: {
      before,
      during: client.noticed(result.startedAt, result.endedAt),
      backAfterMs: client.backAfterMs(result.endedAt, before),
    },
    drainedAfterMs: Math.max(0, result.lastAnswerAt - result.endedAt),
  };
}

function overloadTable(found: Overload): string {
  const { saturation, saturationAfter, ordinary, mib, odd } = found;
  const row = (name: string, perSecond: number, quantiles: Quantiles | null = null) => [
    name,
    Math.round(perSecond).toLocaleString('en'),
    ...(quantiles === null ? ['', ''] : [quantiles.p50Ms.toFixed(1), quantiles.p99Ms.toFixed(1)]),
  ];
  const noticed = (name: string, { p50Ms, p99Ms, refused, count }: Noticed) => [
    name,
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    `${refused} of ${count}`,
  ];
  const back = ordinary.backAfterMs === null ? 'not yet' : `${ordinary.backAfterMs.toFixed(0)} ms`;
  return [
    aligned([
      [`${found.seconds} s of creates`, 'a second', 'p50 ms', 'p99 ms'],
      row(
        `saturation (${saturatingConnections} connections)`,
        saturation.answeredPerSecond,
        saturation.answered,
      ),
      row('overload: due', found.wantedPerSecond),
      row('overload: written, so late', found.offeredPerSecond, found.lateness),
      row('overload: answered', found.answeredPerSecond, found.answered),
      row('overload: refused', found.refusedPerSecond, found.refused),
      row('saturation afterwards', saturationAfter.answeredPerSecond, saturationAfter.answered),
    ]),
    `answered in the overload: ${found.goodput.toFixed(2)} of saturation`,
    `memory of the service that no file backs, MiB: start ${mib.start.toFixed(0)}, middle ${mib.middle.toFixed(0)}, end ${mib.end.toFixed(0)}`,
    aligned([
      ['an ordinary client', 'p50 ms', 'p99 ms', 'refused'],
      noticed('before', ordinary.before),
      noticed('during', ordinary.during),
    ]),
    `its latency is back after the load: ${back}; the last answer to the load: ${found.drainedAfterMs.toFixed(0)} ms after it`,
    ...costLines(found),
    coresTable(found),
    ...(found.failed > 0 ? [`failed: ${found.failed}, such as ${odd ?? 'no answer in time'}`] : []),
    '',
  ].join('\n');
}

/** The processor time that the service takes for a create in microseconds: at saturation, and a refused one, which is the rest. */
function costs({ saturation, ...during }: Overload): { answered: number; refused: number } {
  const answered = (serviceCores(saturation) / saturation.answeredPerSecond) * 1e6;
  const rest = serviceCores(during) * 1e6 - during.answeredPerSecond * answered;
  return { answered, refused: rest / during.refusedPerSecond };
}

/** What the service's threads used together. What the collector stopped them for is part of it. */
function serviceCores({ cores }: Pick<Phase, 'cores'>): number {
  const used = Object.entries(cores).filter(([name]) => name !== clients && !name.endsWith(' gc'));
  return used.reduce((sum, [, seconds]) => sum + seconds, 0);
}

function costLines(found: Overload): string[] {
  const { answered, refused } = costs(found);
  const perCore = (phase: Pick<Phase, 'cores' | 'answeredPerSecond'>) =>
    phase.answeredPerSecond / serviceCores(phase);
  const share = perCore(found) / perCore(found.saturation);
  return [
    `answered for each second of the service's processor time: ${share.toFixed(2)} of saturation`,
    `processor time of the service: ${answered.toFixed(1)} µs a create, ${refused.toFixed(1)} µs a refused one`,
  ];
}

function coresTable({ cores, saturation }: Overload): string {
  const names = Object.keys(cores).filter((name) => cores[name]! + saturation.cores[name]! >= shownCoresMin);
  const row = (title: string, of: ThreadSeconds) => [
    title,
    ...names.map((name) => (of[name] ?? 0).toFixed(2)),
  ];
  return aligned([['cores used', ...names], row('saturation', saturation.cores), row('overload', cores)]);
}

async function main(): Promise<void> {
  const options = bench('bench:overload', 'the service beyond what it can do, or with a disk that stops')
    .option('--seconds <n>', 'length of the overload', positive, 60)
    .option('--times <n>', 'how many times saturation is asked', positive, 3)
    .option('--connections <n>', 'of the overload: more than can wait in the service', positive, 8_192)
    .option('--saturation <n>', 'seconds in which saturation is measured', positive, 5)
    .option('--merchants <n>', 'who ask in turn, besides the ordinary client', positive, 16)
    .option('--stall <seconds>', 'instead: the disk stops for so long', positive)
    .option('--rate <n>', 'creates, and retrieves, a second while the disk stops', positive, 500)
    .option('--json', 'print JSON', false)
    .parse()
    .opts<Options>();
  const env = { PAYMENTS_CONNECTIONS_MAX: String(options.connections + 1_000) };
  const print = <T>(found: T, table: (found: T) => string) =>
    process.stdout.write(options.json ? `${JSON.stringify(found)}\n` : table(found));
  if (options.stall !== undefined) {
    print(await stall(env, options.stall, options.rate), stallTable);
    return;
  }
  const service = await startService(env);
  try {
    print(await overload(service, options), overloadTable);
  } finally {
    await service.stop();
  }
}

await main();
process.exit(0);
