// The node that has the lease has other nodes run some of its shards: those that stand by and can
// be reached. Shards are spread as operators want it, else evenly, and moved one at a time. A
// partition that another node runs is followed here meanwhile, so that this node can run it at once
// when that one is lost. Those nodes run edges, too.

import { MessageChannel } from 'node:worker_threads';
import type { Registry } from 'prom-client';
import type { NodeIdentity, ReachableNode } from '../cluster/node.ts';
import { Wiring } from '../cluster/wires.ts';
import type { Config } from '../config/config-schema.ts';
import { elementAt } from '../core/assert.ts';
import { type DataFolder, shardNumbers } from '../data-folder/data-folder.ts';
import { serviceOf } from '../data-folder/remote-stores.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import { createLendingMetrics } from '../telemetry/cluster-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { trustClocks } from '../telemetry/system-clocks.ts';
import type { Edges } from './edges.ts';
import { followUntilDone } from './follow-again.ts';
import type { LendingThreadData, Lent, LentShard } from './lending-protocol.ts';
import { metricsOfThreads } from './metrics-of-threads.ts';
import { Placement } from './placement.ts';
import { damageTold, ProgressBoard } from './progress-board.ts';
import type { RequestLogThreads } from './request-log-threads.ts';
import { followedShard } from './standby-partitions.ts';
import { startMsMax, Thread, type ThreadFailure } from './thread.ts';
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
  /** What an attempt of a webhook that another node has begun may last. */
  readonly attemptMsMax: number;
  /** What nodes know each other by where no certificates are configured. */
  readonly key: Uint8Array;
  /** The shards whose files were found whole: their next start here does not check them again. */
  readonly checked: Set<number>;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Hears that this node's files of a partition are damaged. */
  readonly onDamaged: (partition: number) => void;
  /** Hears that one of its own threads has ended: the service can't go on. */
  readonly onLost: (failure: ThreadFailure) => void;
}

/** Whose threads are lent. */
interface Lender {
  /** Has a shard's thread made anew. Resolves with whether that has become ready. */
  readonly replace: (number: number) => Promise<boolean>;
  readonly edges: Pick<Edges, 'join' | 'leave'>;
  readonly requestLogs: Pick<RequestLogThreads, 'join' | 'leave'>;
  /** Connects the threads of the two processes anew; what is under way between them is refused. */
  readonly reconnect: (process: string, other: string) => void;
}

/** Nodes that come at about the same time are given partitions together. */
const settleMs = 1_000;

export class Lending {
  readonly #options: LendingOptions;
  readonly #board: OwnershipBoard;
  readonly #links: Thread;
  readonly #standby: Thread;
  readonly #placement: Placement;
  /** The ways between threads of other nodes that do not pass this one. */
  readonly wiring: Wiring;
  readonly #metrics: ReturnType<typeof createLendingMetrics>;
  /** The processes that run edges for this one. */
  readonly #joined = new Set<string>();
  /** Until then attempts of webhooks may run that another node has made. */
  readonly #quietUntilMs: number[];
  /** Null: nothing is lent yet. */
  #lender: Lender | null = null;
  #settling: NodeJS.Timeout | null = null;
  /** The partitions whose database does not answer. */
  #silent: readonly number[] = [];
  #isMoving = false;
  /** The partitions that are moved and are not ready yet: who ran each, and when that began. */
  readonly #moves = new Map<number, { readonly before: string; readonly fromMs: number }>();
  /** Resolved when the partitions are spread anew. */
  #respread = Promise.withResolvers<void>();
  readonly #halted = Promise.withResolvers<void>();
  #isStopping = false;

