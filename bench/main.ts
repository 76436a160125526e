// `npm run bench`: how many requests the service answers in a second and what each costs, beside a bare
// uWebSockets.js server and beside Fastify with PostgreSQL, which takes the same steps in one transaction. The service
// runs as in production: a process of its own, every write on disk (fsync) before its answer, log level `info` (written
// to /dev/null), but with its limits raised, and it may deliver webhooks to this machine. Servers and kinds of requests
// take turns in short rounds, so that what else the machine does falls on all of them alike.

import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Option } from 'commander';
import { type GrowthStep, growthSteps, runGrowth } from './growth.ts';
import { type Drive, drive, type Measured } from './load.ts';
import { driveOpen } from './open-loop.ts';
import { bench, counts, layouts, positive, someOf } from './options.ts';
import { plot } from './plot.ts';
import { postgresPrograms, startPostgres } from './postgres.ts';
import type { ThreadSeconds } from './processor-time.ts';
import { deliveringLocally, Receiver } from './receiver.ts';
import { type Round, type Summary, summarize, table, threadTable } from './report.ts';
import { type Layout, measureScale, type Scaled, scaleTable } from './scale.ts';
import { type Scenario, scenariosOf } from './scenarios.ts';
import { type ServiceTarget, startBareServer, startService } from './targets.ts';
import { driveWithWrk, isWrkInstalled } from './wrk.ts';

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: readonly number[];
  readonly shards?: number;
  readonly scale: readonly Layout[];
  readonly generator?: 'wrk' | 'autocannon';
  readonly only?: readonly string[];
  readonly growth: readonly number[];
  readonly days: number;
  readonly folder?: string;
  readonly steps: readonly GrowthStep[];
  readonly quick: boolean;
  readonly json: boolean;
  readonly plot?: string;
  readonly recorded: boolean;
}

/** V8 compiles meanwhile: some seconds of requests, or so many where a server is fast. */
const warmUpRequests = 50_000;
const warmUpSecondsMax = 4;
const shortWarmUpSeconds = 1;
const openLoopShare = 0.5;
const checkpointMs = 12_000;
/** Two busy loops beside it move no median by more than a quarter: what fails is broken. */
const collapsedAbove = 2;

/** Processor time of a request as a multiple of the bare server's, at 64 connections. */
type Recorded = Readonly<Record<string, number>>;

