// `npm run bench`: how many requests and payments the service takes in a second and what each costs, beside a bare
// uWebSockets.js server and beside Fastify with PostgreSQL, which takes the same steps in one transaction. The service
// runs as in production: a process of its own, every write on disk (fsync) before its answer, log level `info` (written
// to /dev/null), but with its limits raised, and it may deliver webhooks to this machine. Servers and kinds of requests
// take turns in rounds, so that what else the machine does falls on all of them alike.

import { readFileSync, writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { type GrowthStep, growthSteps, runGrowth } from './growth.ts';
import { type Idle, idleLine, measureIdle } from './idle.ts';
import { type Drive, drive } from './load.ts';
import { bench, counts, layouts, positive, someOf } from './options.ts';
import {
  type Found,
  measurePayments,
  measureRecorded,
  measureReplicated,
  measureRequests,
  measureSustained,
  type Part,
  type PartOptions,
  parts,
} from './parts.ts';
import { plot } from './plot.ts';
import { postgresPrograms } from './postgres.ts';
import { type Summary, table, threadTable } from './report.ts';
import { type Layout, measureScale, type Scaled, scaleTable } from './scale.ts';
import { driveWithWrk, isWrkInstalled } from './wrk.ts';

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly sustained: number;
  readonly connections: readonly number[];
  readonly merchants: number;
  readonly receiver: 'http' | 'https';
  readonly shards?: number;
  readonly scale: readonly Layout[];
  readonly generator?: 'wrk' | 'autocannon';
  readonly parts: readonly Part[];
  readonly only?: readonly string[];
  readonly growth: readonly number[];
  readonly days: number;
  readonly folder?: string;
  readonly steps: readonly GrowthStep[];
  readonly quick: boolean;
  readonly json: boolean;
  readonly plot?: string;
  readonly recorded: boolean;
  readonly replicated: boolean;
}

const idleSeconds = 30;
/** Short rounds would wait ten seconds each for their checkpoint. One each second costs more a request, not less. */
const quickCheckpointMs = 1_000;
/** Two busy loops beside it move no median by more than a quarter: what fails is broken. */
const collapsedAbove = 2;

/** Processor time with 64 connections: of a request as a multiple of the bare server's, of a payment of a create's. */
type Recorded = Readonly<Record<string, number>>;

