// A supervised thread is started, and started again whenever it ends. A thread that fails again
// within a minute is started later with each failure. Shards, edges and webhook threads are
// supervised like this; they differ only in what is done when one starts, is ready or has ended,
// and in whether another start can help.

import { setTimeout as wait } from 'node:timers/promises';
import { errorText } from '../core/errors.ts';
import { backOffMs } from '../core/scheduler.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Thread, ThreadFailure } from './thread.ts';

const countedMs = 60_000;
const delay = { minMs: 200, maxMs: 5_000 };

/**
 * How long to wait before the next start: not at all after the first failure in a minute, then
 * longer with each.
 */
export class RestartDelay {
  /** The times of the failures within the last minute. */
  #failedAtMs: readonly number[] = [];

  /** The thread failed at `nowMs` of the monotonic clock. Returns the milliseconds to wait. */
  failed(nowMs: number): number {
    const earlier = this.#failedAtMs.filter((ms) => nowMs - ms < countedMs);
    this.#failedAtMs = [...earlier, nowMs];
    return earlier.length === 0 ? 0 : backOffMs(delay, earlier.length - 1);
  }
}

export interface SupervisedThreadOptions {
  /** The thread's name in the log. */
  readonly name: string;
  /** Fields of its log lines. */
  readonly fields?: object;
  readonly logger: Logger;
  /** Aborted when the service stops; then the thread is not started again. */
  readonly stopping: AbortSignal;
  /** Makes a thread with the active settings; null when the service stops meanwhile. */
  readonly make: () => Thread | Promise<Thread | null>;
  readonly onStarted?: (thread: Thread) => void;
  readonly onReady?: (thread: Thread) => void;
  readonly onEnded?: () => void;
  readonly onRestart?: () => void;
  /** Other nodes run it, or may: what is wrong with one node alone does not keep it down. */
  readonly spansNodes?: boolean;
  /**
   * Handles an unexpected end after the thread was ready. Without it the thread is started again.
   */
  readonly onLost?: (failure: ThreadFailure) => void;
}

export class SupervisedThread {
  readonly #options: SupervisedThreadOptions;
  readonly #delay = new RestartDelay();
  readonly #first = Promise.withResolvers<ThreadFailure | null>();
  readonly #waits = Promise.withResolvers<void>();
  /** Resolves when a start is seen to wait for other machines. */
  readonly waits: Promise<void> = this.#waits.promise;
  #thread: Thread | null = null;
  /** Another thread is wanted in place of the one that runs. */
  #isReplaced = false;
  #replaced = Promise.withResolvers<boolean>();
  #ended: Promise<void> = Promise.resolve();

  constructor(options: SupervisedThreadOptions) {
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

  /**
   * Starts the thread and supervises it. Resolves after the first start: null, or why it failed.
   */
  start(): Promise<ThreadFailure | null> {
    this.#ended = this.#supervise();
    this.#ended.catch(this.#first.reject);
    return this.#first.promise;
  }

  async #supervise(): Promise<void> {
    const { stopping } = this.#options;
    while (!stopping.aborted) {
      const failure = await this.#run();
      if (stopping.aborted || !(await this.#mayStartAgain(failure))) break;
    }
    this.#replaced.resolve(false);
  }

  /** Runs one thread until it ends. Returns the failure, or null when it ended by itself. */
  async #run(): Promise<ThreadFailure | null> {
    const { make, onStarted, onReady, onEnded, onLost, stopping } = this.#options;
    let thread: Thread | null;
    try {
      const made = make();
      // A thread that `make` returns at once is there in this tick, so it misses no message to all.
      thread = made instanceof Promise ? await made : made;
    } catch (error) {
      const failure = new ThreadFailure(`it can't be started: ${errorText(error)}`, false);
      this.#replaced.resolve(false);
      this.#first.resolve(failure);
      return failure;
    }
    if (thread === null) return null;
    this.#thread = thread;
    if (stopping.aborted) await thread.stop();
    else onStarted?.(thread);
    let wasReady = false;
    const isReady = () => {
      wasReady = true;
      if (!this.#isReplaced) this.#replaced.resolve(true);
      onReady?.(thread);
      this.#first.resolve(null);
    };
    void thread.waits.then(() => {
      this.#waits.resolve();
      if (!this.#isReplaced) this.#replaced.resolve(false);
    });
    await thread.ready.then(isReady, () => {});
    const failure = await thread.ended;
    this.#thread = null;
    if (!this.#isReplaced || stopping.aborted) this.#replaced.resolve(false);
    onEnded?.();
    this.#first.resolve(failure);
    if (wasReady && failure !== null && !stopping.aborted) onLost?.(failure);
    return failure;
  }

  /** Logs why the thread ended and waits until it may be started again. False when it may not. */
  async #mayStartAgain(failure: ThreadFailure | null): Promise<boolean> {
    const { name, fields, logger, stopping, onLost, onRestart, spansNodes = false } = this.#options;
    const isReplaced = this.#isReplaced;
    this.#isReplaced = false;
    if (isReplaced && failure === null) return true;
    if (onLost !== undefined) return false;
    const reason = failure?.message ?? 'it ended by itself';
    if (failure?.fatal && !(spansNodes && failure.isOfNode)) {
      logger.fatal({ ...fields }, `${name} stays down: ${reason}`);
      return false;
    }
    const delayMs = this.#delay.failed(performance.now());
    // As when PostgreSQL is restarted, or the lease moves.
    const level = failure?.isRemote ? 'warn' : 'error';
    logger[level]({ ...fields, delayMs }, `${name} ended and is started again: ${reason}`);
    onRestart?.();
    await wait(delayMs, undefined, { signal: stopping }).catch(() => {});
    return !stopping.aborted;
  }

  /**
   * Has another thread made in place of the one that runs. Resolves with true when that is ready,
   * and with false when it has ended, or waits for other machines. To be called once at a time;
   * nothing happens while there is no thread.
   */
  async replace(): Promise<boolean> {
    if (this.#thread === null) return false;
    this.#isReplaced = true;
    this.#replaced = Promise.withResolvers();
    await this.#thread.stop();
    return this.#replaced.promise;
  }

  /**
   * Lets the thread finish its work. Resolves when it has ended. To be called once the service is
   * stopping.
   */
  async stop(): Promise<void> {
    await this.#thread?.stop();
    await this.#ended;
  }
}
