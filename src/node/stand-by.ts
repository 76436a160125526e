// A node among those that share the service stands by until it has the lease: it follows the
// partitions, passes connections on to the node that serves, and shows its metrics.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import type { NodeIdentity, ReachableNode } from '../cluster/node.ts';
import { canShare, type Relay } from '../cluster/relay.ts';
import { describeConfig } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { ConfigError } from '../config/settings.ts';
import { sizedFor } from '../config/sizing.ts';
import { errorText } from '../core/errors.ts';
import { lazily } from '../core/lazily.ts';
import { type DataFolder, shardNumbers } from '../data-folder/data-folder.ts';
import { serviceOf } from '../data-folder/remote-stores.ts';
import { examineStandby } from '../health/doctor.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import { openStandbySocket } from '../operator/socket/standby-socket.ts';
import { ServiceCrash } from '../operator/use-cases/failures.ts';
import { toldMetrics } from '../telemetry/metrics.ts';
import { serveMetrics } from '../telemetry/metrics-server.ts';
import { mergeMetrics } from '../telemetry/supervisor-metrics.ts';
import { metricsOfThreads } from '../threads/metrics-of-threads.ts';
import { damageTold, ProgressBoard } from '../threads/progress-board.ts';
import { followedShard } from '../threads/standby-partitions.ts';
import type { Claim } from '../threads/supervisor.ts';
import type { WorkerKind } from '../threads/thread.ts';
import { kindsOf, WaitingThreads } from '../threads/thread-kinds.ts';
import type { LeaseThreadData, StandbyThreadData } from '../threads/thread-protocol.ts';
import { HostedHere, type HostedHereOptions, keysOfService } from './hosted-here.ts';
import { type Owning, type RequiredThread, requireThread, tellFailedCommand } from './owning.ts';
import { relayOf } from './relay-of-node.ts';

const leaseEntry = new URL('../threads/lease-thread.ts', import.meta.url);
const standbyEntry = new URL('../threads/standby-thread.ts', import.meta.url);

export interface StoodBy {
  /** As it was read last. */
  readonly config: Config;
  readonly claim: Claim;
  /** The metrics of what keeps the claim, as prom-client's JSON. */
  readonly metrics: () => Promise<readonly object[]>;
  /** Threads of the service that have loaded their files meanwhile. */
  readonly threads: WaitingThreads;
  /** The shards whose files the thread that stood by has found whole. */
  readonly whole: ReadonlySet<number>;
  /** This node among those that share the service; null where it is alone. */
  readonly among: AmongNodes | null;
  /** To be called when this node's edges listen: until then clients are told to try again. */
  readonly stepAside: () => Promise<void>;
}

/** `silent`: the partitions whose database does not answer. */
type OnNodes = (nodes: readonly ReachableNode[], silent: readonly number[]) => void;

interface AmongNodes {
  readonly identity: NodeIdentity;
  /** Hears every second of the nodes that can run partitions, once this one has the lease. */
  watch(onNodes: OnNodes): void;
  /** This node's files of a partition are damaged: operators are told. */
  readonly noteDamaged: (partition: number) => void;
}

function waitingThreads({ closers }: Owning, started: readonly WorkerKind[]): WaitingThreads {
  const threads = new WaitingThreads(started);
  closers.push(() => threads.stop());
  return threads;
}

/** Of a node that has not stood by. */
function unprepared(owning: Owning) {
  return { threads: waitingThreads(owning, []), whole: new Set<number>(), stepAside: async () => {} };
}

/** One that is to stop, or must not have the lease, starts nothing more: that never resolves. */
async function unlessEnding<T>({ ending }: Owning, first: Promise<T>): Promise<T> {
  const isFirst = await Promise.race([first.then(() => true), ending.promise.then(() => false)]);
  return isFirst ? first : new Promise(() => {});
}

/** The first node has the lease at once, and needs to follow nobody. */
const aloneMs = 1_000;

