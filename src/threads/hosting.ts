// The threads that this node runs for the one that has the lease while it stands by: those of
// shards, with the webhook threads that these need, edges, and the thread of its own request logs.

import type { MessagePort } from 'node:worker_threads';
import { errorText } from '../core/errors.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import { DiskRoom } from '../data-folder/disk-space.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import { trustClocks } from '../telemetry/system-clocks.ts';
import { laterWhile } from './connect-threads.ts';
import { followUntilDone } from './follow-again.ts';
import { HostedEdges, type HostedEdgesOptions } from './hosted-edges.ts';
import { HostedWebhooks } from './hosted-webhooks.ts';
import { InstructionGate } from './instruction-gate.ts';
import type { LentShard } from './lending-protocol.ts';
import { metricsOfThreads } from './metrics-of-threads.ts';
import { damageTold } from './progress-board.ts';
import { followedShard } from './standby-partitions.ts';
import type { Thread, ThreadFailure } from './thread.ts';
import { kinds } from './thread-kinds.ts';
import type { News, Notice, RequestLogThreadData, ShardThreadData } from './thread-protocol.ts';

interface HostingOptions extends HostedEdgesOptions {
  readonly folder: DataFolder;
  /** The thread that stands by. */
  readonly standby: Pick<Thread, 'ask'>;
  /** The shards whose files that one has found whole. */
  readonly whole: Set<number>;
  /** Hears that this node's files of a partition are damaged. */
  readonly onDamaged: (partition: number) => void;
}

type Taken = Extract<News, { type: 'lent' }>;

/** How a partition comes here that is about to start. */
interface Taking extends Pick<Taken, 'term' | 'port'> {
  readonly instructions: InstructionGate;
  /** Whoever has lent it still wants it here. */
  readonly mayStart: () => boolean;
}

const diskLookMs = 1_000;

export class Hosting {
  readonly #options: HostingOptions;
  readonly #board: OwnershipBoard;
  readonly #edges: HostedEdges;
  readonly #webhooks: HostedWebhooks;
  readonly #shards = new Map<number, Thread>();
  /** The partitions that are about to start here: nobody may follow them again meanwhile. */
  readonly #starting = new Set<number>();
  /** The threads of the request logs: one, and others that wait until it has ended. */
  readonly #logs = new Set<Thread>();
  #logWriter: Promise<void> = Promise.resolve();
  /** What is done to each partition, one after the other. */
  readonly #work = new Map<number, Promise<void>>();
  #isStopping = false;
  readonly #halted = Promise.withResolvers<void>();
  readonly #room: DiskRoom;
  readonly #watchingDisk: NodeJS.Timeout;

  constructor(options: HostingOptions) {
    this.#options = options;
    this.#room = new DiskRoom(options.config().dataDir, (isFull) => this.#diskChanged(isFull));
    this.#watchingDisk = setInterval(() => this.#shards.size > 0 && this.#room.isFull(), diskLookMs).unref();
    this.#board = new OwnershipBoard(options.trust, trustClocks);
    this.#edges = new HostedEdges(options);
    this.#webhooks = new HostedWebhooks(options);
  }

