// The supervisor: starts the shards, then the edges, connects each edge to each shard, and starts a shard again when
// it fails. While a shard recovers its organizations get 503; the others notice nothing. A failure that a restart
// can't help (a damaged journal) leaves that shard down and says so; the others go on.

import { MessageChannel } from 'node:worker_threads';
import { setTimeout as wait } from 'node:timers/promises';
import { ShardClient } from '../shard/client.ts';
import { shardOfOrganization } from '../shard/shard-map.ts';
import type { Directory, DirectoryChange } from '../directory/directory.ts';
import type { Config } from './config-schema.ts';
import type { DataFolder } from './data-folder.ts';
import type { Logger } from './logger.ts';
import { Thread, ThreadFailure } from './thread.ts';
import type { EdgeThreadData, ShardThreadData } from './thread-protocol.ts';
import { accountOf, keyRingChangeOf } from './thread-views.ts';

const shardEntry = new URL('./shard-thread.ts', import.meta.url);
const edgeEntry = new URL('./edge-thread.ts', import.meta.url);

/** Waits before starting a failed shard again: at once, then longer while it keeps failing. */
const restartMs = [0, 100, 500, 1_000, 5_000];
/** A shard that ran this long has recovered: the waits start over. */
const stableMs = 60_000;

export interface SupervisorOptions {
  readonly config: Config;
  readonly folder: DataFolder;
  readonly directory: Directory;
  readonly port: number;
  readonly baseUrl: string;
  readonly logger: Logger;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #shards: (Thread | null)[];
  readonly #edges: Thread[] = [];
  /** The main thread's own line to each shard. */
  readonly clients: readonly ShardClient[];
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: options.folder.shards }, () => null);
    this.clients = this.#shards.map(() => new ShardClient());
    options.directory.onChange((change) => this.#changed(change));
  }

  /** Settles when everything runs; rejects with a `ThreadFailure` when a thread can't be started. */
  async start(): Promise<void> {
    await Promise.all(this.#shards.map((_shard, number) => this.#startShard(number)));
    const { config } = this.#options;
    for (let number = 0; number < config.edges; number++) await this.#startEdge(number);
    for (let number = 0; number < this.#shards.length; number++) void this.#watchShard(number);
  }

  async #startShard(number: number): Promise<void> {
    const { config, folder, directory, baseUrl } = this.#options;
    const accounts = directory.snapshot().map(({ organization }) => organization).filter(({ id }) => this.shardOf(id) === number).map(accountOf);
    const data: ShardThreadData = { number, dir: folder.shardDir(number), config, baseUrl, accounts };
    const shard = new Thread(shardEntry, data);
    await shard.ready;
    this.#shards[number] = shard;
    this.#link(shard, (port) => this.clients[number]!.connect(port as never));
    for (const edge of this.#edges) this.#link(shard, (port) => edge.connect(number, port));
  }

  /** Gives the shard one end of a channel and somebody else the other. */
  #link(shard: Thread, give: (port: MessageChannel['port1']) => void): void {
    const { port1, port2 } = new MessageChannel();
    shard.connect(0, port1);
    give(port2);
  }

  async #startEdge(number: number): Promise<void> {
    const { config, directory, port, baseUrl } = this.#options;
    const keys = directory.snapshot().map(keyRingChangeOf);
    const data: EdgeThreadData = { number, config, port, shards: this.#shards.length, baseUrl, keys };
    const edge = new Thread(edgeEntry, data);
    await edge.ready;
    this.#edges.push(edge);
    this.#shards.forEach((shard, index) => {
      if (shard !== null) this.#link(shard, (end) => edge.connect(index, end));
    });
    void edge.ended.then((failure) => {
      if (!this.#stopping) this.#options.logger.fatal({ err: failure }, `edge ${number} ended: the service stops`);
      if (!this.#stopping) process.exitCode = 1;
      if (!this.#stopping) process.kill(process.pid, 'SIGTERM');
    });
  }

  /** Starts a shard again for as long as that may help. */
  async #watchShard(number: number): Promise<void> {
    const { logger } = this.#options;
    for (let failures = 0; ; ) {
      const startedAt = performance.now();
      const failure = await this.#shards[number]!.ended;
      this.#shards[number] = null;
      this.clients[number]!.disconnect();
      if (this.#stopping) return;
      if (performance.now() - startedAt > stableMs) failures = 0;
      for (let reason = failure; ; ) {
        if (reason?.fatal) {
          logger.fatal({ shard: number }, `shard ${number} stays down: ${reason.message}`);
          return;
        }
        const delayMs = restartMs[Math.min(failures++, restartMs.length - 1)]!;
        logger.error({ shard: number, delayMs }, `shard ${number} ended and is started again`);
        await wait(delayMs);
        if (this.#stopping) return;
        try {
          await this.#startShard(number);
          break;
        } catch (error) {
          reason = error as ThreadFailure;
        }
      }
    }
  }

  shardOf(org: string): number {
    return shardOfOrganization(org, this.#shards.length);
  }

  /** Puts a change of the directory in force: settles when the organization's shard and every edge have taken it over. */
  async #changed(change: DirectoryChange): Promise<void> {
    const shard = this.#shards[this.shardOf(change.organization.id)];
    // A shard that is being started reads the directory itself; one that dies meanwhile does so when it is back.
    await shard?.ask({ type: 'account', account: accountOf(change.organization) }).catch(() => {});
    await Promise.all(this.#edges.map((edge) => edge.ask({ type: 'keys', change: keyRingChangeOf(change) })));
  }

  /** The metrics of every thread, as prom-client's JSON. */
  async metrics(): Promise<unknown[]> {
    const threads = [...this.#edges, ...this.#shards.filter((shard) => shard !== null)];
    const parts = await Promise.all(threads.map((thread) => thread.ask({ type: 'metrics' }).catch(() => null)));
    return parts.filter((part) => part !== null);
  }

  /** Takes no new connections, answers what is under way, makes everything durable, and ends all threads. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    const end = async (thread: Thread) => {
      await thread.ask({ type: 'stop' }).catch(() => {});
      await thread.ended;
    };
    await Promise.all(this.#edges.map(end));
    for (const client of this.clients) client.disconnect();
    await Promise.all(this.#shards.filter((shard) => shard !== null).map(end));
  }
}
