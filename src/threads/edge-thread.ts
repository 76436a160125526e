// The entry of an edge's thread: listens, knows the keys, and holds a client for every shard.

import { randomBytes, randomFillSync } from 'node:crypto';
import type { Config } from '../config/config-schema.ts';
import { idPrefixes } from '../contract/id-prefixes.ts';
import { elementAt } from '../core/assert.ts';
import { errorText } from '../core/errors.ts';
import { createIdFactory, createRandomText } from '../core/ids.ts';
import { dashboardAssets } from '../dashboard/layout/document.ts';
import { createCookies } from '../dashboard/people/cookies.ts';
import { type Answered, Api } from '../edge/api/api.ts';
import { KeyRing } from '../edge/api/authenticate.ts';
import { EventStreams } from '../edge/api/event-stream.ts';
import { loggablePath } from '../edge/api/loggable.ts';
import { RefusedKeys } from '../edge/api/refused-keys.ts';
import { UsedKeys } from '../edge/api/used-keys.ts';
import { createPagePort } from '../edge/checkout/page-visits.ts';
import { CheckoutPages } from '../edge/checkout/pages.ts';
import { DashboardPort } from '../edge/dashboard/dashboard-port.ts';
import { DashboardVisits } from '../edge/dashboard/dashboard-visits.ts';
import { KnownSessions } from '../edge/dashboard/known-sessions.ts';
import { docsStyle } from '../edge/docs/style.ts';
import { createClientAddressText } from '../edge/http/client-address.ts';
import { HeldBytes } from '../edge/http/held-bytes.ts';
import { listen, type Server, type TlsFiles } from '../edge/http/server.ts';
import { createCallers, createVisitors } from '../edge/http/visitors.ts';
import { createSite } from '../edge/site.ts';
import { pageAssets } from '../html/assets.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import { askNoLogs } from '../request-logs/client.ts';
import { type Answers, answerQuestion } from '../rpc/questions.ts';
import { ShardClient } from '../shard/client.ts';
import { clientBounds, memoryShares } from '../shard/memory.ts';
import { LogLimit } from '../telemetry/log-limit.ts';
import { countAdmission, countLostEntries, createEdgeMetrics } from '../telemetry/metrics.ts';
import { createRequestLine } from '../telemetry/request-line.ts';
import { systemClocks, trustClocks } from '../telemetry/system-clocks.ts';
import { Newest } from './connect-threads.ts';
import { createEdgeConnections } from './edge-connections.ts';
import { simulatorOf } from './networks.ts';
import { createRequestLogClient } from './request-log-client.ts';
import type { Connected, EdgeThreadData, Instruction, ThreadQuestions } from './thread-protocol.ts';
import { commonAnswers, startOfThread } from './thread-side.ts';
import { observeThread } from './thread-telemetry.ts';
import { Visits } from './visits.ts';

const { data, main, tell } = await startOfThread<EdgeThreadData>();
const { number, config, port, shards: shardCount, edges, baseUrl, keys, listenKey, paused } = data;
const thread = `edge-${number}`;
const { logger, registry } = await observeThread(config, thread);
const logLine = createRequestLine(logger, thread);
const metrics = createEdgeMetrics(registry);
const entries = ['connection', 'api', 'site', 'page', 'dashboard', 'network_callback'] as const;
const visits = new Visits(registry, logger, thread, entries);
const ownership = new OwnershipBoard(data.ownership, trustClocks);
const isTrusted = () => ownership.isTrustedIn(data.term);
const keyRing = new KeyRing();
for (const change of keys) keyRing.put(change);
const { answersBytesMax } = memoryShares(config.memory.shardMib);
const shards = Array.from({ length: shardCount }, () => new ShardClient(clientBounds(config.mailbox, edges)));
const newest = new Newest<number>();
countAdmission(registry, shards);
const held = new HeldBytes((answersBytesMax * shardCount) / config.edges);
/** What all edges hold of bodies that are not whole yet. */
const bodiesBytesMax = 64 * 1024 * 1024;
const bodies = new HeldBytes(bodiesBytesMax / config.edges);