  /** Runs a thread for as long as the port is open. */
  take({ lent, term, port }: Taken): void {
    if (this.#isStopping) port.close();
    else if (lent.kind === 'edge') this.#edges.take(lent.edge, term, port);
    else if (lent.kind === 'request_logs') this.#takeLogs(term, port);
    else this.#takeShard(lent.shard, term, port);
  }

  #takeShard(shard: LentShard, term: number, port: MessagePort): void {
    let isOver = false;
    // A port does not say that it was closed while a message waits that nobody takes.
    const instructions = new InstructionGate(port);
    port.once('close', () => {
      isOver = true;
      void this.#shards.get(shard.number)?.stop();
    });
    const mayStart = () => !isOver && !this.#isStopping;
    const { number } = shard;
    const before = this.#work.get(number) ?? Promise.resolve();
    const work = before
      .then(() => this.#start(shard, { term, port, instructions, mayStart }))
      .catch((error) => {
        this.#options.logger.error({ err: error }, `partition ${number} can't be run here`);
        const message = `the other node can't run it: ${errorText(error)}`;
        port.postMessage({ type: 'failed', message, fatal: false } satisfies Notice);
        port.close();
      });
    this.#work.set(number, work);
  }

  async #start(lent: LentShard, { term, port, instructions, mayStart }: Taking): Promise<void> {
    const { folder, trust, standby, whole, threads, logger } = this.#options;
    const config = this.#options.config();
    const { number, quietMs, attemptMs, ...everywhere } = lent;
    if (this.#room.isFull()) throw new Error('its disk is full');
    // One that was lent before may not have ended yet.
    await this.#shards.get(number)?.ended;
    this.#starting.add(number);
    try {
      if (mayStart())
        await Promise.race([standby.ask('release', { partition: number }), this.#halted.promise]);
    } finally {
      this.#starting.delete(number);
    }
    // Whoever has lent it may run it elsewhere by now.
    if (!mayStart()) {
      port.close();
      this.#followAgain(number);
      return;
    }
    const data: ShardThreadData = {
      ...everywhere,
      number,
      dir: folder.shardDir(number),
      identity: folder.shardIdentity(number),
      ownership: trust,
      term,
      isChecked: whole.delete(number),
      config,
      paused: false,
    };
    const shard = threads.take(kinds.shard(number, config)).begin(data);
    shard.giveAway(port, instructions);
    this.#shards.set(number, shard);
    logger.info({ shard: number }, `partition ${number} runs on this node`);
    this.#webhooks.start(lent.secretsKeys, attemptMs);
    void shard.ready.then(
      () => laterWhile(shard, quietMs, () => this.#webhooks.deliver(number, shard)),
      () => {},
    );
    void shard.ended.then((failure) => this.#ended(number, failure));
  }

  /** The thread of this node's request logs. Its edges hand it their last entries. */
  #takeLogs(term: number, port: MessagePort): void {
    const { config, threads } = this.#options;
    const logs = threads.take(kinds.requestLogs);
    let isOver = false;
    logs.giveAway(port);
    this.#logs.add(logs);
    port.once('close', async () => {
      isOver = true;
      await this.#edges.ended(term);
      await logs.stop();
    });
    void logs.ended.then(() => this.#logs.delete(logs));
    // One thread at a time writes them.
    this.#logWriter = this.#logWriter.then(async () => {
      const data: RequestLogThreadData = { config: config(), missing: null };
      if (!isOver && !this.#isStopping) logs.begin(data);
      await logs.ended;
      if (!this.#isStopping) threads.prepare(kinds.requestLogs);
    });
  }

  /** Another node has room to write what this one can't. */
  #diskChanged(isFull: boolean): void {
    const { logger } = this.#options;
    if (isFull) logger.error('the disk is full: no partition is run here');
    else logger.warn('the disk has room again: partitions can be run here');
    if (isFull) for (const shard of this.#shards.values()) void shard.stop();
  }

  /** The partition is followed again, and the next start of its thread is prepared. */
  #ended(number: number, failure: ThreadFailure | null): void {
    const { config, threads, logger, onDamaged } = this.#options;
    this.#board.setHeld(number, false);
    this.#shards.delete(number);
    this.#webhooks.leave(number);
    if (this.#shards.size === 0) void this.#webhooks.stop();
    const ended = `partition ${number} does not run on this node any more`;
    if (failure === null) logger.info({ shard: number }, ended);
    else if (failure.isOfNode)
      logger.error({ shard: number }, damageTold('this node', number, failure.message));
    else logger.warn({ shard: number }, `${ended}: ${failure.message}`);
    if (!this.#isStopping) threads.prepare(kinds.shard(number, config()));
    if (failure?.isOfNode) onDamaged(number);
    else this.#followAgain(number);
  }

  #followAgain(number: number): void {
    const { folder, standby, logger } = this.#options;
    const isWanted = () => !this.#isStopping && !this.#shards.has(number) && !this.#starting.has(number);
    void followUntilDone(standby, followedShard(folder, number), isWanted, logger);
  }

  /** Applies what can change. Resolves with the failures, each as one line. */
  async reread(): Promise<string[]> {
    const config = this.#options.config();
    const webhooks = this.#webhooks.all.map(({ thread }) => thread);
    for (const thread of [...this.#shards.values(), ...this.#logs, ...webhooks])
      thread?.ask('reread', { config }).catch(() => {});
    return this.#edges.reread();
  }

  /** The metrics of its threads that nobody else asks, as prom-client's JSON. */
  metrics(): Promise<readonly object[]> {
    const webhooks = this.#webhooks.all.map(({ ready }) => ready);
    const logs = [...this.#logs].filter(({ isReady }) => isReady);
    return metricsOfThreads([...webhooks, ...this.#edges.listening, ...logs]);
  }

  /** This node is to stop soon. */
  announceStop(): void {
    this.#edges.announceStop();
  }

  /** Resolves when every shard and every edge has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#watchingDisk);
    this.#halted.resolve();
    // They ask the shards.
    await Promise.all([...this.#work.values(), this.#edges.stop()]);
    const others = [...this.#shards.values(), ...this.#logs].map((thread) => thread.stop());
    await Promise.all([this.#webhooks.stop(), ...others]);
  }
}
