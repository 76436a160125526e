// Where the shards of the node that has the lease run: here, or in other nodes that stand by and
// can be reached. They are spread as operators want it, else evenly, and moved one at a time. A
// partition that another node runs is followed here meanwhile, so that this node can run it at once
// when that one is lost. Those nodes run edges, too.

import { MessageChannel } from 'node:worker_threads';
import { spread } from '../cluster/spread.ts';
import type { Config } from '../config/config-schema.ts';
import { elementAt } from '../core/assert.ts';
import { type DataFolder, shardNumbers } from '../data-folder/data-folder.ts';
import { serviceOf } from '../data-folder/mirrored-directory.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import type { NodeIdentity, ReachableNode } from '../postgresql/lease-table.ts';
import type { Logger } from '../telemetry/logger.ts';
import { trustClocks } from '../telemetry/system-clocks.ts';
import { BackOff } from './back-off.ts';
import type { Edges } from './edges.ts';
import { followUntilDone } from './follow-again.ts';
import { followedShard } from './hosted-standby.ts';
import type { LendingThreadData, Lent, LentShard } from './lending-protocol.ts';
import { metricsOfThreads } from './metrics-of-threads.ts';
import { ProgressBoard } from './progress-board.ts';
import { Thread, type ThreadFailure } from './thread.ts';
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
  /** Hears that one of its own threads has ended: the service can't go on. */
  readonly onLost: (failure: ThreadFailure) => void;
}

/** Whose threads are lent. */
export interface Lender {
  /** Has a shard's thread made anew, and resolves when that is done. */
  readonly replace: (number: number) => Promise<void>;
  readonly edges: Pick<Edges, 'join' | 'leave'>;
}

interface LinkedNode {
  readonly node: string;
  /** How many edges it can run. */
  readonly edges: number;
}

/** Nodes that come at about the same time are given partitions together. */
const settleMs = 1_000;
/** A node that has failed is given nothing for so long, and twice as long each time. */
const unfitMsMin = 2_000;
const unfitMsMax = 120_000;

export class Lending {
  readonly #options: LendingOptions;
  readonly #board: OwnershipBoard;
  readonly #links: Thread;
  readonly #standby: Thread;
  /** The nodes that this one is connected to, by their processes. */
  readonly #linked = new Map<string, LinkedNode>();
  /** The processes that run edges for this one. */
  readonly #joined = new Set<string>();
  /** The processes that are there, as PostgreSQL knows, and were not drained. */
  #known: readonly string[] = [];
  /** The processes whose link was lost, or that could not run what they were given. */
  readonly #failures = new BackOff(unfitMsMin, unfitMsMax);
  /** The process that operators want each partition to run at; null: any. */
  #wanted: readonly (string | null)[];
  /** Between whom the partitions were spread last. */
  #spreadOver: readonly string[] = [];
  /** The process that is to run each partition. */
  #placed: readonly string[];
  /** The process that each was last run by. */
  readonly #ranAt: string[];
  /** Until then attempts of webhooks may run that another node has made. */
  readonly #quietUntilMs: number[];
  /** Null: nothing is lent yet. */
  #lender: Lender | null = null;
  #settling: NodeJS.Timeout | null = null;
  /** The partition that is moved now. */
  #moving: number | null = null;
  readonly #halted = Promise.withResolvers<void>();
  #isStopping = false;

