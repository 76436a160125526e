// The supervisor runs the shards, the edges, the webhook threads, that of the request logs and the
// process of the archive, and connects every shard with the edges and the webhook threads. While a
// shard recovers, its organizations get 503, and the others are not affected. After a fatal failure
// (a damaged journal) a shard stays down, and the others go on. An edge of this node is never
// started again: it ends because of a bug or because of its address, and then the service ends.

import type { MessagePort } from 'node:worker_threads';
import type { Wiring } from '../cluster/wires.ts';
import type { Config } from '../config/config-schema.ts';
import { elementAt } from '../core/assert.ts';
import { type DataFolder, shardDirsOf, shardNumbers } from '../data-folder/data-folder.ts';
import type { SequenceNotes } from '../data-folder/sequence-notes.ts';
import type { Directory, DirectoryChange } from '../directory/directory.ts';
import type { RefusedKeyNote } from '../edge/api/refused-keys.ts';
import type { CheckpointSizes, Compacting } from '../journal/journal.ts';
import type { RequestLogClient } from '../request-logs/client.ts';
import { ShardClient } from '../shard/client.ts';
import { shardOfOrganization } from '../shard/shard-map.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { SupervisorMetrics } from '../telemetry/supervisor-metrics.ts';
import { connectAll, connectBetween, connectClient, connectShard, laterWhile } from './connect-threads.ts';
import { accountOf } from './directory-projections.ts';
import { Edges } from './edges.ts';
import type { Lending } from './lending.ts';
import { metricsOfThreads } from './metrics-of-threads.ts';
import { RequestLogThreads } from './request-log-threads.ts';
import { SupervisedThread, type SupervisedThreadOptions } from './supervised-thread.ts';
import { Thread, ThreadFailure } from './thread.ts';
import { kinds, type WaitingThreads } from './thread-kinds.ts';
import type { ArchiveProcessData, News, ShardThreadData, WebhookThreadData } from './thread-protocol.ts';

const archiveEntry = new URL('./archive-process.ts', import.meta.url);

/** What a process may believe itself to own, and how it came to it. */
export interface Claim {
  /** The memory of the ownership board. */
  readonly ownership: SharedArrayBuffer;
  /** The epoch of the node's lease; null where no nodes share the service. */
  readonly lease: number | null;
  /** The node that had it before; null: none had, or no nodes share the service. */
  readonly previous: string | null;
  /** What an attempt of a webhook that another node has begun may last. */
  readonly attemptMsMax: number;
  /** For so long such attempts may still run. */
  readonly quietMs: number;
}

