// The threads of the request logs, one on each node that runs edges: the edges there hand it their
// entries, and it asks those of the other nodes when somebody searches. Requests don't wait for it:
// while it is away, their entries are dropped and counted.

import type { Wiring } from '../cluster/wires.ts';
import type { Config } from '../config/config-schema.ts';
import type { RequestLogClient } from '../request-logs/client.ts';
import type { Logger } from '../telemetry/logger.ts';
import { connectClient, connectThreads } from './connect-threads.ts';
import { createRequestLogClient } from './request-log-client.ts';
import { SupervisedThread, type SupervisedThreadOptions } from './supervised-thread.ts';
import type { Thread } from './thread.ts';
import { kinds, type WaitingThreads } from './thread-kinds.ts';
import type { RequestLogThreadData } from './thread-protocol.ts';

interface RequestLogThreadsOptions {
  /** As it was read last: threads are started with it. */
  readonly config: () => Config;
  readonly threads: WaitingThreads;
  /** The edges, wherever they run. */
  readonly edges: () => readonly SupervisedThread[];
  /** The node that had the lease before; null: none had. */
  readonly previous: string | null;
  /** Null: everything runs here. */
  readonly wiring: Wiring | null;
  readonly logger: Logger;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly countLost: (entries: number) => void;
}

interface LogsOfNode {
  readonly node: string;
  readonly supervised: SupervisedThread;
  /** Aborted when the node's link is lost. */
  readonly leaving: AbortController;
}

const here = null;

export class RequestLogThreads {
  readonly #options: RequestLogThreadsOptions;
  /** The main thread's end of the request logs; null when none are kept. */
  readonly client: RequestLogClient | null;
  /** By process; null: this one. */
  readonly #nodes = new Map<string | null, LogsOfNode>();

  constructor(options: RequestLogThreadsOptions) {
    const { config, logger, countLost } = options;
    this.#options = options;
    this.client = createRequestLogClient(config(), logger, countLost);
  }

  start(): void {
    const { config, threads, wiring, previous } = this.#options;
    if (this.client === null) return;
    const make = () => {
      const data: RequestLogThreadData = { config: config(), missing: wiring === null ? null : previous };
      return threads.take(kinds.requestLogs).begin(data);
    };
    this.#add(here, config().cluster.node ?? '', { name: kinds.requestLogs.name, make });
  }

  /** A node is linked; `open` has it run its thread. */
  join(process: string, node: string, open: () => Thread): void {
    if (this.client === null || this.#nodes.has(process)) return;
    // Places in logs go by the names of nodes: of two with one name one is searched.
    if ([...this.#nodes.values()].some((each) => each.node === node)) return;
    this.#add(process, node, { name: `${kinds.requestLogs.name} on node ${node}`, make: open });
  }

  #add(process: string | null, node: string, options: Pick<SupervisedThreadOptions, 'name' | 'make'>): void {
    const { logger } = this.#options;
    const leaving = new AbortController();
    const stopping = AbortSignal.any([this.#options.stopping, leaving.signal]);
    const onStarted = (thread: Thread) => this.#connect(thread, node);
    const supervised = new SupervisedThread({ ...options, onStarted, logger, stopping });
    this.#nodes.set(process, { node, supervised, leaving });
    void supervised.start();
  }

  /** The node's link is lost. */
  leave(process: string): void {
    const lost = this.#nodes.get(process);
    this.#nodes.delete(process);
    lost?.leaving.abort();
    void lost?.supervised.stop();
  }

  #connect(thread: Thread, node: string): void {
    const { edges } = this.#options;
    if (thread.process === here && this.client !== null)
      connectClient(thread, { type: 'connect_request_logs' }, this.client);
    for (const { thread: edge } of edges())
      if (edge?.process === thread.process) this.#connectBoth(thread, edge);
    for (const { node: otherNode, supervised } of this.#nodes.values())
      if (supervised.thread !== null && supervised.thread !== thread)
        this.#connectLogs([thread, node], [supervised.thread, otherNode]);
  }

  #connectLogs([one, node]: readonly [Thread, string], [other, otherNode]: readonly [Thread, string]): void {
    connectThreads(
      [one, { type: 'connect_other_logs', node: otherNode }],
      [other, { type: 'connect_other_logs', node }],
      this.#options.wiring,
    );
  }

  /** Whether wires lead from one of the processes to the other is different now. */
  reconnect(process: string, other: string): void {
    const [one, second] = [this.#nodes.get(process), this.#nodes.get(other)];
    if (one?.supervised.thread && second?.supervised.thread)
      this.#connectLogs([one.supervised.thread, one.node], [second.supervised.thread, second.node]);
  }

  /** An edge has been started. */
  connectEdge(edge: Thread): void {
    const logs = this.#nodes.get(edge.process)?.supervised.thread ?? null;
    if (logs !== null) this.#connectBoth(logs, edge);
  }

  #connectBoth(logs: Thread, edge: Thread): void {
    const connection = { type: 'connect_request_logs' } as const;
    connectThreads([logs, connection], [edge, connection], this.#options.wiring);
  }

  /** That of this node; null when no request logs are kept. */
  get own(): SupervisedThread | null {
    return this.#nodes.get(here)?.supervised ?? null;
  }

  reread(): void {
    this.own?.thread?.ask('reread', { config: this.#options.config() }).catch(() => {});
  }

  /** To be called when the edges have handed over their last entries. */
  async stop(): Promise<void> {
    this.client?.disconnect();
    await Promise.all([...this.#nodes.values()].map(({ supervised }) => supervised.stop()));
  }
}