  constructor(options: LendingOptions) {
    const { config, folder, identity, epoch, ownership, key, checked } = options;
    this.#options = options;
    this.#board = new OwnershipBoard(ownership, trustClocks);
    this.#placed = shardNumbers(folder).map(() => identity.process);
    this.#ranAt = [...this.#placed];
    this.#wanted = this.#placed.map(() => null);
    this.#quietUntilMs = this.#placed.map(() => 0);
    const links: LendingThreadData = { config, identity, epoch, ownership, key };
    this.#links = this.#keep('the lending thread', lendingEntry, links, (news) => this.#hear(news));
    const followed: StandbyThreadData = {
      config,
      service: serviceOf(folder),
      shards: [],
      isArchiving: true,
      progress: ProgressBoard.memory(folder.shards),
    };
    this.#standby = this.#keep('the thread that follows lent partitions', standbyEntry, followed, (news) => {
      if (news.type === 'whole') checked.add(news.shard);
    });
  }

  /** A thread without which nobody could say any more who runs what. */
  #keep(name: string, entry: URL, data: unknown, onNews: (news: News) => void): Thread {
    const thread = Thread.worker({ name, entry }).begin(data, onNews);
    thread.onLost(name, this.#options.onLost);
    return thread;
  }

  /** Begins to lend. */
  start(lender: Lender): void {
    this.#lender = lender;
    this.#lendEdges();
    this.#spreadSoon();
  }

  /** The nodes, this one among them, as they are now: to be told every second. */
  nodes(nodes: readonly ReachableNode[]): void {
    const others = nodes.filter(({ process }) => process !== this.#here);
    this.#known = others.filter(({ drained }) => !drained).map(({ process }) => process);
    this.#links.ask('lead', { nodes: others }).catch(() => {});
    this.#lendEdges();
    const before = this.#wanted;
    this.#wanted = before.map(
      (_, number) => nodes.find(({ wanted }) => wanted.includes(number))?.process ?? null,
    );
    const members = this.#members;
    const isGone = this.#spreadOver.some((process) => !members.includes(process));
    const isWanted = this.#wanted.some((process, number) => process !== before[number]);
    if (isGone || isWanted) this.#spread();
    else if (members.length !== this.#spreadOver.length) this.#spreadSoon();
    else void this.#moveAll();
  }

  /** The other nodes that can be given partitions. */
  get #members(): readonly string[] {
    return this.#known.filter((process) => this.#linked.has(process) && this.#failures.isOver(process));
  }

  #hear(news: News): void {
    const { logger } = this.#options;
    if (news.type === 'linked') {
      const { process, node, edges } = news;
      this.#linked.set(process, { node, edges });
      logger.info(`node ${node} can run partitions and ${edges} edges`);
      this.#lendEdges();
      this.#spreadSoon();
    } else if (news.type === 'unlinked') {
      this.#linked.delete(news.process);
      this.#lendEdges();
      this.#failed(news.process);
    }
  }

  /** Each node that can be reached and was not drained runs its edges. */
  #lendEdges(): void {
    if (this.#lender === null) return;
    const { edges: all } = this.#lender;
    for (const process of [...this.#joined])
      if (!this.#known.includes(process) || !this.#linked.has(process)) {
        this.#joined.delete(process);
        void all.leave(process);
      }
    for (const [process, { node, edges }] of this.#linked)
      if (this.#known.includes(process) && !this.#joined.has(process)) {
        this.#joined.add(process);
        all.join(process, node, edges, (edge) => this.#open(process, { kind: 'edge', edge }));
      }
  }

  /** The node is given no partition for a while. */
  #failed(process: string): void {
    this.#failures.failed(process);
    this.#spread();
  }

  #spreadSoon(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      this.#spread();
    }, settleMs);
  }

  #spread(): void {
    this.#spreadOver = this.#members;
    this.#placed = spread([this.#here, ...this.#spreadOver], this.#placed, this.#wanted);
    void this.#moveAll();
  }

  /**
   * Those of a node whose link is lost are started anew by whoever supervises them. What does not
   * move now is tried again when the nodes are told next.
   */
  async #moveAll(): Promise<void> {
    if (this.#moving !== null || this.#lender === null) return;
    for (let number = 0; number < this.#placed.length && !this.#isStopping; number++) {
      const process = elementAt(this.#ranAt, number);
      const isThere = process === this.#here || this.#linked.has(process);
      if (!isThere || process === this.#placed[number]) continue;
      const fromMs = performance.now();
      this.#moving = number;
      await this.#lender.replace(number);
      const to = elementAt(this.#ranAt, number);
      if (to !== process)
        this.#options.logger.info(
          `partition ${number} runs on ${this.#nameOf(to)} after ${Math.round(performance.now() - fromMs)} ms`,
        );
    }
    this.#moving = null;
  }

  get #here(): string {
    return this.#options.identity.process;
  }

  #nameOf(process: string): string {
    return process === this.#here ? 'this node' : `node ${this.#linked.get(process)?.node ?? 'that is gone'}`;
  }

  /**
   * Prepares a partition's start where it is to run. Resolves with the process of another node, or
   * with null for this one, or when the service stops.
   */
  async place(number: number): Promise<string | null> {
    const { folder, config, logger } = this.#options;
    const process = elementAt(this.#placed, number);
    if (process !== this.#ranAt[number])
      this.#quietUntilMs[number] = performance.now() + config.webhooks.timeoutMs;
    this.#ranAt[number] = process;
    if (process === this.#here) {
      const released = this.#standby.ask('release', { partition: number });
      await Promise.race([released, this.#halted.promise]);
      return null;
    }
    // Without it a lent partition is served all the same, and begins more slowly here.
    const isWanted = () => !this.#isStopping && this.#ranAt[number] !== this.#here;
    void followUntilDone(this.#standby, followedShard(folder, number), isWanted, logger);
    return process;
  }

  /** The shard has ended, wherever it ran: nothing here speaks for it until it is acquired again. */
  ended(number: number): void {
    this.#board.setHeld(number, false);
  }

  /** For so long nobody here may deliver webhooks of the partition. */
  quietMs(number: number): number {
    return Math.max(0, elementAt(this.#quietUntilMs, number) - performance.now());
  }

  /** A thread in another node. */
  #open(process: string, lent: Lent): Thread {
    const { port1, port2 } = new MessageChannel();
    this.#links.lend(process, lent, port1);
    const giveUp = () => void this.#links.ask('unlink', { process }).catch(() => {});
    return Thread.elsewhere(port2, this.#nameOf(process), giveUp);
  }

  /** The shard's thread in another node. */
  open(process: string, shard: LentShard): Thread {
    const thread = this.#open(process, { kind: 'shard', shard });
    // It stops, or can't run the partition.
    void thread.ended.then(() => {
      if (this.#moving !== shard.number && !this.#isStopping && this.#linked.has(process))
        this.#failed(process);
    });
    return thread;
  }

  /** The metrics of its own threads, as prom-client's JSON. */
  counted(): Promise<readonly object[]> {
    return metricsOfThreads([this.#links, this.#standby]);
  }

  /** The service stops: nobody waits for PostgreSQL any more. */
  halt(): void {
    this.#isStopping = true;
    this.#halted.resolve();
  }

  /** To be called when no shard of this node is run any more. */
  async stop(): Promise<void> {
    this.halt();
    if (this.#settling !== null) clearTimeout(this.#settling);
    await Promise.all([this.#links.stop(), this.#standby.stop()]);
  }
}
