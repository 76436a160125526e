// Where the shards of the node that has the lease run: here, or in other nodes that stand by and
// can be reached. They are spread evenly, and moved one at a time. A partition that another node
// runs is followed here meanwhile, so that this node can run it at once when that one is lost.

import { MessageChannel } from 'node:worker_threads';
import { spread } from '../cluster/spread.ts';
import type { Config } from '../config/config-schema.ts';
import { elementAt } from '../core/assert.ts';
import { errorText } from '../core/errors.ts';
import { type DataFolder, shardNumbers } from '../data-folder/data-folder.ts';
import { serviceOf } from '../data-folder/mirrored-directory.ts';
import type { NodeIdentity, ReachableNode } from '../postgresql/lease-table.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { LendingThreadData, LentShard } from './lending-protocol.ts';
import { ProgressBoard } from './progress-board.ts';
import { Thread } from './thread.ts';
import type { News, StandbyThreadData } from './thread-protocol.ts';

const lendingEntry = new URL('./lending-thread.ts', import.meta.url);
const standbyEntry = new URL('./standby-thread.ts', import.meta.url);

export interface LendingOptions {
  readonly config: Config;
  readonly folder: DataFolder;
  readonly identity: NodeIdentity;
  /** The epoch of the lease. */
  readonly epoch: number;
  /** The memory of the ownership board. */
  readonly ownership: SharedArrayBuffer;
  /** What nodes know each other by. */
  readonly key: Uint8Array;
  /** The shards whose files were found whole: their next start here does not check them again. */
  readonly checked: Set<number>;
  readonly logger: Logger;
}

/** Nodes that come at about the same time are given partitions together. */
const settleMs = 1_000;

export class Lending {
  readonly #options: LendingOptions;
  readonly #links: Thread;
  readonly #standby: Thread;
  /** The names of the nodes that this one is connected to, by their processes. */
  readonly #linked = new Map<string, string>();
  /** The processes that are there, as PostgreSQL knows, and were not drained. */
  #known: readonly string[] = [];
  /** The process that is to run each partition. */
  #placed: readonly string[];
  /** The process that each was last run by. */
  readonly #ranAt: string[];
  /** Until then attempts of webhooks may run that another node has made. */
  readonly #quietUntilMs: number[];
  #replace: (number: number) => Promise<void> = async () => {};
  #settling: NodeJS.Timeout | null = null;
  #moves: Promise<void> | null = null;
  /** The partition that is moved now. */
  #moving: number | null = null;
  #isStopping = false;

