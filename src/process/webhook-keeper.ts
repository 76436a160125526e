// Keeps the webhook thread running: connects it to every shard, and starts another when it ends. Requests don't need
// it, so its absence stops nothing; what it was doing is in the shards' journals and is handed to the next one.

import { setTimeout as wait } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import type { Config } from './config-schema.ts';
import type { Logger } from './logger.ts';
import { Thread } from './thread.ts';
import type { WebhookThreadData } from './thread-protocol.ts';

const entry = new URL('./webhook-thread.ts', import.meta.url);
const restartMs = 1_000;

export class WebhookKeeper {
  #data: WebhookThreadData;
  readonly #logger: Logger;
  readonly #shards: readonly (Thread | null)[];
  readonly #stopping = new AbortController();
  #thread: Thread | null = null;
  #ended: Promise<void> = Promise.resolve();

  /** `shards` is looked at anew whenever a thread starts; only those that are ready count. */
  constructor(data: WebhookThreadData, logger: Logger, shards: readonly (Thread | null)[]) {
    this.#data = data;
    this.#logger = logger;
    this.#shards = shards;
  }

  start(): void {
    this.#ended = this.#keep();
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const thread = new Thread(entry, this.#data);
      this.#thread = thread;
      this.#shards.forEach((shard, number) => {
        if (shard?.isReady) this.#link(number, shard, thread);
      });
      const failure = await thread.ended;
      this.#thread = null;
      if (signal.aborted) return;
      this.#logger.error({ err: failure }, 'the webhook thread ended and is started again');
      await wait(restartMs, undefined, { signal }).catch(() => {});
    }
  }

  /** A shard has become ready. */
  connect(number: number, shard: Thread): void {
    if (this.#thread !== null) this.#link(number, shard, this.#thread);
  }

  #link(number: number, shard: Thread, thread: Thread): void {
    const { port1, port2 } = new MessageChannel();
    shard.connect(0, port1);
    thread.connect(number, port2);
  }

  /** The configuration changed as far as it can. */
  reread(config: Config): void {
    this.#data = { ...this.#data, config };
    this.#thread?.ask({ type: 'reread', config }).catch(() => {});
  }

  /** The thread's metrics as prom-client's JSON; null while there is none. */
  async metrics(): Promise<unknown> {
    return this.#thread?.isReady ? this.#thread.ask({ type: 'metrics' }).catch(() => null) : null;
  }

  /** Lets the attempts in flight end, for a moment; settles when the thread has ended. To be called before the shards stop. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#thread?.stop();
    await this.#ended;
  }
}