function recordedOf(generator: 'wrk' | 'autocannon'): Recorded {
  const file = new URL('recorded.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Recorded>)[generator]!;
}

function readOptions(): Options {
  const given = bench('bench', 'requests a second and what they cost, beside a bare server and PostgreSQL')
    .option('--seconds <n>', 'length of one round of one kind of request', positive, 2)
    .option('--rounds <n>', 'rounds, of which the median counts', positive, 5)
    .option(
      '--connections <n,…>',
      'connections that send one request at a time: a table each',
      counts,
      [64, 256],
    )
    .option('--shards <n>', 'shard threads of the service', positive)
    .option(
      '--scale <edges x shards,…>',
      'services of these sizes beside each other',
      layouts,
      [1, 2, 4].map((shards) => ({ edges: 1, shards })),
    )
    .addOption(
      new Option('--generator <name>', 'wrk where it is installed, unless told otherwise').choices([
        'wrk',
        'autocannon',
      ]),
    )
    .option('--only <name,…>', 'these scenarios only', (text: string) => text.split(','))
    .option(
      '--growth <n,…>',
      'only this: start, lists, creates and a backup when so many payment intents are stored',
      counts,
      [],
    )
    .option('--days <n>', 'over how many days those were created', positive, 30)
    .option('--folder <path>', 'a new folder where the filled data folder is kept, or one that was kept')
    .option('--steps <name,…>', `of the growth: ${growthSteps.join(', ')}`, someOf(growthSteps), [
      ...growthSteps,
    ])
    .option('--quick', 'one short round of everything: under a minute', false)
    .option('--json', 'print JSON', false)
    .option('--plot <file>', 'write a picture of the tables, as SVG')
    .option(
      '--recorded',
      `half a minute: fail when a request costs ${collapsedAbove} times what is recorded`,
      false,
    )
    .parse()
    .opts<Options>();
  if (given.recorded) return { ...given, seconds: 1, rounds: 3, connections: [64] };
  return given.quick ? { ...given, seconds: 1, rounds: 1, connections: [64] } : given;
}

type Generate = (scenario: Scenario, connections: number, seconds: number) => Promise<Measured>;

/** Each scenario warms up; then they take turns, round by round. */
async function series(
  scenarios: readonly Scenario[],
  service: ServiceTarget,
  generate: Generate,
  connections: number,
  { rounds, seconds, quick }: Options,
): Promise<Summary[]> {
  for (const scenario of scenarios) {
    // What leaves work behind is warm by one second.
    const secondsMax = quick || scenario.settled !== undefined ? shortWarmUpSeconds : warmUpSecondsMax;
    let [answered, elapsed] = [0, 0];
    for (; answered < warmUpRequests && elapsed < secondsMax; elapsed++)
      answered += (await generate(scenario, connections, 1)).requests;
    await scenario.settled?.();
  }
  const rows = scenarios.map(({ name, server }) => ({ name, server, rounds: [] as Round[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [i, scenario] of scenarios.entries()) {
      rows[i]!.rounds.push(await measure(scenario, service, () => generate(scenario, connections, seconds)));
    }
  }
  return summarize(rows);
}

async function measure(
  { server, target, settled }: Scenario,
  service: ServiceTarget,
  generate: () => Promise<Measured>,
): Promise<Round> {
  const threadsOf = () => (server === 'service' ? service.threads() : null);
  const threadsBefore = await threadsOf();
  const before = target.cpuSeconds();
  const measured = await generate();
  await settled?.();
  const after = target.cpuSeconds();
  const threadsAfter = await threadsOf();
  const each = (seconds: number) => (seconds * 1e6) / measured.requests;
  return {
    ...measured,
    cpuMicroseconds: before === null || after === null ? null : each(after - before),
    threads: threadsBefore && threadsAfter && difference(threadsBefore, threadsAfter, each),
  };
}

function difference(
  before: ThreadSeconds,
  after: ThreadSeconds,
  each: (seconds: number) => number,
): ThreadSeconds {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, each(value - (before[name] ?? 0))]),
  );
}

interface OpenLoop extends Measured {
  readonly connections: number;
}

/** Creates at half of what the closed loop has found, with latency from when each was due. */
function openLoop(
  create: Scenario,
  results: readonly Summary[],
  connections: number,
  { seconds, quick }: Options,
): Promise<OpenLoop> {
  const { requestsPerSecond } = results.find(
    ({ name, server }) => name === 'create' && server === 'service',
  )!;
  const perSecond = requestsPerSecond * openLoopShare;
  return driveOpen(create.load, connections, perSecond, quick ? 2 : Math.max(seconds, 5)).then(
    (measured) => ({
      ...measured,
      connections,
    }),
  );
}

/** What a create takes on the disk, log and checkpoint together, once a checkpoint was written. */
async function bytesEach(create: Scenario, service: ServiceTarget, generate: Generate): Promise<number> {
  const before = service.bytes();
  const { requests } = await generate(create, 64, 5);
  await wait(checkpointMs);
  return (service.bytes() - before) / requests;
}

/** With one connection count, the largest, which keeps several shards busy. */
function scale(driver: Drive, { scale: sizes, connections, rounds, seconds }: Options): Promise<Scaled[]> {
  return measureScale(sizes, driver, { connections: Math.max(...connections), rounds, seconds });
}

