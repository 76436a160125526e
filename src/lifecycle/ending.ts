// How the process comes to its end: it can't go on, or it is told to stop. When something serves
// then, it serves on for a while, and load balancers are told, so that they take it out before its
// connections close.

import { systemTimers, type Timers } from '../core/scheduler.ts';

export class Ending {
  readonly #noticeMs: number;
  readonly #timers: Timers;
  readonly #ended = Promise.withResolvers<void>();
  readonly #serving: (() => void)[] = [];
  #isTold = false;

  constructor(noticeMs: number, timers: Timers = systemTimers) {
    this.#noticeMs = noticeMs;
    this.#timers = timers;
    // It may be rejected before anybody waits for it.
    this.#ended.promise.catch(() => {});
  }

  /** Resolves when the process is to stop, and rejects when it can't go on. */
  get promise(): Promise<void> {
    return this.#ended.promise;
  }

  /** It can't go on. */
  readonly reject = (error: unknown): void => this.#ended.reject(error);

  /** Something serves now. `announce`: called when it is to stop after the notice. */
  onNotice(announce: () => void): void {
    this.#serving.push(announce);
    if (this.#isTold) announce();
  }

  /** It is to stop: after the notice where something serves, otherwise at once. */
  stop(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    if (this.#noticeMs === 0 || this.#serving.length === 0) this.#ended.resolve();
    else {
      for (const announce of this.#serving) announce();
      this.#timers.after(this.#noticeMs, this.#ended.resolve);
    }
  }
}