interface SupervisorOptions {
  /** As it was read last: threads are started with it. */
  readonly config: () => Config;
  readonly folder: DataFolder;
  /** The shards whose files were just found whole: their first start does not check them again. */
  readonly checked: Set<number>;
  readonly directory: Directory;
  /** How far the shards' logs have come. */
  readonly notes: SequenceNotes;
  /** The keys with which the signing secrets are sealed. */
  readonly secretsKeys: readonly string[];
  /** What this process may believe itself to own. */
  readonly claim: Claim;
  /** Some were started ahead. */
  readonly threads: WaitingThreads;
  /** Has other nodes run shards; null: all run here. */
  readonly lending: Lending | null;
  readonly port: number;
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly metrics: SupervisorMetrics;
  /** Called with refused API keys, for the audit record. */
  readonly onRefusedKeys: (refused: readonly RefusedKeyNote[]) => void;
  /** Called with the port over which an edge asks for pages of the dashboard. */
  readonly onDashboardPort: (port: MessagePort) => void;
  /** Called when every edge of this node listens. */
  readonly stepAside: () => Promise<void>;
  /** Called when an edge has ended unexpectedly: the service can't go on. */
  readonly onEdgeEnded: (failure: ThreadFailure) => void;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  #isPaused: boolean;
  readonly #shards: readonly SupervisedThread[];
  readonly #edges: Edges;
  readonly #webhooks: readonly SupervisedThread[];
  /** None where the log is not archived. */
  readonly #archive: SupervisedThread | null;
  readonly #logs: RequestLogThreads;
  readonly #stopping = new AbortController();
  /** The main thread's client of each shard. */
  readonly clients: readonly ShardClient[];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#isPaused = options.folder.paused !== null;
    this.#shards = shardNumbers(options.folder).map((number) => this.#shard(number));
    this.#edges = new Edges({
      ...options,
      shards: options.folder.shards,
      ownership: options.claim.ownership,
      stopping: this.#stopping.signal,
      isPaused: () => this.#isPaused,
      onStarted: (edge) => this.#connectEdge(edge),
      onEnded: options.onEdgeEnded,
    });
    const { webhookThreads, logArchive } = options.config();
    this.#webhooks = Array.from({ length: webhookThreads }, (_, number) => this.#webhookThread(number));
    this.#archive = logArchive.dir === null ? null : this.#archiveProcess();
    this.#logs = new RequestLogThreads({
      ...options,
      edges: () => this.#edges.all,
      previous: options.claim.previous,
      wiring: this.#wiring,
      stopping: this.#stopping.signal,
      countLost: options.metrics.countLostEntries,
    });
    this.clients = this.#shards.map(() => new ShardClient());
    options.directory.onChange((change) => this.#changed(change));
    options.directory.store.onChange((revision) => this.#noteDirectory(revision));
  }

  /**
   * Resolves when every edge listens and every shard has recovered or failed for good, or waits for
   * other machines while another one has recovered. Rejects with a `ThreadFailure` when an edge
   * can't listen, or when all shards have failed.
   */
  async start(): Promise<void> {
    const edges = this.#edges.start();
    const shards = this.#shards.map((shard) => shard.start());
    for (const webhooks of this.#webhooks) void webhooks.start();
    this.#logs.start();
    const listenFailure = await edges;
    if (listenFailure !== null) throw listenFailure;
    await this.#options.stepAside();
    await Promise.all(shards.map((started, i) => Promise.race([started, elementAt(this.#shards, i).waits])));
    await anyRecovered(shards);
    // It reads what the shards have recovered.
    void this.#archive?.start();
    this.#options.lending?.start({
      replace: (number) => elementAt(this.#shards, number).replace(),
      edges: this.#edges,
      requestLogs: this.#logs,
      reconnect: (...processes) => {
        connectBetween(processes, this.#shards, this.#edges.all, this.#wiring);
        this.#logs.reconnect(...processes);
      },
    });
  }

  #supervise(options: Omit<SupervisedThreadOptions, 'logger' | 'stopping'>): SupervisedThread {
    const { logger } = this.#options;
    return new SupervisedThread({ ...options, logger, stopping: this.#stopping.signal });
  }

  #connectEdge(edge: Thread): void {
    this.#linkShards(edge);
    this.#logs.connectEdge(edge);
    connectClient(edge, { type: 'dashboard' }, { connect: this.#options.onDashboardPort });
  }

  /**
   * A webhook thread. Requests don't need it, and the deliveries that it had are in the shards'
   * journals.
   */
  #webhookThread(number: number): SupervisedThread {
    const { config, secretsKeys, claim, threads } = this.#options;
    const kind = kinds.webhooks(number);
    const make = () => {
      const data: WebhookThreadData = {
        number,
        config: config(),
        secretsKeys,
        paused: this.#isPaused,
        ownership: claim.ownership,
        quietMs: claim.quietMs,
      };
      return threads.take(kind).begin(data);
    };
    const onStarted = (thread: Thread) => this.#linkShards(thread, (number) => this.#isDeliveredHere(number));
    return this.#supervise({ name: kind.name, make, onStarted });
  }

  /** Whether the shard runs here, and no other node's attempts of its webhooks do any more. */
  #isDeliveredHere(number: number): boolean {
    const shard = elementAt(this.#shards, number).ready;
    return shard?.isElsewhere === false && (this.#options.lending?.quietMs(number) ?? 0) === 0;
  }

  /** A process of its own, which reads the files as a backup does, and holds up nobody. */
  #archiveProcess(): SupervisedThread {
    const { config, folder } = this.#options;
    const { id, generation, directory, directoryPart } = folder;
    const make = () => {
      const data: ArchiveProcessData = {
        config: config(),
        folder: { id, generation },
        shardDirs: shardDirsOf(folder),
        directory,
        directoryPart,
      };
      return Thread.process(archiveEntry, data);
    };
    return this.#supervise({ name: 'the archive process', make });
  }

  #shard(number: number): SupervisedThread {
    const { config, metrics, threads } = this.#options;
    return this.#supervise({
      name: kinds.shard(number, config()).name,
      fields: { shard: number },
      make: () => this.#makeShard(number),
      onReady: (shard) => {
        connectClient(shard, { type: 'connect', number: 0 }, elementAt(this.clients, number));
        connectAll(shard, number, this.#edges.all, this.#wiring);
        const quietMs = this.#options.lending?.quietMs(number) ?? 0;
        // One that another node runs may come back at any moment.
        if (shard.isElsewhere) threads.prepare(kinds.shard(number, config()));
        else laterWhile(shard, quietMs, () => connectAll(shard, number, this.#webhooks, null));
        metrics.up(number, true);
      },
      onEnded: () => {
        elementAt(this.clients, number).disconnect();
        this.#options.lending?.ended(number);
        metrics.up(number, false);
      },
      onRestart: () => metrics.restarted(number),
      spansNodes: this.#options.lending !== null,
    });
  }

  async #makeShard(number: number): Promise<Thread | null> {
    const { folder, checked, directory, notes, secretsKeys, claim, threads, baseUrl, lending } =
      this.#options;
    const config = this.#options.config();
    const elsewhere = lending === null ? null : await lending.place(number);
    if (this.#stopping.signal.aborted) return null;
    const organizations = directory.snapshot().map(({ organization }) => organization);
    const everywhere = {
      number,
      shards: folder.shards,
      lease: claim.lease,
      secretsKeys,
      baseUrl,
      accounts: organizations.filter(({ id }) => this.shardOf(id) === number).map(accountOf),
      revision: directory.revision,
    };
    if (lending !== null && elsewhere !== null)
      return lending.open(elsewhere, {
        ...everywhere,
        quietMs: lending.quietMs(number),
        attemptMs: config.webhooks.timeoutMs,
      });
    const data: ShardThreadData = {
      ...everywhere,
      dir: folder.shardDir(number),
      identity: folder.shardIdentity(number),
      ownership: claim.ownership,
      term: 0,
      isChecked: checked.delete(number),
      config,
      paused: this.#isPaused,
    };
    const onNews = (news: News) => {
      if (news.type === 'durable') notes.note(number, news.end);
    };
    const shard = threads.take(kinds.shard(number, config)).begin(data, onNews);
    lending?.watch(shard, number);
    return shard;
  }

  /**
   * Connects a started thread to the shards that are ready. The others are connected when they are
   * ready.
   */
  #linkShards(thread: Thread, isWanted: (number: number) => boolean = () => true): void {
    this.#shards.forEach(({ ready }, number) => {
      if (ready !== null && isWanted(number)) connectShard(ready, number, thread, this.#wiring);
    });
  }

  get #wiring(): Wiring | null {
    return this.#options.lending?.wiring ?? null;
  }

  get folder(): DataFolder {
    return this.#options.folder;
  }

  shardOf(org: string): number {
    return shardOfOrganization(org, this.#shards.length);
  }

  /**
   * Applies a change of the directory. Resolves when the organization's shard and every edge have
   * applied it.
   */
  async #changed(change: DirectoryChange): Promise<void> {
    const shard = elementAt(this.#shards, this.shardOf(change.organization.id)).thread;
    const asks = { account: accountOf(change.organization) };
    // A shard that is not running, or ends meanwhile, reads the directory when it is started again,
    // and one that starts answers nobody before it has been told.
    if (shard?.isReady) await shard.askSoon('account', asks).catch(() => {});
    else shard?.ask('account', asks).catch(() => {});
    await this.#edges.changed(change);
  }

  /**
   * Every shard notes every change of the directory, because any of them may be the one that is not
   * put back with it.
   */
  #noteDirectory(revision: number): void {
    for (const { thread } of this.#shards) thread?.ask('directory', { revision }).catch(() => {});
  }

  /**
   * Every thread applies what has changed in the configuration. Resolves with the failures of the
   * edges, each as one line.
   */
  async reread(): Promise<string[]> {
    const config = this.#options.config();
    // A thread that is not running now is started with the new configuration later.
    for (const { thread } of [...this.#shards, ...this.#others])
      thread?.ask('reread', { config }).catch(() => {});
    this.#logs.reread();
    this.#options.lending?.reread(config);
    return this.#edges.reread();
  }

  /** Lets every thread do what it holds back while the data folder is paused. */
  async resume(): Promise<void> {
    this.#isPaused = false;
    const threads = [...this.#shards, ...this.#webhooks, ...this.#edges.all].map(({ thread }) => thread);
    // A thread that ends meanwhile is started again without a pause.
    await Promise.all(threads.map((thread) => thread?.ask('resume', {}).catch(() => {})));
  }

  /** Gives back the room that a shard's checkpoint does not use. Rejects with a `ThreadFailure`. */
  async compact(number: number, onProgress: (progress: Compacting) => void): Promise<CheckpointSizes> {
    const shard = elementAt(this.#shards, number).ready;
    if (shard === null) throw new ThreadFailure(`shard ${number} does not serve now`, false);
    const answer = await shard.ask('compact', {}, onProgress);
    if ('failure' in answer) throw new ThreadFailure(answer.failure, false);
    return answer;
  }

  /** The thread that has a partition's checkpoint written on this node; null: none has now. */
  keeperOf(partition: number): Thread | null {
    const shard = elementAt(this.#shards, partition).ready;
    return shard?.isElsewhere ? (this.#options.lending?.follower ?? null) : shard;
  }

  /** The main thread's end of the request logs; null when none are kept. */
  get requestLogs(): RequestLogClient | null {
    return this.#logs.client;
  }

  get #others(): SupervisedThread[] {
    return [...this.#webhooks, this.#archive].filter((thread) => thread !== null);
  }

  /**
   * The metrics of every thread that is ready, as prom-client's JSON. Other nodes tell those of the
   * edges that they run.
   */
  async metrics(): Promise<object[]> {
    const own = [...this.#others, ...this.#edges.own, ...this.#shards, this.#logs.own];
    const threads = own.map((supervised) => supervised?.ready ?? null);
    const lent = (await this.#options.lending?.metrics()) ?? [];
    return [...(await metricsOfThreads(threads)), ...lent];
  }

  /** The service is to stop soon. */
  announceStop(): void {
    this.#edges.announceStop();
  }

  /**
   * Takes no new connections, answers the requests under way, makes everything durable, and ends
   * all threads.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#options.lending?.halt();
    // Everybody hands over their last entries first.
    const logs = this.#edges.stop().then(() => this.#logs.stop());
    await Promise.all([logs, ...this.#webhooks.map((each) => each.stop()), this.#archive?.stop()]);
    for (const client of this.clients) client.disconnect();
    await Promise.all(this.#shards.map((shard) => shard.stop()));
  }
}

/** Rejects with the first failure when all have failed. */
async function anyRecovered(starts: readonly Promise<ThreadFailure | null>[]): Promise<void> {
  const recovered = starts.map(async (start) => {
    const failure = await start;
    if (failure !== null) throw failure;
  });
  await Promise.any(recovered).catch(({ errors }: AggregateError) => {
    throw errors[0];
  });
}
