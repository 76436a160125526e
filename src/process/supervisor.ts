// The supervisor: starts the shards and the edges, connects each edge to each shard, and starts a shard again when it
// fails. While a shard recovers its organizations get 503; the others notice nothing. A failure that a restart can't
// help (a damaged journal) leaves that shard down and says so; the others go on. An edge is never started again: what
// ends an edge is a fault of the program or of its address, and ends the service.

import { setTimeout as wait } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import type { Directory, DirectoryChange } from '../directory/directory.ts';
import type { RefusedKey } from '../edge/refused-keys.ts';
import { ShardClient } from '../shard/client.ts';
import { shardOfOrganization } from '../shard/shard-map.ts';
import type { Config } from './config-schema.ts';
import type { DataFolder } from './data-folder.ts';
import type { Logger } from './logger.ts';
import type { SupervisorMetrics } from './metrics.ts';
import { RestartDelay } from './restart-delay.ts';
import { Thread, type ThreadFailure } from './thread.ts';
import type { EdgeThreadData, News, ShardThreadData } from './thread-protocol.ts';
import { accountOf, keyRingChangeOf } from './thread-views.ts';
import { WebhookKeeper } from './webhook-keeper.ts';

const shardEntry = new URL('./shard-thread.ts', import.meta.url);
const edgeEntry = new URL('./edge-thread.ts', import.meta.url);

