// The shards that this node runs for the one that has the lease, while it stands by for the others:
// their threads, and those that deliver their webhooks.

import type { MessagePort } from 'node:worker_threads';
import type { Config } from '../config/config-schema.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { LentShard } from './lending-protocol.ts';
import { connectAll, connectShard, laterWhile } from './shard-ports.ts';
import { SupervisedThread } from './supervised-thread.ts';
import type { Thread } from './thread.ts';
import { kinds, type WaitingThreads } from './thread-kinds.ts';
import type { ShardThreadData, WebhookThreadData } from './thread-protocol.ts';

export interface HostingOptions {
  readonly config: Config;
  readonly folder: DataFolder;
  /** The memory of the board that says for how long this node may speak for lent partitions. */
  readonly trust: SharedArrayBuffer;
  /** The thread that stands by. */
  readonly standby: Pick<Thread, 'ask'>;
  /** The shards whose files that one has found whole. */
  readonly whole: Set<number>;
  readonly threads: WaitingThreads;
  readonly logger: Logger;
}

export class Hosting {
  readonly #options: HostingOptions;
  readonly #shards = new Map<number, Thread>();
  /** Those whose webhooks are delivered here. */
  readonly #delivered = new Set<number>();
  readonly #stopping = new AbortController();
  #webhooks: readonly SupervisedThread[] = [];
  /** What is done to partitions, one after the other. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: HostingOptions) {
    this.#options = options;
  }

  /** Runs a shard for as long as the port is open. */
  take(shard: LentShard, port: MessagePort): void {
    let isOver = false;
    port.once('close', () => {
      isOver = true;
      void this.#shards.get(shard.number)?.stop();
    });
    const start = async () => {
      if (isOver || this.#stopping.signal.aborted) port.close();
      else await this.#start(shard, port);
      if (isOver) void this.#shards.get(shard.number)?.stop();
    };
    this.#work = this.#work.then(start).catch((error) => {
      this.#options.logger.error({ err: error }, `partition ${shard.number} can't be run here`);
      port.close();
    });
  }

  async #start(lent: LentShard, port: MessagePort): Promise<void> {
    const { config, folder, trust, standby, whole, threads, logger } = this.#options;
    const { number, quietMs, ...everywhere } = lent;
    // One that was lent before may not have ended yet.
    await this.#shards.get(number)?.ended;
    await standby.ask('release', { partition: number });
    if (this.#webhooks.length === 0) this.#startWebhooks(lent.secretsKeys);
    const data: ShardThreadData = {
      ...everywhere,
      number,
      dir: folder.shardDir(number),
      identity: folder.shardIdentity(number),
      ownership: trust,
      isChecked: whole.delete(number),
      config,
      paused: false,
    };
    const shard = threads.take(kinds.shard(number, config)).begin(data);
    shard.giveAway(port);
    this.#shards.set(number, shard);
    logger.info({ shard: number }, `partition ${number} runs on this node`);
    void shard.ready.then(
      () => laterWhile(shard, quietMs, () => this.#deliver(number, shard)),
      () => {},
    );
    void shard.ended.then(() => this.#ended(number));
  }

  #deliver(number: number, shard: Thread): void {
    this.#delivered.add(number);
    connectAll(shard, number, this.#webhooks);
  }

  /** The partition is followed again, and the next start of its thread is prepared. */
  #ended(number: number): void {
    const { folder, standby, threads, config, logger } = this.#options;
    this.#shards.delete(number);
    this.#delivered.delete(number);
    logger.info({ shard: number }, `partition ${number} does not run on this node any more`);
    if (this.#stopping.signal.aborted) return;
    threads.prepare(kinds.shard(number, config));
    const shard = { dir: folder.shardDir(number), identity: folder.shardIdentity(number) };
    standby
      .ask('follow', { shard })
      .catch((error) => logger.error({ err: error }, `partition ${number} can't be followed`));
  }

  #startWebhooks(secretsKeys: readonly string[]): void {
    const { config, trust, threads, logger } = this.#options;
    this.#webhooks = Array.from({ length: config.webhookThreads }, (_, number) => {
      const kind = kinds.webhooks(number);
      const data: WebhookThreadData = {
        number,
        config,
        secretsKeys,
        paused: false,
        ownership: trust,
        quietMs: 0,
      };
      return new SupervisedThread({
        name: kind.name,
        logger,
        stopping: this.#stopping.signal,
        make: () => threads.take(kind).begin(data),
        onStarted: (thread) => {
          for (const [number, shard] of this.#shards)
            if (this.#delivered.has(number)) connectShard(shard, (port) => thread.connect(number, port));
        },
      });
    });
    for (const webhooks of this.#webhooks) void webhooks.start();
  }

  /** The metrics of its threads that nobody else asks, as prom-client's JSON. */
  async counted(): Promise<readonly object[]> {
    const parts = await Promise.all(
      this.#webhooks.map(({ ready }) => ready?.ask('metrics', {}).catch(() => null) ?? null),
    );
    return parts.filter((part) => part !== null);
  }

  /** Resolves when every shard has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
    await Promise.all([...this.#webhooks, ...this.#shards.values()].map((thread) => thread.stop()));
  }
}
