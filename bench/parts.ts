// The parts of `npm run bench`, each with servers of its own: single requests, whole payments, and creates for a long
// time. Payments and creates are measured as fast as the servers take them, and then at half of that.

import { PostgresServers } from '../test/postgresql/servers.ts';
import type { Drive } from './load.ts';
import { memoryMib } from './memory.ts';
import { eventsOfPayment } from './payment-flow.ts';
import { postgresPrograms, startFastify, startPostgres } from './postgres.ts';
import { deliveringLocally, Receiver } from './receiver.ts';
import type { Summary } from './report.ts';
import { paymentScenarios, requestScenarios, type Scenario, type Servers } from './scenarios.ts';
import { runInTurns } from './series.ts';
import { startBareServer, startService } from './targets.ts';

export const parts = ['requests', 'payment', 'sustained', 'scale', 'idle'] as const;
export type Part = (typeof parts)[number];

export interface PartOptions {
  readonly generator: 'wrk' | 'autocannon';
  readonly driver: Drive;
  readonly rounds: number;
  readonly seconds: number;
  readonly sustained: number;
  readonly connections: readonly number[];
  readonly merchants: number;
  readonly receiver: 'http' | 'https';
  readonly shards?: number;
  /** In place of the service's own time between two checkpoints, for rounds that are short. */
  readonly checkpointMs: number | null;
  readonly hasPostgres: boolean;
  /** Without the half of what is found. */
  readonly isBrief: boolean;
}

interface Table {
  readonly title: string;
  readonly results: readonly Summary[];
}

export interface Found {
  readonly tables: readonly Table[];
  /** Anonymous memory of the service. */
  readonly memory: { readonly startMib: number; readonly endMib: number };
}

const warmUpSeconds = 3;
/** What payments run through is compiled later, because fewer of them are made in a second. */
const paymentWarmUpSeconds = 10;
const half = 0.5;
/** Windows in which a rate is asked of a server. A tail needs some time to show. */
const pacedSeconds = 10;

/** Starts all servers for a part, and ends them with it. */
async function withServers(
  options: PartOptions,
  measure: (servers: Servers) => Promise<Table[]>,
): Promise<Found> {
  const { shards, checkpointMs, hasPostgres } = options;
  const service = await startService({
    ...deliveringLocally,
    PAYMENTS_SHARDS: String(shards ?? 0),
    ...(checkpointMs !== null && { PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: String(checkpointMs) }),
  });
  const receiver = await Receiver.start(options.receiver, 0);
  const bare = await startBareServer();
  const programs = hasPostgres ? postgresPrograms() : null;
  const postgres = programs === null ? null : await startPostgres(programs);
  try {
    const startMib = memoryMib(service.pid, 'Anonymous');
    const tables = await measure({ service, receiver, bare, postgres });
    return { tables, memory: { startMib, endMib: memoryMib(service.pid, 'Anonymous') } };
  } finally {
    receiver.stop();
    await Promise.all([service.stop(), bare.stop(), postgres?.stop()]);
  }
}

/** The same scenarios at half of the rate that was found for each, which says nothing of how much they can do. */
async function atHalf(
  scenarios: readonly Scenario[],
  results: readonly Summary[],
  { connections, rounds, isBrief }: { connections: number; rounds: number; isBrief: boolean },
): Promise<Table[]> {
  if (isBrief) return [];
  const rateOf = ({ name, server }: Scenario) =>
    results.find((each) => each.name === name && each.server === server)!.requestsPerSecond * half;
  const turns = { connections, rounds, seconds: pacedSeconds, warmUpSeconds: 0, rateOf };
  const found = await runInTurns(scenarios, turns);
  const title = `half of that, ${connections} connections, latency from when each was due`;
  return [{ title, results: found.map((each) => ({ ...each, overPostgres: null, ofService: null })) }];
}

export async function measureRequests(
  options: PartOptions,
  isWanted: (scenario: Scenario) => boolean,
): Promise<Found> {
  const { driver, generator, rounds, seconds } = options;
  return withServers(options, async (servers) => {
    const all = await requestScenarios(servers, driver, generator === 'wrk');
    const scenarios = all.filter(isWanted);
    const tables: Table[] = [];
    for (const connections of options.connections) {
      const turns = { connections, rounds, seconds, warmUpSeconds };
      const title = `requests, ${connections} connections, ${generator}`;
      tables.push({ title, results: await runInTurns(scenarios, turns) });
    }
    return tables;
  });
}