async function main(): Promise<void> {
  const options = readOptions();
  const say = (text: string) => options.json || process.stdout.write(`${text}\n`);
  const hasWrk = await isWrkInstalled();
  const name = options.generator ?? (hasWrk ? 'wrk' : 'autocannon');
  const recorded = recordedOf(name);
  const driver = name === 'wrk' ? driveWithWrk : drive;
  if (options.growth.length > 0) return grow(options, driver, say);
  const generate: Generate = ({ load }, connections, seconds) => driver(load, connections, seconds);
  const shards = { PAYMENTS_SHARDS: String(options.shards ?? 0) };
  const service = await startService({ ...deliveringLocally, ...shards });
  const receiver = await Receiver.start();
  const bare = await startBareServer();
  const programs = options.recorded ? null : postgresPrograms();
  const postgres = programs === null ? null : await startPostgres(programs);
  try {
    if (postgres === null && !options.recorded)
      say('PostgreSQL is not installed: the comparison with it is left out.');
    const all = await scenariosOf({ service, receiver, bare, postgres });
    const scenarios = all
      .filter((scenario) => name === 'wrk' || scenario.load.requests.length === 1)
      .filter((scenario) => (options.recorded ? scenario.name in recorded : true))
      .filter((scenario) => options.only?.includes(scenario.name) ?? true);
    const create = all.find((scenario) => scenario.name === 'create' && scenario.server === 'service')!;
    const tables = [];
    for (const connections of options.connections) {
      const results = await series(scenarios, service, generate, connections, options);
      const atHalf =
        scenarios.includes(create) && !options.recorded
          ? await openLoop(create, results, connections, options)
          : null;
      tables.push({ connections, results, atHalf });
      say(`${connections} connections, ${name}\n\n${table(results)}\n\n${threadTable(results)}\n`);
      if (atHalf !== null) say(openLoopLine(atHalf));
    }
    const bytes =
      options.quick || options.recorded ? null : Math.round(await bytesEach(create, service, generate));
    if (bytes !== null) say(`bytes on disk a create, log and checkpoint: ${bytes.toLocaleString('en')}\n`);
    const isScaled = !options.quick && !options.recorded && (options.only?.includes('scale') ?? true);
    const scaled = isScaled && name === 'wrk' ? await scale(driver, options) : [];
    if (scaled.length > 0) say(`${scaleTable(scaled)}\n`);
    if (options.plot) {
      writeFileSync(
        options.plot,
        plot(tables.map(({ connections, results }) => ({ title: `${connections} connections`, results }))),
      );
    }
    const { seconds, rounds } = options;
    const shown = {
      generator: name,
      seconds,
      rounds,
      tables,
      bytesOnDiskACreate: bytes,
      scaled,
    };
    if (options.json) process.stdout.write(`${JSON.stringify(shown)}\n`);
    if (options.recorded) refuseCollapse(recorded, tables[0]!.results);
  } finally {
    receiver.stop();
    await Promise.all([service.stop(), bare.stop(), postgres?.stop()]);
  }
}

async function grow(options: Options, driver: Drive, say: (text: string) => unknown): Promise<void> {
  const connections = Math.min(...options.connections);
  const found = await runGrowth({ ...options, folder: options.folder ?? null, connections }, driver, say);
  if (options.json) process.stdout.write(`${JSON.stringify({ growth: found })}\n`);
}

function refuseCollapse(recorded: Recorded, results: readonly Summary[]): void {
  for (const { name, server, cpuOverBare } of results) {
    const multiple = server === 'service' ? recorded[name] : undefined;
    if (multiple === undefined || cpuOverBare === null || cpuOverBare <= multiple * collapsedAbove) continue;
    const found = cpuOverBare.toFixed(1);
    process.stderr.write(
      `${name}: ${found} times the bare server's processor time, where ${multiple} is recorded\n`,
    );
    process.exitCode = 1;
  }
}

function openLoopLine({ requestsPerSecond, p50Ms, p99Ms, p999Ms }: OpenLoop): string {
  const rate = Math.round(requestsPerSecond).toLocaleString('en');
  return `creates at half of that, ${rate}/s, from when each was due: p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, p99.9 ${p999Ms.toFixed(2)} ms\n`;
}

await main();