const keysMs = 1_000;
const usedKeys = new UsedKeys();
const refusedKeys = new RefusedKeys(() => performance.now());

/**
 * Hands keys to the main thread: refused ones for the audit record, and when those that work were
 * used.
 */
function tellKeys(all: boolean): void {
  const refused = refusedKeys.take(all);
  if (refused.length > 0) tell({ type: 'refused_keys', refused });
  const used = usedKeys.take();
  if (used.length > 0) tell({ type: 'used_keys', used });
}
setInterval(() => tellKeys(false), keysMs).unref();

/** Time for exchanges under way when the service stops; leaves the shards as much again. */
const stopGraceMs = 1_750;

/** While buffers drain, a slow client's progress can't be seen, so it gets this long. */
const slowClientMs = 60_000;

let server: Server | null = null;

function fail(error: Error): void {
  logger.fatal({ err: error }, `the edge failed: ${error.message}`);
  tell({ type: 'failed', message: `edge ${number} failed: ${error.message}`, fatal: true });
  // The native server must be closed first: a thread that ends with it open takes the process
  // along.
  void (server?.stop(0) ?? Promise.resolve()).finally(() => process.exit(1));
}
process.on('uncaughtException', fail);
// Whatever waits for something here does so for a visit. What carries out an instruction handles
// its own failures.
process.on('unhandledRejection', (error) => visits.failed(error, 'connection', null));

const requestLogs = createRequestLogClient(config, logger, countLostEntries(registry));
const askLogs = requestLogs?.ask ?? askNoLogs;

function onAnswered(answered: Answered): void {
  const { org, livemode, isLogged } = answered;
  metrics.answered(answered);
  if (isLogged) logLine(answered);
  // A request whose key does not exist belongs to nobody.
  if (requestLogs === null || org === null) return;
  if (isLogged) requestLogs.put(org, answered);
  else requestLogs.leaveOut(org, livemode);
}

const loggedRefusals = new LogLimit({
  perSecondMax: 100,
  onLeftOut: (requests) =>
    logger.warn(
      { requests },
      `${requests} more requests were refused with 503; they are not logged one by one`,
    ),
});

const api = new Api({
  keyRing,
  isTrusted,
  shards,
  baseUrl,
  clock: Date.now,
  eventStreams: new EventStreams(),
  listenKey: Buffer.from(listenKey, 'base64'),
  askLogs,
  usedKeys,
  addressOf: createClientAddressText(config.pages.trustedProxies),
  onAnswered,
  logsUnanswered: loggedRefusals.admit,
  wantsAddress: () => requestLogs !== null || logger.isLevelEnabled('info'),
  onRefusedKey: ({ refusal: { code }, key, prefix, digest }, { address, path }) =>
    refusedKeys.add({
      code,
      times: 1,
      address,
      key: key?.id ?? null,
      organization: key?.org ?? null,
      prefix,
      digest,
      path: loggablePath(path),
    }),
});
const { monotonic } = systemClocks();
const simulator = simulatorOf(config);
const pages = new CheckoutPages({
  port: createPagePort(shards),
  // Cards are typed here in test mode only.
  tokenize: { test: simulator.card.tokenize, live: null },
  baseUrl,
  monotonic,
  randomBytes,
  visitsPerMinute: config.pages.visitsPerMinute,
  trustedProxies: config.pages.trustedProxies,
  onError: (error, requestId) => visits.unanswered(error, 'page', requestId),
});
const dashboardPort = new DashboardPort();
/** The most addresses whose visits of a kind are counted at a time. */
const visitorsMax = 10_000;
const visitors = createVisitors({ ...config.pages, visitorsMax, monotonic });
let isPaused = paused;

/**
 * Nodes without links pass all requests on to this one, also those that ask whether they are ready.
 * So this one stays ready until it stops: otherwise none of them would be.
 */
const isPassedOn = config.cluster.node !== null && config.cluster.link === null;

function isStopping(): boolean {
  if (server === null) return false;
  const { closing, lastAnswers } = server.exchanges;
  return closing || (lastAnswers && !isPassedOn);
}

