// A node among those that share the service stands by until it has the lease: it follows the
// partitions, passes connections on to the node that serves, and shows its metrics.

import { randomFillSync, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { Relay } from '../cluster/relay.ts';
import { baseUrlOf, ConfigError, environmentOf } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { postgresOf } from '../config/remote-log.ts';
import { sizedFor } from '../config/sizing.ts';
import { errorBody, unavailable } from '../contract/errors/table.ts';
import { idPrefixes } from '../contract/id-prefixes.ts';
import { defined } from '../core/assert.ts';
import { errorText } from '../core/errors.ts';
import { createIdFactory, createRandomText } from '../core/ids.ts';
import { type DataFolder, shardNumbers } from '../data-folder/data-folder.ts';
import { serviceOf } from '../data-folder/mirrored-directory.ts';
import { requireKeysOf } from '../data-folder/secrets-key.ts';
import { keyCheckRow, keyCheckValueIn } from '../directory/key-check.ts';
import { createNetworksOf } from '../edge/http/client-address.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import { ServiceCrash } from '../operator/use-cases/failures.ts';
import { directoryRowIn } from '../postgresql/directory-rows.ts';
import type { Logger } from '../telemetry/logger.ts';
import { serveMetrics } from '../telemetry/metrics-server.ts';
import { mergeMetrics } from '../telemetry/supervisor-metrics.ts';
import { ProgressBoard } from '../threads/progress-board.ts';
import type { Claim } from '../threads/supervisor.ts';
import { Thread, ThreadFailure } from '../threads/thread.ts';
import { kindsOf, WaitingThreads } from '../threads/thread-kinds.ts';
import type { LeaseThreadData, News, StandbyThreadData } from '../threads/thread-protocol.ts';
import type { ServiceManager } from './service-manager.ts';

const leaseEntry = new URL('../threads/lease-thread.ts', import.meta.url);
const standbyEntry = new URL('../threads/standby-thread.ts', import.meta.url);

export interface Owning {
  readonly config: Config;
  /** Where the service will listen. */
  readonly port: number;
  readonly logger: Logger;
  readonly manager: ServiceManager;
  /** Settled when the service is to stop. */
  readonly told: PromiseWithResolvers<void>;
  readonly closers: (() => Promise<unknown>)[];
}

export interface StoodBy {
  readonly claim: Claim;
  /** The metrics of what keeps the claim, as prom-client's JSON. */
  readonly counted: () => Promise<readonly object[]>;
  /** Threads of the service that have loaded their files meanwhile. */
  readonly threads: WaitingThreads;
  /** The shards whose files the thread that stood by has found whole. */
  readonly whole: ReadonlySet<number>;
}

/** Of a node that has not stood by. */
function unprepared() {
  return { threads: new WaitingThreads(), whole: new Set<number>() };
}

/** The first node has the lease at once, and needs to follow nobody. */
const aloneMs = 1_000;

/** Resolves when the node has the lease; at once where no nodes share the service. */
export async function standBy(owning: Owning, folder: DataFolder): Promise<StoodBy> {
  const ownership = OwnershipBoard.memory(folder.shards);
  const { node } = owning.config.cluster;
  if (node === null) {
    const claim = { ownership, lease: null, quietMs: 0 };
    return { claim, counted: async () => [], ...unprepared() };
  }
  const data: LeaseThreadData = {
    config: owning.config,
    service: serviceOf(folder),
    identity: { node, process: randomUUID(), release: manifest.version },
    ownership,
    progress: ProgressBoard.memory(folder.shards),
  };
  const relay = relayOf(owning.config, folder.shards, owning.port);
  const taken = Promise.withResolvers<Claim>();
  const lease = keep(owning, 'the thread of the lease', leaseEntry, data, (news) => {
    if (news.type === 'lease_holder') relay.passTo(news.address);
    else if (news.type === 'lease_taken') taken.resolve(claimOf(owning.config, ownership, news));
    else if (news.type === 'lease_lost')
      owning.told.reject(new ServiceCrash('another node has taken the lease'));
    else if (news.type === 'lease_wanted')
      owning.told.reject(new ServiceCrash(`the lease moves to node ${news.successor}`));
  });
  const counted = async () => counts([lease]);
  // One that is to stop, or must not have the lease, starts nothing more.
  const told = owning.told.promise.then(() => 'told' as const);
  const first = await Promise.race([taken.promise, told, wait(aloneMs, null)]);
  if (first === 'told') return new Promise(() => {});
  if (first !== null) return { claim: first, counted, ...unprepared() };
  const threads = new WaitingThreads(kindsOf(sizedFor(owning.config, folder.shards), folder.shards));
  owning.closers.push(() => threads.stop());
  const followed = await follow(owning, folder, { data, relay, lease, taken: taken.promise });
  return { ...followed, counted, threads };
}

type Taken = Extract<News, { type: 'lease_taken' }>;

/** What a node before that was not stopped has begun may still be under way. */
function claimOf({ webhooks }: Config, ownership: SharedArrayBuffer, { epoch, isClean }: Taken): Claim {
  return { ownership, lease: epoch, quietMs: isClean ? 0 : webhooks.timeoutMs };
}

interface Following {
  readonly data: LeaseThreadData;
  readonly relay: Relay;
  readonly lease: Kept;
  readonly taken: Promise<Claim>;
}

/** Stands by until the lease is taken, and then gives back what the service needs. */
async function follow(
  owning: Owning,
  folder: DataFolder,
  following: Following,
): Promise<Pick<StoodBy, 'claim' | 'whole'>> {
  const { config, port, logger, manager, closers } = owning;
  const { data, relay, lease, taken } = following;
  const { service, progress, identity } = data;
  const shards = shardNumbers(folder).map((number) => ({
    dir: folder.shardDir(number),
    identity: folder.shardIdentity(number),
  }));
  const standby: StandbyThreadData = { config, service, shards, progress };
  const whole = new Set<number>();
  const thread = keep(owning, 'the thread that stands by', standbyEntry, standby, (news) => {
    if (news.type === 'whole') whole.add(news.shard);
  });
  await relay.listen().catch((error) => {
    throw new ConfigError(
      `port ${port} can't be listened on (${errorText(error)}): choose another with PAYMENTS_PORT`,
    );
  });
  const merged = async () => (await mergeMetrics(await counts([lease, thread]))).metrics();
  const ends = [() => relay.close(), await serveMetrics(config, merged, logger), manager.watch(merged)].map(
    once,
  );
  closers.push(...ends);
  logger.info(`node ${identity.node} stands by`);
  manager.ready('standing by');
  const claim = await Promise.race([taken, refuseOtherKey(owning)]);
  await Promise.all([thread.stop(), ...ends.map((end) => end())]);
  return { claim, whole };
}

const keyRetryMs = 1_000;

/** Rejects with `ConfigError` when this node can't open what the one that serves has sealed. */
async function refuseOtherKey({ config, closers }: Owning): Promise<never> {
  const options = defined(postgresOf(config), 'nodes share a service over PostgreSQL');
  const stopping = new AbortController();
  closers.push(async () => stopping.abort());
  let row: Uint8Array | string | null = null;
  while (!(row instanceof Uint8Array)) {
    row = await directoryRowIn(options, keyCheckRow);
    if (row instanceof Uint8Array) requireKeysOf(keyCheckValueIn(row), config, environmentOf(process.env));
    else await wait(keyRetryMs, undefined, stopping);
  }
  return new Promise(() => {});
}

function once<T>(end: () => Promise<T>): () => Promise<T> {
  let ended: Promise<T> | null = null;
  return () => {
    ended ??= end();
    return ended;
  };
}

type Kept = Pick<Thread, 'ask' | 'stop'>;

/** A thread without which the process can't go on. */
function keep(
  { told, closers }: Owning,
  name: string,
  entry: URL,
  data: unknown,
  onNews?: (news: News) => void,
): Kept {
  const thread = Thread.worker({ name, entry }).begin(data, onNews);
  let isStopping = false;
  const stop = once(() => {
    isStopping = true;
    return thread.stop();
  });
  thread.ended.then((failure) => {
    if (!isStopping) told.reject(failure ?? new ThreadFailure(`${name} has ended`, false));
  });
  closers.push(stop);
  return { ask: thread.ask, stop };
}

async function counts(threads: readonly Kept[]): Promise<object[]> {
  const parts = await Promise.all(threads.map((thread) => thread.ask('metrics', {}).catch(() => null)));
  return parts.filter((part) => part !== null);
}

const connectMs = 2_000;

/** A connection that is passed on takes two descriptors. */
function relayOf(config: Config, shards: number, port: number): Relay {
  const { host, tlsCertFile } = config;
  const { max, perAddressMax } = sizedFor(config, shards).connections;
  return new Relay({
    host,
    port,
    connectionsMax: Math.floor(max / 2),
    perAddressMax: Math.ceil(perAddressMax / 2),
    networksOf: createNetworksOf(config.pages.trustedProxies),
    connectMs,
    refusal: tlsCertFile === null ? () => refusalOf(baseUrlOf(config, port)) : null,
  });
}

const ids = createIdFactory(createRandomText(randomFillSync));

/** The HTTP response while nobody serves. */
function refusalOf(baseUrl: string): string {
  const requestId = ids.next(idPrefixes.request, 0, Date.now());
  const body = errorBody(unavailable, { language: 'en', requestId, baseUrl });
  const lines = [
    'HTTP/1.1 503 Service Unavailable',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `Request-Id: ${requestId}`,
    `Retry-After: ${unavailable.retryAfterSeconds}`,
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