/** Resolves when the node has the lease; at once where no nodes share the service. */
export async function standBy(owning: Owning, folder: DataFolder): Promise<StoodBy> {
  const ownership = OwnershipBoard.memory(folder.shards);
  const { config } = owning;
  const { node } = config.cluster;
  if (node === null) {
    const claim = { ownership, lease: null, previous: null, attemptMsMax: 0, quietMs: 0 };
    return { config, claim, metrics: async () => [], among: null, ...unprepared(owning) };
  }
  const data: LeaseThreadData = {
    config,
    service: serviceOf(folder),
    identity: { node, process: randomUUID(), release: manifest.version },
    ownership,
    progress: ProgressBoard.memory(folder.shards),
  };
  const progress = new ProgressBoard(data.progress);
  const relay = relayOf(config, folder.shards, owning.port);
  let onNodes: OnNodes = () => {};
  const among: AmongNodes = {
    identity: data.identity,
    watch: (listener) => {
      onNodes = listener;
    },
    noteDamaged: (partition) => progress.noteDamaged(partition),
  };
  const taken = Promise.withResolvers<Claim>();
  const lease = requireThread(owning, 'the thread of the lease', leaseEntry, data, (news) => {
    if (news.type === 'nodes') onNodes(news.nodes, news.silent);
    else if (news.type === 'lease_holder') relay.passTo(news.address);
    else if (news.type === 'lease_taken') {
      relay.passToNobody();
      const { epoch, previous, attemptMsMax, quietMs } = news;
      taken.resolve({ ownership, lease: epoch, previous, attemptMsMax, quietMs });
    } else if (news.type === 'leaves') owning.ending.stop();
    else if (news.type === 'lease_lost')
      owning.ending.reject(new ServiceCrash('another node has taken the lease'));
    else if (news.type === 'lease_wanted')
      owning.ending.reject(new ServiceCrash(`the lease moves to node ${news.successor}`));
  });
  const metrics = () => metricsOfThreads([lease]);
  const first = await unlessEnding(owning, Promise.race([taken.promise, wait(aloneMs, null)]));
  if (first !== null) return { config, claim: first, metrics, among, ...unprepared(owning) };
  // The secrets key is checked before any thread is started. If the lease is taken meanwhile, the
  // folder's opening checks it.
  const keys = await Promise.race([keysOfService(config), taken.promise.then(() => null)]);
  const threads = waitingThreads(owning, kindsOf(sizedFor(config, folder.shards), folder.shards));
  const following = { data, relay, lease, keys, threads, taken: taken.promise, onDamaged: among.noteDamaged };
  const followed = await follow(owning, folder, following);
  return { ...followed, metrics, among, threads };
}

interface Following {
  readonly data: LeaseThreadData;
  readonly relay: Relay;
  readonly lease: RequiredThread;
  readonly keys: HostedHereOptions['keys'];
  readonly threads: WaitingThreads;
  readonly taken: Promise<Claim>;
  readonly onDamaged: AmongNodes['noteDamaged'];
}

/** Stands by until the lease is taken, and then gives back what the service needs. */
async function follow(
  owning: Owning,
  folder: DataFolder,
  following: Following,
): Promise<Pick<StoodBy, 'config' | 'claim' | 'whole' | 'stepAside'>> {
  const { config, port, logger, manager, closers } = owning;
  const { data, relay, lease, keys, threads, taken, onDamaged } = following;
  const { service, progress, identity } = data;
  const shards = shardNumbers(folder).map((number) => followedShard(folder, number));
  const standby: StandbyThreadData = { config, service, shards, progress, isLending: false };
  const whole = new Set<number>();
  const thread = requireThread(owning, 'the thread that stands by', standbyEntry, standby, (news) => {
    if (news.type === 'whole') whole.add(news.shard);
    else if (news.type === 'damaged') {
      const { shard, message } = news;
      whole.delete(shard);
      logger.error({ shard }, damageTold('this node', shard, message));
      onDamaged(shard);
    }
  });
  await relay.listen().catch((error) => {
    throw new ConfigError(
      `port ${port} can't be listened on (${errorText(error)}): choose another with PAYMENTS_PORT`,
    );
  });
  const leaveToOthers = () => lease.ask('announce_stop', {}).catch(() => {});
  owning.ending.onNotice(() => {
    void relay.refuseNew();
    void leaveToOthers();
  });
  const hosted = { identity, standby: thread, whole, threads, relay, keys, onDamaged };
  const hosting = new HostedHere(owning, folder, hosted);
  // What was opened is closed also when the next can't be.
  const closing = (close: () => Promise<void>) => {
    const closeOnce = lazily(close);
    closers.push(closeOnce);
    return closeOnce;
  };
  const stepAside = closing(() => relay.close());
  closers.push(leaveToOthers);
  const metrics = async () => [...(await metricsOfThreads([lease, thread])), ...(await hosting.metrics())];
  const merged = async () => mergeMetrics(await metrics());
  const text = async () => (await merged()).metrics();
  const operators = await openStandbySocket({
    dataDir: folder.path,
    node: identity.node,
    tells: {
      config: async () => describeConfig(hosting.config),
      doctor: () => examineStandby(identity.node, folder, sizedFor(hosting.config, folder.shards)),
      metrics: async () => toldMetrics(await merged()),
    },
    onFailure: tellFailedCommand(logger),
  });
  const closeOperators = closing(() => operators.close());
  const endMetrics = closing(await serveMetrics(config, text, logger));
  const endWatch = closing(manager.watch(text));
  logger.info(`node ${identity.node} stands by`);
  manager.ready('standing by');
  const claim = await unlessEnding(owning, Promise.race([taken, hosting.run()]));
  // It may have rested while edges of another node ran here, which end now.
  if (canShare) await relay.listen();
  else await stepAside();
  await hosting.stop();
  await Promise.all([thread.stop(), closeOperators(), endMetrics(), endWatch()]);
  return { config: hosting.config, claim, whole, stepAside };
}