const site = createSite({
  shards,
  isTrusted,
  baseUrl,
  isStopping,
  isPaused: () => isPaused,
  stalledMsMax: config.journal.stalledCommitSeconds * 1000,
  pages,
  dashboard: new DashboardVisits({
    port: dashboardPort,
    visitors,
    sessions: new KnownSessions(createCookies(baseUrl.startsWith('https:')).session),
    askLogs,
    isTrusted,
    shardOf: (org) => api.shardOf(org),
  }),
  visitors,
  callers: createCallers({ ...config.pages, visitorsMax, monotonic }),
  assets: [...pageAssets, ...dashboardAssets, docsStyle],
});

const connections = createEdgeConnections({
  config,
  port,
  open: data.connections,
  logger,
  onRefused: metrics.connectionRefused,
});

const ids = createIdFactory(createRandomText(randomFillSync));

const tlsFilesOf = ({ tlsCertFile, tlsKeyFile }: Config): TlsFiles | null =>
  tlsCertFile === null || tlsKeyFile === null ? null : { certFile: tlsCertFile, keyFile: tlsKeyFile };

async function open(): Promise<Server> {
  const { host, requestTimeoutMs } = config;
  return listen({
    host,
    port,
    tls: tlsFilesOf(config),
    clock: Date.now,
    newRequestId: (nowMs) => ids.next(idPrefixes.request, number, nowMs),
    requestTimeoutMs,
    httpsOnly: baseUrl.startsWith('https:'),
    slowClientMs,
    held,
    bodies,
    connections,
    onApi: (exchange, head) => api.handle(exchange, head),
    onSite: (exchange, head) => site(exchange, head),
    onFailed: visits.failed,
  });
}

server = await open().catch((error: Error) => {
  fail(error);
  return new Promise<never>(() => {});
});

/** Takes over what can change; returns what failed. */
function reread(changed: Config): string | null {
  logger.level = changed.logLevel;
  const tls = tlsFilesOf(changed);
  try {
    if (tls !== null) server?.useCertificate(tls);
    return null;
  } catch (error) {
    return `edge ${number} keeps its certificate: ${errorText(error)}`;
  }
}

/** The node that runs the edge and the one that it runs for may both ask; it happens once. */
let stopping: Promise<void> | null = null;
function stop(graceMs: number): Promise<void> {
  stopping ??= (async () => {
    // Who waits for a shard hears that it is away.
    await server?.stop(graceMs, disconnectShards);
    tellKeys(true);
  })();
  return stopping;
}

const answers: Answers<ThreadQuestions> = {
  ...commonAnswers(logger, registry, () => metrics.connections.set(connections.here)),
  keys: ({ change }) => keyRing.put(change),
  edges({ edges }) {
    for (const shard of shards) shard.bounds = clientBounds(config.mailbox, edges);
  },
  resume() {
    isPaused = false;
  },
  reread: ({ config: changed }) => reread(changed),
  announce_stop: () => server?.announceStop(),
  stop({ atOnce = false }) {
    if (atOnce) disconnectShards();
    return stop(atOnce ? 0 : stopGraceMs);
  },
};

function connect(connected: Connected): void {
  const { type, port } = connected;
  if (type === 'connect') {
    const { number } = connected;
    if (newest.takes(number, connected)) elementAt(shards, number).connect(port);
  } else if (type === 'dashboard') dashboardPort.connect(port);
  else if (type === 'connect_request_logs' && requestLogs !== null) requestLogs.connect(port);
  else port.close();
}

/** The thread ends by itself when its ports are closed: an exit could take the process along. */
async function carryOut(instruction: Instruction): Promise<void> {
  if ('question' in instruction) await answerQuestion(answers, instruction, tell);
  else connect(instruction);
  if (instruction.type === 'stop') disconnect();
}

function disconnectShards(): void {
  for (const shard of shards) shard.disconnect();
}

function disconnect(): void {
  disconnectShards();
  requestLogs?.disconnect();
  dashboardPort.disconnect();
  main.close();
}

main.on('message', (instruction: Instruction) => void carryOut(instruction).catch(fail));
tell({ type: 'ready' });