  constructor(options: LendingOptions) {
    const { config, folder, identity, epoch, ownership, key, checked } = options;
    this.#options = options;
    this.#board = new OwnershipBoard(ownership, trustClocks);
    this.#placement = new Placement(identity.process, folder.shards, () => performance.now());
    this.wiring = new Wiring(epoch);
    this.#quietUntilMs = shardNumbers(folder).map(() => 0);
    this.#metrics = createLendingMetrics(options.registry, {
      runs: () => shardNumbers(folder).map((number) => this.#nodeOf(this.#placement.ranAt(number))),
      links: () => this.#placement.links,
    });
    const links: LendingThreadData = { config, identity, epoch, ownership, key };
    this.#links = this.#require('the lending thread', lendingEntry, links, (news) => this.#hear(news));
    const followed: StandbyThreadData = {
      config,
      service: serviceOf(folder),
      shards: [],
      isLending: true,
      progress: ProgressBoard.memory(folder.shards),
    };
    this.#standby = this.#require(
      'the thread that follows lent partitions',
      standbyEntry,
      followed,
      (news) => {
        if (news.type === 'whole') checked.add(news.shard);
        else if (news.type === 'damaged') {
          checked.delete(news.shard);
          this.#damaged(this.#here, news.shard, news);
        }
      },
    );
  }

  /** A thread without which nobody could say any more who runs what. */
  #require(name: string, entry: URL, data: unknown, onNews: (news: News) => void): Thread {
    const thread = Thread.worker({ name, entry }).begin(data, onNews);
    thread.onLost(name, this.#options.onLost);
    return thread;
  }

  /** Begins to lend. */
  start(lender: Lender): void {
    this.#lender = lender;
    this.#lendThreads();
    this.#spreadSoon();
  }

  /**
   * The nodes, this one among them, as they are now, and the partitions whose database does not
   * answer: to be told every second.
   */
  nodes(nodes: readonly ReachableNode[], silent: readonly number[]): void {
    this.#silent = silent;
    const others = nodes.filter(({ process }) => process !== this.#here);
    this.#links.ask('lead', { nodes: others }).catch(() => {});
    const when = this.#placement.know(nodes);
    this.#lendThreads();
    if (when === 'now') this.#spread();
    else if (when === 'soon') this.#spreadSoon();
    else void this.#moveAll();
  }

  #hear(news: News): void {
    const { logger } = this.#options;
    if (news.type === 'linked') {
      const { process, node, linkNumber, edges } = news;
      this.#placement.linked(process, { node, linkNumber, edges });
      logger.info(`node ${node} can run partitions and ${edges} edges`);
      this.#lendThreads();
      this.#spreadSoon();
    } else if (news.type === 'unlinked') {
      this.#placement.unlinked(news.process);
      this.wiring.gone(news.process);
      this.#lender?.requestLogs.leave(news.process);
      this.#metrics.linkLost();
      this.#lendThreads();
      this.#spread();
    } else if (news.type === 'together' || news.type === 'apart') {
      const { type, process, other } = news;
      const names = `nodes ${this.#nodeOf(process)} and ${this.#nodeOf(other)}`;
      // It is told each time that they try in vain.
      if (type === 'apart' && !this.wiring.apart(process, other)) return;
      if (type === 'together') {
        this.wiring.together(process, other);
        logger.info(`${names} are linked: their requests go straight`);
      } else logger.warn(`${names} don't reach each other: their requests pass this one`);
      this.#lender?.reconnect(process, other);
    }
  }

  /** Each node that can be reached keeps its request logs, and runs its edges unless drained. */
  #lendThreads(): void {
    if (this.#lender === null) return;
    const { edges: all, requestLogs } = this.#lender;
    for (const [process, { node }] of this.#placement.hosts)
      requestLogs.join(process, node, () => this.#open(process, { kind: 'request_logs' }));
    const takers = new Map(this.#placement.edgeTakers);
    for (const process of [...this.#joined])
      if (!takers.has(process)) {
        this.#joined.delete(process);
        void all.leave(process);
      }
    for (const [process, { node, edges }] of takers)
      if (!this.#joined.has(process)) {
        this.#joined.add(process);
        all.join(process, node, edges, (edge) => this.#open(process, { kind: 'edge', edge }));
      }
  }

  #spreadSoon(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      this.#spread();
    }, settleMs);
  }

  #spread(): void {
    this.#placement.spread();
    this.#respread.resolve();
    this.#respread = Promise.withResolvers();
    void this.#moveAll();
  }

  /** What does not move now is tried again when the nodes are told next. */
  async #moveAll(): Promise<void> {
    if (this.#isMoving || this.#lender === null) return;
    this.#isMoving = true;
    let number = this.#placement.misplaced(0);
    while (number !== null && !this.#isStopping) {
      this.#moves.set(number, { before: this.#placement.ranAt(number), fromMs: performance.now() });
      await this.#lender.replace(number);
      number = this.#placement.misplaced(number + 1);
    }
    this.#isMoving = false;
  }

  /** The partition's thread is made: it may be ready long after whoever moved it stopped waiting. */
  #tellMove(thread: Thread, number: number): void {
    const move = this.#moves.get(number);
    if (move === undefined) return;
    const tell = () => {
      if (this.#moves.get(number) !== move) return;
      this.#moves.delete(number);
      const to = this.#placement.ranAt(number);
      const ms = Math.round(performance.now() - move.fromMs);
      if (to !== move.before)
        this.#options.logger.info(`partition ${number} runs on ${this.#nameOf(to)} after ${ms} ms`);
    };
    thread.ready.then(tell, () => {});
  }

  get #here(): string {
    return this.#options.identity.process;
  }

  #nodeOf(process: string): string {
    if (process === this.#here) return this.#options.identity.node;
    return this.#placement.linkedNode(process)?.node ?? 'that is gone';
  }

  #nameOf(process: string): string {
    return process === this.#here ? 'this node' : `node ${this.#nodeOf(process)}`;
  }

  /**
   * Prepares a partition's start where it is to run. Resolves with the process of another node, or
   * with null for this one, or when the service stops. Waits for a node that can run it.
   */
  async place(number: number): Promise<string | null> {
    const { folder, attemptMsMax, logger } = this.#options;
    await this.#untilRunnable(number);
    const { process, before } = this.#placement.start(number);
    if (process !== before) {
      this.#metrics.moved();
      this.#quietUntilMs[number] = performance.now() + attemptMsMax;
    }
    if (process === this.#here) {
      const released = this.#standby.ask('release', { partition: number });
      await Promise.race([released, this.#halted.promise]);
      return null;
    }
    // Without it a lent partition is served all the same, and begins more slowly here.
    const isWanted = () =>
      !this.#isStopping && this.#placement.ranAt(number) !== this.#here && this.#placement.isWhole(number);
    void followUntilDone(this.#standby, followedShard(folder, number), isWanted, logger);
    return process;
  }

  async #untilRunnable(number: number): Promise<void> {
    const isRunnable = () => this.#isStopping || this.#placement.isRunnable(number);
    if (isRunnable()) return;
    this.#options.logger.fatal(
      { shard: number },
      `partition ${number} is down until a node is linked that has its files whole`,
    );
    while (!isRunnable()) await Promise.race([this.#respread.promise, this.#halted.promise]);
  }

  /** The process can't run the partition, and another one may. */
  #damaged(process: string, number: number, { message }: Pick<ThreadFailure, 'message'>): void {
    const { logger, onDamaged } = this.#options;
    logger.error({ shard: number }, damageTold(this.#nameOf(process), number, message));
    this.#placement.damaged(process, number);
    if (process === this.#here) onDamaged(number);
    this.#spread();
  }

  /** The shard's thread on this node has begun. */
  watch(thread: Thread, number: number): void {
    this.#tellMove(thread, number);
    thread.onLost(`shard ${number}`, (failure) => {
      if (failure.isOfNode) this.#damaged(this.#here, number, failure);
    });
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
    this.#links.connect({ type: 'lend', process, lent }, port1);
    const linkNumber = this.#placement.linkedNode(process)?.linkNumber ?? 0;
    const giveUp = () => void this.#links.ask('unlink', { process, linkNumber }).catch(() => {});
    return Thread.elsewhere(port2, { process, name: this.#nameOf(process), giveUp });
  }

  /** The shard's thread in another node. */
  open(process: string, shard: LentShard): Thread {
    const { logger } = this.#options;
    const thread = this.#open(process, { kind: 'shard', shard });
    this.#tellMove(thread, shard.number);
    const failed = (forLong: boolean) => {
      if (this.#isStopping || this.#placement.linkedNode(process) === null) return;
      this.#placement.failed(process, forLong);
      this.#spread();
    };
    // It stops, or can't run the partition.
    thread.onLost(`shard ${shard.number}`, (failure) => {
      if (failure.isOfNode) this.#damaged(process, shard.number, failure);
      else if (!failure.isRemote) failed(false);
    });
    const isExcused = () => this.#silent.includes(shard.number);
    thread.startWithin(startMsMax, isExcused, () => {
      logger.error(
        `partition ${shard.number} does not start on ${this.#nameOf(process)} within ${startMsMax} ms`,
      );
      // The partition was down for longer than a short wait would be worth.
      failed(true);
    });
    return thread;
  }

  /** The thread that follows the partitions which run on other nodes. */
  get follower(): Thread {
    return this.#standby;
  }

  /** The metrics of its own threads, as prom-client's JSON. */
  metrics(): Promise<readonly object[]> {
    return metricsOfThreads([this.#links, this.#standby]);
  }

  reread(config: Config): void {
    this.#links.ask('reread', { config }).catch(() => {});
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
