// The edges of the node that has the lease: its own, and those that other nodes run for it. All of
// them know the same keys: a change of the directory is done when every edge has applied it, or may
// not go by what it knows any more.

import type { Config } from '../config/config-schema.ts';
import { defined } from '../core/assert.ts';
import type { Directory, DirectoryChange } from '../directory/directory.ts';
import type { RefusedKeyNote } from '../edge/api/refused-keys.ts';
import type { Logger } from '../telemetry/logger.ts';
import { keyRingChangeOf } from './directory-projections.ts';
import type { EdgeAnywhere } from './lending-protocol.ts';
import { SupervisedThread } from './supervised-thread.ts';
import type { Thread, ThreadFailure } from './thread.ts';
import { kinds, type WaitingThreads } from './thread-kinds.ts';
import type { EdgeThreadData, News } from './thread-protocol.ts';

interface EdgesOptions {
  /** As it was read last: threads are started with it. */
  readonly config: () => Config;
  readonly shards: number;
  readonly directory: Pick<Directory, 'listenKey' | 'snapshot' | 'keyUses'>;
  /** The memory of the ownership board. */
  readonly ownership: SharedArrayBuffer;
  readonly threads: WaitingThreads;
  readonly port: number;
  readonly baseUrl: string;
  readonly logger: Logger;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly isPaused: () => boolean;
  /** Connects an edge with everybody it talks to. */
  readonly onStarted: (edge: Thread) => void;
  /** Hears of refused API keys, for the audit record. */
  readonly onRefusedKeys: (refused: readonly RefusedKeyNote[]) => void;
  /** An edge of this node has ended unexpectedly: the service can't go on. */
  readonly onEnded: (failure: ThreadFailure) => void;
}

/** The edges that a node runs for this one. */
interface LentEdges {
  readonly process: string;
  readonly numbers: readonly number[];
  readonly threads: readonly SupervisedThread[];
  /** Aborted when they are not wanted any more. */
  readonly leaving: AbortController;
}

export class Edges {
  readonly #options: EdgesOptions;
  readonly #own: readonly SupervisedThread[];
  /** Those that are leaving count until they have ended: they may go by their keys until then. */
  readonly #lent = new Set<LentEdges>();
  /** How many connections the edges of this node have, all together. */
  readonly #connections = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  #listenKey: string | null = null;

  constructor(options: EdgesOptions) {
    this.#options = options;
    this.#own = Array.from({ length: options.config().edges }, (_, number) => this.#ownEdge(number));
  }

  /** All of them, wherever they run. */
  get all(): readonly SupervisedThread[] {
    return [...this.#own, ...this.#lentThreads];
  }

  /** Those of this node. */
  get own(): readonly SupervisedThread[] {
    return this.#own;
  }

  get #lentThreads(): readonly SupervisedThread[] {
    return [...this.#lent].flatMap(({ threads }) => threads);
  }

  /** Starts those of this node. Resolves when all listen, or with why one can't. */
  async start(): Promise<ThreadFailure | null> {
    this.#listenKey = Buffer.from(await this.#options.directory.listenKey()).toString('base64');
    const failures = await Promise.all(this.#own.map((edge) => edge.start()));
    return failures.find((failure) => failure !== null) ?? null;
  }

  #ownEdge(number: number): SupervisedThread {
    const { config, threads, port, ownership, isPaused, logger, stopping, onStarted, onEnded } =
      this.#options;
    const kind = kinds.edge(number);
    const make = () => {
      const data: EdgeThreadData = {
        ...this.#anywhere(number, this.#sharing),
        term: 0,
        config: config(),
        port,
        ownership,
        connections: this.#connections,
        paused: isPaused(),
      };
      return threads.take(kind).begin(data, this.#hear);
    };
    return new SupervisedThread({ name: kind.name, make, onStarted, onLost: onEnded, logger, stopping });
  }

  #anywhere(number: number, edges: number): EdgeAnywhere {
    const { shards, baseUrl, directory } = this.#options;
    return {
      number,
      shards,
      edges,
      baseUrl,
      keys: directory.snapshot().map(keyRingChangeOf),
      listenKey: defined(this.#listenKey, 'edges are started when there is a key'),
    };
  }

  readonly #hear = (news: News): void => {
    const { onRefusedKeys, directory } = this.#options;
    if (news.type === 'refused_keys') onRefusedKeys(news.refused);
    else if (news.type === 'used_keys') directory.keyUses.note(news.used);
  };

  /** A node can run so many edges; `open` has it run one. */
  join(process: string, node: string, count: number, open: (edge: EdgeAnywhere) => Thread): void {
    const { logger, onStarted } = this.#options;
    const leaving = new AbortController();
    const stopping = AbortSignal.any([this.#options.stopping, leaving.signal]);
    const numbers = this.#freeNumbers(count);
    const threads = numbers.map((number) => {
      const name = `edge ${number} on node ${node}`;
      const make = () => open(this.#anywhere(number, this.#sharing + 1)).begin(null, this.#hear);
      const onReady = () => {
        logger.info(`${name} takes requests`);
        this.#tellShare();
      };
      const onEnded = () => this.#tellShare();
      const hears = { onStarted, onReady, onEnded };
      return new SupervisedThread({ name, make, ...hears, logger, stopping, spansNodes: true });
    });
    this.#lent.add({ process, numbers, threads, leaving });
    for (const thread of threads) void thread.start();
  }

  #freeNumbers(count: number): number[] {
    const taken = new Set([...this.#lent].flatMap(({ numbers }) => numbers));
    const free: number[] = [];
    for (let number = this.#own.length; free.length < count; number++)
      if (!taken.has(number)) free.push(number);
    return free;
  }

  /** The node's link is lost, or it is to run nothing. Resolves when its edges have ended. */
  async leave(process: string): Promise<void> {
    const isMeant = (lent: LentEdges) => lent.process === process && !lent.leaving.signal.aborted;
    // The node may have joined again before they have ended.
    const lent = [...this.#lent].find(isMeant);
    if (lent === undefined) return;
    lent.leaving.abort();
    await Promise.all(lent.threads.map((edge) => edge.stop()));
    this.#lent.delete(lent);
  }

  /** How many share the mailboxes of the shards. */
  get #sharing(): number {
    return this.#own.length + this.#lentThreads.filter(({ ready }) => ready !== null).length;
  }

  #tellShare(): void {
    const edges = this.#sharing;
    for (const { ready } of this.all) ready?.ask('edges', { edges }).catch(() => {});
  }

  /** Resolves when no edge goes by the keys any more that were before the change. */
  async changed(change: DirectoryChange): Promise<void> {
    const keys = { change: keyRingChangeOf(change) };
    const own = this.#own.map(({ thread }) => thread?.ask('keys', keys));
    // One that is lost has ended when its trust is over, and is started again with all keys.
    const others = this.#lentThreads.map(({ thread }) => thread?.askSoon('keys', keys).catch(() => {}));
    await Promise.all([...own, ...others]);
  }

  /** Resolves with the failures of this node's edges, each as one line. */
  async reread(): Promise<string[]> {
    const config = this.#options.config();
    const answers = this.#own.map(({ thread }) => thread?.ask('reread', { config }));
    return (await Promise.all(answers)).filter((failure) => typeof failure === 'string');
  }

  /** This node is to stop soon. */
  announceStop(): void {
    for (const { ready } of this.#own) ready?.ask('announce_stop', {}).catch(() => {});
  }

  /** Takes no new connections, and resolves when the requests under way are answered. */
  async stop(): Promise<void> {
    await Promise.all(this.all.map((edge) => edge.stop()));
  }
}