  constructor(options: LendingOptions) {
    const { config, folder, identity, epoch, ownership, key, checked } = options;
    this.#options = options;
    this.#placed = shardNumbers(folder).map(() => identity.process);
    this.#ranAt = [...this.#placed];
    this.#quietUntilMs = this.#placed.map(() => 0);
    const links: LendingThreadData = { config, identity, epoch, ownership, key };
    this.#links = Thread.worker({ name: 'the lending thread', entry: lendingEntry });
    this.#links.begin(links, (news) => this.#hear(news));
    const followed: StandbyThreadData = {
      config,
      service: serviceOf(folder),
      shards: [],
      progress: ProgressBoard.memory(folder.shards),
    };
    this.#standby = Thread.worker({ name: 'the thread that follows lent partitions', entry: standbyEntry });
    this.#standby.begin(followed, (news) => {
      if (news.type === 'whole') checked.add(news.shard);
    });
  }

  /** Begins to lend. `replace` has a shard's thread made anew, and resolves when that is ready. */
  start(replace: (number: number) => Promise<void>): void {
    this.#replace = replace;
  }

  /** The other nodes, as they are now. */
  nodes(nodes: readonly ReachableNode[]): void {
    const before = this.#members;
    this.#known = nodes.map(({ process }) => process);
    if (before.some((process) => !this.#members.includes(process))) this.#spread();
    this.#links.ask('lead', { nodes }).catch(() => {});
  }

  /** The other nodes that can be given partitions. */
  get #members(): readonly string[] {
    return this.#known.filter((process) => this.#linked.has(process));
  }

  #hear(news: News): void {
    const { logger } = this.#options;
    if (news.type === 'linked') {
      this.#linked.set(news.process, news.node);
      logger.info(`node ${news.node} can run partitions`);
      this.#settling ??= setTimeout(() => {
        this.#settling = null;
        this.#spread();
      }, settleMs);
    } else if (news.type === 'unlinked') {
      this.#giveUp(news.process);
    }
  }

  /** The node is given nothing more, until it is connected to anew. */
  #giveUp(process: string): void {
    if (this.#linked.delete(process)) this.#spread();
  }

  #spread(): void {
    const here = this.#options.identity.process;
    this.#placed = spread([here, ...this.#members], this.#placed);
    this.#moves ??= this.#moveAll().finally(() => {
      this.#moves = null;
      this.#moving = null;
    });
  }

  /** Those of a node that was lost are started anew by whoever supervises them. */
  async #moveAll(): Promise<void> {
    const isMisplaced = (process: string, number: number) =>
      process !== this.#placed[number] && (process === this.#here || this.#linked.has(process));
    for (;;) {
      const number = this.#ranAt.findIndex(isMisplaced);
      if (number === -1 || this.#isStopping) return;
      const fromMs = performance.now();
      this.#moving = number;
      await this.#replace(number);
      if (this.#ranAt[number] === this.#placed[number])
        this.#options.logger.info(
          `partition ${number} runs on ${this.#nameOf(elementAt(this.#ranAt, number))} after ${Math.round(performance.now() - fromMs)} ms`,
        );
      else return;
    }
  }

  get #here(): string {
    return this.#options.identity.process;
  }

  #nameOf(process: string): string {
    return process === this.#here ? 'this node' : `node ${this.#linked.get(process) ?? 'that is gone'}`;
  }

  /**
   * Prepares a partition's start where it is to run. Resolves with the process of another node, or
   * with null for this one.
   */
  async place(number: number): Promise<string | null> {
    const { folder, config, logger } = this.#options;
    const process = elementAt(this.#placed, number);
    if (process !== this.#ranAt[number])
      this.#quietUntilMs[number] = performance.now() + config.webhooks.timeoutMs;
    this.#ranAt[number] = process;
    if (process === this.#here) {
      await this.#standby.ask('release', { partition: number }).catch(() => {});
      return null;
    }
    const shard = { dir: folder.shardDir(number), identity: folder.shardIdentity(number) };
    // Without it the partition is served all the same, and begins more slowly here.
    this.#standby
      .ask('follow', { shard })
      .catch((error) => logger.error(`partition ${number} is not followed here: ${errorText(error)}`));
    return process;
  }

  /** For so long nobody here may deliver webhooks of the partition. */
  quietMs(number: number): number {
    return Math.max(0, elementAt(this.#quietUntilMs, number) - performance.now());
  }

  /** The shard's thread in another node. */
  open(process: string, shard: LentShard): Thread {
    const { port1, port2 } = new MessageChannel();
    this.#links.lend(process, shard, port1);
    const thread = Thread.elsewhere(port2, this.#nameOf(process));
    // It stops, or can't run the partition.
    void thread.ended.then(() => {
      if (this.#moving !== shard.number && !this.#isStopping) this.#giveUp(process);
    });
    return thread;
  }

  /** The metrics of its own threads, as prom-client's JSON. */
  async counted(): Promise<readonly object[]> {
    const threads = [this.#links, this.#standby];
    const parts = await Promise.all(threads.map((thread) => thread.ask('metrics', {}).catch(() => null)));
    return parts.filter((part) => part !== null);
  }

  /** To be called when no shard of this node is run any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#settling !== null) clearTimeout(this.#settling);
    await Promise.all([this.#links.stop(), this.#standby.stop()]);
  }
}
