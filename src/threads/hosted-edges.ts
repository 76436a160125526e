// The edges that this node runs for the one that has the lease, while it stands by. They listen
// where the relay does, which rests meanwhile.

import type { MessagePort } from 'node:worker_threads';
import type { Config } from '../config/config-schema.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { EdgeAnywhere } from './lending-protocol.ts';
import type { Thread } from './thread.ts';
import { kinds, type WaitingThreads } from './thread-kinds.ts';
import type { EdgeThreadData, Instruction } from './thread-protocol.ts';

export interface HostedEdgesOptions {
  /** As it was read last: threads are started with it. */
  readonly config: () => Config;
  readonly port: number;
  /** The memory of the board that says for how long this node may speak for what it was lent. */
  readonly trust: SharedArrayBuffer;
  readonly threads: WaitingThreads;
  readonly logger: Logger;
  /** Hears when the first edge listens, and when none is wanted any more. */
  readonly onListening: (isListening: boolean) => void;
}

interface HostedEdge {
  readonly thread: Thread;
  /** Of the link that it came by. */
  readonly term: number;
}

function tellOfStop(edge: Thread): void {
  edge.ask('announce_stop', {}).catch(() => {});
}

export class HostedEdges {
  readonly #options: HostedEdgesOptions;
  readonly #edges = new Map<string, HostedEdge>();
  readonly #listening = new Set<Thread>();
  /** This node is to stop soon. */
  #isToStop = false;
  #isStopping = false;
  /** How many connections they have, all together. */
  readonly #connections = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

  constructor(options: HostedEdgesOptions) {
    this.#options = options;
  }

  /** Runs an edge for as long as the port is open. `term`: that of the link that it came by. */
  take(edge: EdgeAnywhere, term: number, port: MessagePort): void {
    const { config, port: listened, trust, threads, logger } = this.#options;
    const kind = this.#freeKind();
    const data: EdgeThreadData = {
      ...edge,
      term,
      config: config(),
      port: listened,
      ownership: trust,
      connections: this.#connections,
      paused: false,
    };
    const thread = threads.take(kind).begin(data);
    this.#edges.set(kind.name, { thread, term });
    let isOver = false;
    const over = () => {
      isOver = true;
      if (this.#listening.delete(thread) && this.#listening.size === 0) this.#options.onListening(false);
    };
    // The relay must listen again before the edge stops listening.
    port.on('message', ({ type }: Instruction) => {
      if (type === 'stop') over();
    });
    port.once('close', () => {
      over();
      // Nobody can be answered any more but with a refusal.
      void thread.stop({ atOnce: true });
    });
    thread.giveAway(port);
    if (this.#isToStop) tellOfStop(thread);
    const listens = () => {
      if (isOver) return;
      logger.info(`edge ${edge.number} takes requests on this node`);
      this.#listening.add(thread);
      if (this.#listening.size === 1) this.#options.onListening(true);
    };
    void thread.ready.then(listens, () => {});
    void thread.ended.then(() => {
      over();
      this.#edges.delete(kind.name);
      if (!this.#isStopping) threads.prepare(kind);
    });
  }

  /** Those that were started ahead are the first. */
  #freeKind() {
    for (let place = 0; ; place++) {
      const kind = kinds.edge(place);
      if (!this.#edges.has(kind.name)) return kind;
    }
  }

  /** Resolves with the failures, each as one line. */
  async reread(): Promise<string[]> {
    const config = this.#options.config();
    const answers = [...this.#edges.values()].map(({ thread }) =>
      thread.ask('reread', { config }).catch(() => null),
    );
    return (await Promise.all(answers)).filter((failure) => typeof failure === 'string');
  }

  /** Those that listen. */
  get listening(): readonly Thread[] {
    return [...this.#listening];
  }

  /** Resolves when those of the term, and of older ones, have ended. */
  async ended(term: number): Promise<void> {
    const those = [...this.#edges.values()].filter((edge) => edge.term <= term);
    await Promise.all(those.map(({ thread }) => thread.ended));
  }

  /** This node is to stop soon. */
  announceStop(): void {
    this.#isToStop = true;
    for (const { thread } of this.#edges.values()) tellOfStop(thread);
  }

  /** Resolves when every edge has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#edges.values()].map(({ thread }) => thread.stop()));
  }
}