export interface SupervisorOptions {
  readonly config: Config;
  readonly folder: DataFolder;
  readonly directory: Directory;
  /** What the signing secrets are sealed with. */
  readonly secretsKeys: readonly string[];
  readonly port: number;
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly metrics: SupervisorMetrics;
  /** Hears of API keys that were refused, for the audit record. */
  readonly onRefusedKeys: (refused: readonly RefusedKey[]) => void;
  /** An edge ended although nobody told it to: the service can't go on. */
  readonly onEdgeEnded: (failure: ThreadFailure) => void;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  /** What threads are started with. */
  #config: Config;
  /** The thread of each shard, starting or running; null while there is none. */
  readonly #shards: (Thread | null)[];
  readonly #edges: Thread[] = [];
  /** How many connections the edges have, all together. */
  readonly #connections = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #webhooks: WebhookKeeper;
  readonly #stopping = new AbortController();
  /** The main thread's own line to each shard. */
  readonly clients: readonly ShardClient[];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#shards = Array.from({ length: options.folder.shards }, () => null);
    this.#webhooks = new WebhookKeeper(
      { config: options.config, secretsKeys: options.secretsKeys },
      options.logger,
      this.#shards,
    );
    this.clients = this.#shards.map(() => new ShardClient());
    options.directory.onChange((change) => this.#changed(change));
  }

  /**
   * Settles when every edge listens and every shard has recovered or is known not to; rejects with a `ThreadFailure`
   * when an edge can't listen, or no shard at all can be used.
   */
  async start(): Promise<void> {
    const edges = Array.from({ length: this.#config.edges }, (_, number) => this.#startEdge(number));
    const shards = this.#shards.map((_, number) => this.#keepShard(number));
    this.#webhooks.start();
    await Promise.all(edges);
    const failures = await Promise.all(shards);
    if (failures.every((failure) => failure !== null)) throw failures[0]!;
  }

  async #startEdge(number: number): Promise<void> {
    const { directory, port, baseUrl, onEdgeEnded, onRefusedKeys } = this.#options;
    const config = this.#config;
    const listenKey = await directory.listenKey();
    const keys = directory.snapshot().map(keyRingChangeOf);
    const connections = this.#connections;
    const shards = this.#shards.length;
    const data: EdgeThreadData = { number, config, port, connections, shards, baseUrl, keys, listenKey };
    const edge = new Thread(edgeEntry, data, (news) => {
      if (news.type === 'refused_keys') onRefusedKeys(news.refused);
    });
    this.#edges.push(edge);
    await edge.ready;
    void edge.ended.then((failure) => {
      if (failure !== null && !this.#stopping.signal.aborted) onEdgeEnded(failure);
    });
  }

  /**
   * Runs a shard for as long as starting it again may help. Settles after the first start, with the reason when that
   * failed.
   */
  #keepShard(number: number): Promise<ThreadFailure | null> {
    const first = Promise.withResolvers<ThreadFailure | null>();
    const keep = async () => {
      const delay = new RestartDelay();
      while (!this.#stopping.signal.aborted) {
        const failure = await this.#runShard(number, () => first.resolve(null));
        first.resolve(failure);
        if (!(await this.#mayStartAgain(number, failure, delay))) return;
      }
    };
    void keep();
    return first.promise;
  }

  /** Runs one thread of a shard until it ends; returns why it did. */
  async #runShard(number: number, onReady: () => void): Promise<ThreadFailure | null> {
    const { folder, directory, secretsKeys, baseUrl, metrics } = this.#options;
    const config = this.#config;
    const organizations = directory.snapshot().map(({ organization }) => organization);
    const accounts = organizations.filter(({ id }) => this.shardOf(id) === number).map(accountOf);
    const [dir, identity] = [folder.shardDir(number), folder.shardIdentity(number)];
    const { revision } = directory;
    const data: ShardThreadData = { number, dir, identity, config, secretsKeys, baseUrl, accounts, revision };
    const onNews = (news: News) => {
      if (news.type === 'checkpointed') void directory.noteSequence(folder.generation, number, news.sequence);
    };
    const shard = new Thread(shardEntry, data, onNews, config.memory.shardMib);
    this.#shards[number] = shard;
    const connect = () => {
      this.#link(shard, (port) => this.clients[number]!.connect(port as never));
      for (const edge of this.#edges) this.#link(shard, (port) => edge.connect(number, port));
      this.#webhooks.connect(number, shard);
      metrics.up(number, true);
      onReady();
    };
    shard.ready.then(connect, () => {});
    const failure = await shard.ended;
    this.#shards[number] = null;
    this.clients[number]!.disconnect();
    metrics.up(number, false);
    return failure;
  }

  /** Gives the shard one end of a channel and somebody else the other. */
  #link(shard: Thread, give: (port: MessageChannel['port1']) => void): void {
    const { port1, port2 } = new MessageChannel();
    shard.connect(0, port1);
    give(port2);
  }

  /** Says why a shard has ended and waits until it may be started again; false when it may not. */
  async #mayStartAgain(number: number, failure: ThreadFailure | null, delay: RestartDelay): Promise<boolean> {
    const { logger, metrics } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted) return false;
    const reason = failure?.message ?? 'it ended by itself';
    if (failure?.fatal) {
      logger.fatal({ shard: number }, `shard ${number} stays down: ${reason}`);
      return false;
    }
    const delayMs = delay.failed(performance.now());
    logger.error({ shard: number, delayMs }, `shard ${number} ended and is started again: ${reason}`);
    metrics.restarted(number);
    await wait(delayMs, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }

  shardOf(org: string): number {
    return shardOfOrganization(org, this.#shards.length);
  }

  /** Puts a change of the directory in force: settles when the organization's shard and every edge have taken it over. */
  async #changed(change: DirectoryChange): Promise<void> {
    const shard = this.#shards[this.shardOf(change.organization.id)];
    const { revision } = this.#options.directory;
    // A shard that ends meanwhile reads the directory when it is started again, as does one that has no thread now.
    const question = { type: 'account', account: accountOf(change.organization), revision } as const;
    await shard?.ask(question).catch(() => {});
    await Promise.all(this.#edges.map((edge) => edge.ask({ type: 'keys', change: keyRingChangeOf(change) })));
  }

  /** Has every thread take over what changed in the configuration; gives what failed at the edges, one line each. */
  async reread(config: Config): Promise<string[]> {
    this.#config = config;
    this.#webhooks.reread(config);
    // A shard that does not run now reads the configuration when it is started.
    for (const shard of this.#shards) shard?.ask({ type: 'reread', config }).catch(() => {});
    const answers = this.#edges.map((edge) => edge.ask({ type: 'reread', config }) as Promise<string | null>);
    return (await Promise.all(answers)).filter((failure) => failure !== null);
  }

  /** The metrics of every thread that is ready, as prom-client's JSON. */
  async metrics(): Promise<unknown[]> {
    const threads = [...this.#edges, ...this.#shards].filter((thread) => thread?.isReady === true);
    const parts = await Promise.all([
      this.#webhooks.metrics(),
      ...threads.map((thread) => thread!.ask({ type: 'metrics' }).catch(() => null)),
    ]);
    return parts.filter((part) => part !== null);
  }

  /** Takes no new connections, answers what is under way, makes everything durable, and ends all threads. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#webhooks.stop(), ...this.#edges.map((edge) => edge.stop())]);
    for (const client of this.clients) client.disconnect();
    await Promise.all(this.#shards.map((shard) => shard?.stop()));
  }
}
