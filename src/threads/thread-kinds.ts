// The kinds of threads that the supervisor runs, and those of them that were started ahead: a node
// that stands by has all threads of the service load their files, so that a takeover need not.

import type { Config } from '../config/config-schema.ts';
import { Thread, type WorkerKind } from './thread.ts';

const shardEntry = new URL('./shard-thread.ts', import.meta.url);
const edgeEntry = new URL('./edge-thread.ts', import.meta.url);
const requestLogEntry = new URL('./request-log-thread.ts', import.meta.url);
const webhookEntry = new URL('./webhook-thread.ts', import.meta.url);

export const kinds = {
  shard: (number: number, { memory }: Config): WorkerKind => ({
    name: `shard ${number}`,
    entry: shardEntry,
    heapMib: memory.shardMib,
  }),
  edge: (number: number): WorkerKind => ({ name: `edge ${number}`, entry: edgeEntry }),
  webhooks: (number: number): WorkerKind => ({ name: `webhook thread ${number}`, entry: webhookEntry }),
  requestLogs: { name: 'the thread of the request logs', entry: requestLogEntry },
} as const;

/** The threads that a service with so many shards has. */
export function kindsOf(config: Config, shards: number): WorkerKind[] {
  const several = (count: number, kind: (number: number, config: Config) => WorkerKind) =>
    Array.from({ length: count }, (_, number) => kind(number, config));
  return [
    ...several(shards, kinds.shard),
    ...several(config.edges, kinds.edge),
    ...several(config.webhookThreads, kinds.webhooks),
    ...(config.requestLogs.keptDays === 0 ? [] : [kinds.requestLogs]),
  ];
}

/** Threads that wait until somebody has them begin. */
export class WaitingThreads {
  readonly #threads: Map<string, Thread>;

  constructor(started: readonly WorkerKind[] = []) {
    this.#threads = new Map(started.map((kind) => [kind.name, Thread.worker(kind)]));
  }

  /** The one that was started ahead, the first time, and after that another one. */
  take(kind: WorkerKind): Thread {
    const waiting = this.#threads.get(kind.name);
    this.#threads.delete(kind.name);
    return waiting ?? Thread.worker(kind);
  }

  /** Starts one ahead, unless one waits already. */
  prepare(kind: WorkerKind): void {
    if (!this.#threads.has(kind.name)) this.#threads.set(kind.name, Thread.worker(kind));
  }

  /** Resolves when those that nobody has taken have ended. */
  async stop(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.stop()));
  }
}