function recordedOf(generator: 'wrk' | 'autocannon'): Recorded {
  const file = new URL('recorded.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Recorded>)[generator]!;
}

function readOptions(): Options {
  const given = bench('bench', 'what requests and payments cost, beside a bare server and PostgreSQL')
    .option('--parts <name,…>', `of the bench: ${parts.join(', ')}`, someOf(parts))
    .option('--seconds <n>', 'length of one round of one kind of request', positive, 5)
    .option('--rounds <n>', 'rounds, of which the median counts', positive, 3)
    .option('--sustained <n>', 'length of a sustained round, and of warming up', positive, 30)
    .option('--connections <n,…>', 'connections that send one request at a time', counts, [64])
    .option(
      '--merchants <n>',
      'merchants with an endpoint each, among whom payments take turns',
      positive,
      16,
    )
    .addOption(
      new Option('--receiver <protocol>', 'how webhooks are received')
        .choices(['http', 'https'])
        .default('https'),
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
    .option('--only <name,…>', 'of the requests these only', (text: string) => text.split(','))
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
    .option('--quick', 'one short round of requests and payments: about a minute', false)
    .option('--json', 'print JSON', false)
    .option('--plot <file>', 'write a picture of the tables, as SVG')
    .option(
      '--replicated',
      'only this: creates with the log in PostgreSQL, a primary and two standbys, beside the service alone',
      false,
    )
    .option(
      '--recorded',
      `half a minute: fail when a request or a payment costs ${collapsedAbove} times what is recorded`,
      false,
    )
    .parse()
    .opts<Omit<Options, 'parts'> & { readonly parts?: readonly Part[] }>();
  const { quick, recorded } = given;
  const wanted = { ...given, parts: given.parts ?? (quick ? ['requests', 'payment'] : parts) };
  if (!quick && !recorded) return wanted;
  return { ...wanted, seconds: 1, rounds: recorded ? 3 : 1, connections: [64] };
}

type Say = (text: string) => void;

function show(say: Say, { tables, memory }: Found): void {
  for (const { title, results } of tables) {
    const threads = (['service', 'replicated', 'postgres'] as const).map((server) =>
      threadTable(results, server),
    );
    say([title, table(results), ...threads.filter((text) => text !== '')].join('\n\n'));
    say('');
  }
  const [start, end] = [memory.startMib, memory.endMib].map((mib) => mib.toFixed(0));
  say(`anonymous memory of the service: ${start} MiB at the start, ${end} MiB at the end\n`);
}

/** Everything that was asked for, printed part by part. */
async function measureParts(options: Options, partOptions: PartOptions, say: Say): Promise<object> {
  const found: Partial<Record<Part, Found | Scaled[] | Idle>> = {};
  const isWanted = ({ name }: { name: string }) => options.only?.includes(name) ?? true;
  const measures = {
    requests: () => measureRequests(partOptions, isWanted),
    payment: () => measurePayments(partOptions),
    sustained: () => measureSustained(partOptions),
  };
  const plotted = [];
  for (const part of options.parts) {
    if (part === 'idle') {
      const idle = await measureIdle(idleSeconds);
      found.idle = idle;
      say(`${idleLine(idle)}\n`);
    } else if (part === 'scale') {
      if (partOptions.generator !== 'wrk') continue;
      found.scale = await scale(partOptions.driver, options);
      say(`${scaleTable(found.scale)}\n`);
    } else {
      const measured = await measures[part]();
      found[part] = measured;
      plotted.push(...measured.tables);
      show(say, measured);
    }
  }
  if (options.plot) writeFileSync(options.plot, plot(plotted));
  return found;
}

/** With one connection count, the largest, which keeps several shards busy. */
function scale(driver: Drive, { scale: sizes, connections, rounds, seconds }: Options): Promise<Scaled[]> {
  return measureScale(sizes, driver, { connections: Math.max(...connections), rounds, seconds });
}

async function main(): Promise<void> {
  const options = readOptions();
  const { quick, recorded, json } = options;
  const say: Say = (text) => void (json || process.stdout.write(`${text}\n`));
  const generator = options.generator ?? ((await isWrkInstalled()) ? 'wrk' : 'autocannon');
  const driver = generator === 'wrk' ? driveWithWrk : drive;
  if (options.growth.length > 0) return grow(options, driver, say);
  const partOptions: PartOptions = {
    ...options,
    generator,
    driver,
    checkpointMs: quick || recorded ? quickCheckpointMs : null,
    isBrief: quick || recorded,
    hasPostgres: !recorded,
  };
  if (!recorded && postgresPrograms() === null)
    say('PostgreSQL is not installed: the comparison with it is left out.');
  if (recorded) {
    const known = recordedOf(generator);
    const isWanted = ({ name, server }: { name: string; server: string }) =>
      server === 'bare' ? name !== 'list' : name in known;
    const found = await measureRecorded(partOptions, isWanted);
    show(say, found);
    refuseCollapse(known, found.tables[0]!.results);
    if (json) process.stdout.write(`${JSON.stringify({ generator, recorded: found })}\n`);
    return;
  }
  if (options.replicated) {
    const found = await measureReplicated(partOptions);
    show(say, found);
    if (json) process.stdout.write(`${JSON.stringify({ generator, replicated: found })}\n`);
    return;
  }
  const { seconds, rounds } = options;
  const found = await measureParts(options, partOptions, say);
  if (json) process.stdout.write(`${JSON.stringify({ generator, seconds, rounds, ...found })}\n`);
}

async function grow(options: Options, driver: Drive, say: Say): Promise<void> {
  const connections = Math.min(...options.connections);
  const found = await runGrowth({ ...options, folder: options.folder ?? null, connections }, driver, say);
  if (options.json) process.stdout.write(`${JSON.stringify({ growth: found })}\n`);
}

function refuseCollapse(recorded: Recorded, results: readonly Summary[]): void {
  for (const { name, server, cpuOverBare, cpuOverCreate } of results) {
    const multiple = server === 'service' ? recorded[name] : undefined;
    const found = cpuOverCreate ?? cpuOverBare;
    if (multiple === undefined || found === null || found <= multiple * collapsedAbove) continue;
    const what = cpuOverCreate === null ? "the bare server's processor time" : "a create's processor time";
    process.stderr.write(`${name}: ${found.toFixed(1)} times ${what}, where ${multiple} is recorded\n`);
    process.exitCode = 1;
  }
}

await main();