export async function measurePayments(options: PartOptions): Promise<Found> {
  const { rounds, seconds, merchants } = options;
  const connections = options.connections[0]!;
  return withServers(options, async (servers) => {
    const scenarios = await paymentScenarios(servers, merchants);
    const warmUp = options.isBrief ? warmUpSeconds : paymentWarmUpSeconds;
    const turns = { connections, rounds, seconds, warmUpSeconds: warmUp };
    const results = await runInTurns(scenarios, turns);
    const title = `payments, ${connections} connections; with endpoints (${options.receiver}) until all is delivered`;
    const delivering = scenarios.filter(({ name }) => name !== 'payment');
    return [
      { title, results: results.map((each) => withDeliveryCost(each, results)) },
      ...(await atHalf(delivering, results, { ...options, connections })),
    ];
  });
}

/** What a delivery adds to the processor time of a payment without an endpoint. */
function withDeliveryCost(summary: Summary, all: readonly Summary[]): Summary {
  const { name, server, cpuMicroseconds, figures } = summary;
  const alone = all.find((each) => each.name === 'payment' && each.server === server)?.cpuMicroseconds;
  if (name === 'payment' || cpuMicroseconds === null || alone == null) return summary;
  const each = (cpuMicroseconds - alone) / eventsOfPayment;
  return { ...summary, figures: { ...figures, 'CPU µs a delivery': each } };
}

/** Creates for as long as a side takes to be warm, and several times as long after that. */
export async function measureSustained(options: PartOptions): Promise<Found> {
  const { driver, generator, rounds, sustained: seconds } = options;
  const connections = options.connections[0]!;
  return withServers(options, async (servers) => {
    const all = await requestScenarios(servers, driver, false);
    const scenarios = all.filter(({ name }) => name === 'create');
    const turns = { connections, rounds, seconds, warmUpSeconds: seconds };
    const results = await runInTurns(scenarios, turns);
    const title = `sustained: rounds of ${seconds} s after ${seconds} s, ${connections} connections, ${generator}`;
    const paced = scenarios.filter(({ server }) => server !== 'bare');
    return [{ title, results }, ...(await atHalf(paced, results, { ...options, connections }))];
  });
}

/**
 * Creates of the service alone, of one whose log a primary and two standbys hold, too, and of Fastify on the same three:
 * as fast as they take them, and at half of that. The processor time is that of the servers without PostgreSQL's.
 */
export async function measureReplicated(options: PartOptions): Promise<Found> {
  const { driver, generator, rounds, seconds } = options;
  const connections = options.connections[0]!;
  const cluster = new PostgresServers();
  try {
    await cluster.start(2);
    const primary = cluster.all[0]!;
    await primary.query('create database bench');
    const journal = { PAYMENTS_JOURNAL_URL: cluster.url };
    const replicated = await startService({
      ...deliveringLocally,
      ...journal,
      PAYMENTS_SHARDS: String(options.shards ?? 0),
    });
    const postgres = await startFastify(`postgres://postgres@127.0.0.1:${primary.port}/bench`, {});
    try {
      return await withServers({ ...options, hasPostgres: false }, async (servers) => {
        const all = await requestScenarios({ ...servers, replicated, postgres }, driver, false);
        const scenarios = all.filter(({ name }) => name === 'create');
        const turns = { connections, rounds, seconds, warmUpSeconds };
        const results = await runInTurns(scenarios, turns);
        const title = `creates, ${connections} connections, ${generator}; a primary and two standbys on this machine`;
        const paced = scenarios.filter(({ server }) => server !== 'bare');
        return [{ title, results }, ...(await atHalf(paced, results, { ...options, connections }))];
      });
    } finally {
      await Promise.all([replicated.stop(), postgres.stop()]);
    }
  } finally {
    await cluster.stop();
  }
}

/** What is recorded: requests and payments beside the bare server, which is all that is the same on every machine. */
export async function measureRecorded(
  options: PartOptions,
  isWanted: (scenario: Scenario) => boolean,
): Promise<Found> {
  const { driver, rounds, seconds, merchants } = options;
  const connections = options.connections[0]!;
  return withServers(options, async (servers) => {
    const requests = await requestScenarios(servers, driver, false);
    const scenarios = [...requests, ...(await paymentScenarios(servers, merchants))].filter(isWanted);
    const results = await runInTurns(scenarios, { connections, rounds, seconds, warmUpSeconds: 1 });
    return [{ title: `beside the bare server, ${options.generator}`, results }];
  });
}
