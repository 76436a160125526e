// The webhook threads of the shards that this node runs for the one that has the lease. They run
// while there are such shards.

import { connectAll, connectShard } from './connect-threads.ts';
import type { HostedEdgesOptions } from './hosted-edges.ts';
import { SupervisedThread } from './supervised-thread.ts';
import type { Thread } from './thread.ts';
import { kinds } from './thread-kinds.ts';
import type { WebhookThreadData } from './thread-protocol.ts';

type HostedWebhooksOptions = Pick<HostedEdgesOptions, 'config' | 'trust' | 'threads' | 'logger'>;

interface WebhookThreads {
  readonly attemptMs: number;
  readonly threads: readonly SupervisedThread[];
  /** Aborted when they are to stop. */
  readonly stopping: AbortController;
}

export class HostedWebhooks {
  readonly #options: HostedWebhooksOptions;
  /** Those whose webhooks are delivered here. */
  readonly #shards = new Map<number, Thread>();
  #running: WebhookThreads | null = null;
  /** Resolves when those before have ended: only then are all attempts counted. */
  #formerEnded: Promise<unknown> = Promise.resolve();

  constructor(options: HostedWebhooksOptions) {
    this.#options = options;
  }

  /** Starts the threads, unless they run. `attemptMs`: what an attempt may last. */
  start(secretsKeys: readonly string[], attemptMs: number): void {
    if (this.#running?.attemptMs === attemptMs) return;
    void this.stop();
    const { config, trust, threads, logger } = this.#options;
    const stopping = new AbortController();
    const formerEnded = this.#formerEnded;
    const supervised = Array.from({ length: config().webhookThreads }, (_, number) => {
      const kind = kinds.webhooks(number);
      return new SupervisedThread({
        name: kind.name,
        logger,
        stopping: stopping.signal,
        make: async () => {
          await formerEnded;
          const data: WebhookThreadData = {
            number,
            config: { ...config(), webhooks: { ...config().webhooks, timeoutMs: attemptMs } },
            secretsKeys,
            paused: false,
            ownership: trust,
            quietMs: 0,
          };
          return stopping.signal.aborted ? null : threads.take(kind).begin(data);
        },
        onStarted: (thread) => {
          for (const [number, shard] of this.#shards) connectShard(shard, number, thread, null);
        },
      });
    });
    for (const webhooks of supervised) void webhooks.start();
    this.#running = { attemptMs, threads: supervised, stopping };
  }

  /** The shard's webhooks are delivered here from now on. */
  deliver(number: number, shard: Thread): void {
    this.#shards.set(number, shard);
    connectAll(shard, number, this.#running?.threads ?? [], null);
  }

  /** The shard has ended. */
  leave(number: number): void {
    this.#shards.delete(number);
  }

  /** Those that run or start. */
  get all(): readonly SupervisedThread[] {
    return this.#running?.threads ?? [];
  }

  /** Attempts under way end, or are made again: nobody waits for them when this node takes over. */
  async stop(): Promise<void> {
    if (this.#running === null) return;
    const { threads, stopping } = this.#running;
    this.#running = null;
    stopping.abort();
    this.#formerEnded = Promise.all(threads.map((thread) => thread.stop()));
    await this.#formerEnded;
  }
}
