// A thread that is kept running: it is started, and started again when it ends, later and later if it can't stay up. This
// is how shards, edges and the webhook thread are supervised; they differ only in what is done when one starts, is ready
// or has ended, and in whether starting again can help.

import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from './logger.ts';
import { RestartDelay } from './restart-delay.ts';
import type { Thread, ThreadFailure } from './thread.ts';

export interface KeptThreadOptions {
  /** What it is called in the log. */
  readonly name: string;
  /** What its log lines carry. */
  readonly fields?: object;
  readonly logger: Logger;
  /** Aborted when the service stops: nothing is started again from then on. */
  readonly stopping: AbortSignal;
  /** Makes a thread, with what is in force now. */
  readonly make: () => Thread | Promise<Thread>;
  readonly onStarted?: (thread: Thread) => void;
  readonly onReady?: (thread: Thread) => void;
  readonly onEnded?: () => void;
  readonly onRestart?: () => void;
  /** Takes over what to do about an end that nobody asked for; without it the thread is started again. */
  readonly onLost?: (failure: ThreadFailure) => void;
}

export class KeptThread {
  readonly #options: KeptThreadOptions;
  readonly #delay = new RestartDelay();
  readonly #first = Promise.withResolvers<ThreadFailure | null>();
  #thread: Thread | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: KeptThreadOptions) {
    this.#options = options;
  }

  /** The thread, starting or running; null while there is none. */
  get thread(): Thread | null {
    return this.#thread;
  }

  /** The thread, once it is ready. */
  get ready(): Thread | null {
    return this.#thread?.isReady ? this.#thread : null;
  }

  /** Runs it for as long as that may help. Settles after the first start, with the reason when that failed. */
  start(): Promise<ThreadFailure | null> {
    this.#ended = this.#keep();
    this.#ended.catch(this.#first.reject);
    return this.#first.promise;
  }

  async #keep(): Promise<void> {
    const { stopping } = this.#options;
    while (!stopping.aborted) {
      const failure = await this.#run();
      if (stopping.aborted || !(await this.#mayStartAgain(failure))) return;
    }
  }

  /** Runs one thread until it ends; returns why it did. */
  async #run(): Promise<ThreadFailure | null> {
    const { make, onStarted, onReady, onEnded, onLost } = this.#options;
    const thread = await make();
    this.#thread = thread;
    if (this.#options.stopping.aborted) await thread.stop();
    else onStarted?.(thread);
    let wasReady = false;
    const isReady = () => {
      wasReady = true;
      onReady?.(thread);
      this.#first.resolve(null);
    };
    await thread.ready.then(isReady, () => {});
    const failure = await thread.ended;
    this.#thread = null;
    onEnded?.();
    this.#first.resolve(failure);
    if (wasReady && failure !== null && !this.#options.stopping.aborted) onLost?.(failure);
    return failure;
  }

  /** Says why it has ended and waits until it may be started again; false when it may not. */
  async #mayStartAgain(failure: ThreadFailure | null): Promise<boolean> {
    const { name, fields, logger, stopping, onLost, onRestart } = this.#options;
    if (onLost !== undefined) return false;
    const reason = failure?.message ?? 'it ended by itself';
    if (failure?.fatal) {
      logger.fatal({ ...fields }, `${name} stays down: ${reason}`);
      return false;
    }
    const delayMs = this.#delay.failed(performance.now());
    logger.error({ ...fields, delayMs }, `${name} ended and is started again: ${reason}`);
    onRestart?.();
    await wait(delayMs, undefined, { signal: stopping }).catch(() => {});
    return !stopping.aborted;
  }

  /** Has it finish its work; settles when it has ended. To be called once the service is stopping. */
  async stop(): Promise<void> {
    await this.#thread?.stop();
    await this.#ended;
  }
}
