// Divides the limit of open files. Threads, journals and operators have reserved descriptors;
// webhook attempts and connections share the rest. So a flood of connections takes no descriptor
// that another part needs.

import { callsAtOnceMax } from '../networks/call-turns.ts';
import { openLogsMax } from '../request-logs/request-logs.ts';
import type { Config } from './config-schema.ts';
import { databasesOf } from './postgresql.ts';
import { ConfigError } from './settings.ts';

/** The process itself: output, directory, audit record, and files that are open for a moment. */
const ofProcess = 32;
/** A thread's event loop. */
const ofThread = 6;
/**
 * A shard's journal: five segments, one that is created, the checkpoint (three each), and its spare
 * ones; its checkpoint thread: three segments, and its own spare ones.
 */
const ofShard = 48;
/** A shard's calls to payment networks: their connections, and a DNS query of some hosts. */
const ofCalls = callsAtOnceMax + 4;
/** Two files of each request log that is open, and two that are read. */
const ofRequestLogs = 2 * openLogsMax + 2;
/** The threads of a node: for the lease, for standing by, and the two of its links. */
const threadsOfNode = 4;
/** The links to other nodes, and connections on their way. */
const ofLinks = 16;
/** Connections to a database, besides that of each shard, and those that look for the primary. */
const ofPostgresql = 8;
/** The operators' socket and the port of the metrics. */
const ofOperators = 32;
/** A webhook attempt: its connection, which may stay open for the next one, and a DNS query. */
const ofAttempt = 2;
/** The share of the rest that connections get, unless configured. */
const connectionsShare = 3 / 4;
/**
 * The share of the connections that one address gets, unless configured: a few percent. Where that
 * is few, the address has some more, but never more than a quarter.
 */
const addressShare = 1 / 20;
const ofAddressMin = 64;
const addressShareMax = 1 / 4;
/** With fewer, the service is of no use. */
const connectionsMin = 16;
const attemptsMin = 8;
/** More connections have to be configured, because each takes memory. */
const connectionsMaxDefault = 10_000;

/** How many files the process may have open. Node raises its soft limit to the hard one. */
export function openFilesMax(): number {
  return processLimits().open_files ?? Number.MAX_SAFE_INTEGER;
}

/** The limits of the process by their names in Node's report, without unlimited ones. */
export function processLimits(): Readonly<Record<string, number>> {
  // Without this the report would make a DNS query for every connection.
  Object.assign(process.report, { excludeNetwork: true });
  const report: { userLimits?: Readonly<Record<string, { readonly soft: unknown }>> } =
    process.report.getReport();
  const { userLimits = {} } = report;
  const limits: Record<string, number> = {};
  for (const [name, { soft }] of Object.entries(userLimits))
    if (typeof soft === 'number') limits[name] = soft;
  return limits;
}

/**
 * The configuration with numbers that `openFiles` allow: connections where none are configured, and
 * fewer webhook attempts if need be. Throws `ConfigError`.
 */
export function withinOpenFiles(config: Config, shards: number, openFiles: number): Config {
  const hasRequestLogs = config.requestLogs.keptDays > 0;
  // The main thread, that of the request logs, and a thread that is being started again.
  const ofKinds = config.edges + config.webhookThreads + 2 * shards;
  const isNode = config.cluster.node !== null;
  const threads = 2 + (hasRequestLogs ? 1 : 0) + ofKinds + (isNode ? threadsOfNode : 0);
  const ofLogs = hasRequestLogs ? ofRequestLogs : 0;
  const databases = databasesOf(config).length;
  const ofOthers = databases * ofPostgresql + (databases > 0 ? shards : 0) + (isNode ? ofLinks : 0);
  const ofService = ofProcess + ofLogs + ofOperators + ofOthers;
  const reserved = ofService + ofThread * threads + (ofShard + ofCalls) * shards;
  const free = openFiles - reserved;
  const connectionsLeft = free - attemptsMin * ofAttempt;
  const configured = config.connections.max;
  const wanted = configured || connectionsMin;
  if (wanted > connectionsLeft) {
    const needed = openFiles + wanted - connectionsLeft;
    throw new ConfigError(
      configured === 0
        ? `the limit of open files is ${openFiles}, and the service needs ${needed}: raise it with "ulimit -n ${needed}"`
        : `PAYMENTS_CONNECTIONS_MAX is ${configured}, and the limit of open files (${openFiles}) leaves ${Math.max(0, connectionsLeft)}: ` +
            `raise the limit with "ulimit -n ${needed}", or set a smaller number`,
    );
  }
  const share = Math.max(connectionsMin, Math.floor(free * connectionsShare));
  const max = configured || Math.min(connectionsMaxDefault, connectionsLeft, share);
  const perAddressMax = config.connections.perAddressMax || perAddressOf(max);
  const concurrency = Math.min(config.webhooks.concurrency, Math.floor((free - max) / ofAttempt));
  return { ...config, connections: { max, perAddressMax }, webhooks: { ...config.webhooks, concurrency } };
}

function perAddressOf(max: number): number {
  return Math.ceil(Math.max(max * addressShare, Math.min(ofAddressMin, max * addressShareMax)));
}
