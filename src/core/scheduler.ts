// When work of a thread runs that is not done at once: injected like clocks and chance, so that a
// test decides what runs next and turns the hands instead of sleeping, and the same decisions give
// the same run.

export interface Scheduler {
  /** Runs `action` when what is in hand is done, in the order of the calls. */
  soon(action: () => void): void;
  /** Milliseconds since a moment of its own, with fractions, to tell how long something took. */
  elapsedMs(): number;
}

/** Resolves when everything else that waits for this thread has had its turn. */
export function breath({ soon }: Pick<Scheduler, 'soon'>): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}

export const systemScheduler: Scheduler = {
  soon: (action) => void setImmediate(action),
  elapsedMs: () => performance.now(),
};

export interface Timers {
  /** Runs `action` once after `delayMs` unless the returned function is called before. */
  after(delayMs: number, action: () => void): () => void;
}

export interface BackOffTimes {
  readonly minMs: number;
  readonly maxMs: number;
}

/** How long to wait before another try: after `times` more it is twice as long each time. */
export function backOffMs({ minMs, maxMs }: BackOffTimes, times: number): number {
  return Math.min(maxMs, minMs * 2 ** times);
}

/** Waits that can be cut short. A wake that comes while nobody sleeps cuts the next one short. */
export class Sleeper {
  readonly #timers: Timers;
  #isWoken = false;
  #end = () => {};

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  sleep(ms: number): Promise<void> {
    const slept = new Promise<void>((resolve) => {
      if (this.#isWoken) return resolve();
      const cancel = this.#timers.after(ms, resolve);
      this.#end = () => {
        cancel();
        resolve();
      };
    });
    return slept.then(() => {
      this.#isWoken = false;
    });
  }

  wake(): void {
    this.#isWoken = true;
    this.#end();
  }
}

/** `setTimeout` holds no longer a wait than this. */
const timerMsMax = 2_147_483_647;

/** The process's own timers. One that waits does not keep the process alive. */
export const systemTimers: Timers = {
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(delayMs, timerMsMax)).unref();
    return () => clearTimeout(timer);
  },
};

/** What `work` resolves with; null when that takes longer than `ms`. Rejects as `work` does. */
export function within<T>(ms: number, work: Promise<T>, { after }: Timers = systemTimers): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const cancel = after(ms, () => resolve(null));
  return Promise.race([work, late]).finally(cancel);
}

const aliveMs = 60_000;

/** The process does not end for want of something to do before `run` has. */
export function keepAlive<T>(run: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, aliveMs);
  return run().finally(() => clearInterval(alive));
}
