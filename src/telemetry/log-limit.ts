// How much is logged of what may come in floods, such as refused requests: some of each second. The
// others are counted, because an entry in the logs costs more than what causes it.

interface LogLimitOptions {
  readonly perSecondMax: number;
  /** Called now and then with the number that were not logged since the last time. */
  readonly onLeftOut: (count: number) => void;
}

const secondMs = 1_000;
const tellMs = 10_000;

export class LogLimit {
  readonly #options: LogLimitOptions;
  readonly #monotonic: () => number;
  #secondEndsMs = 0;
  #logged = 0;
  #leftOut = 0;

  constructor(options: LogLimitOptions, monotonic = () => performance.now()) {
    this.#options = options;
    this.#monotonic = monotonic;
    setInterval(() => this.#tell(), tellMs).unref();
  }

  /** Whether another one is logged. */
  readonly admit = (): boolean => {
    const nowMs = this.#monotonic();
    if (nowMs >= this.#secondEndsMs) {
      this.#secondEndsMs = nowMs + secondMs;
      this.#logged = 0;
    }
    if (this.#logged < this.#options.perSecondMax) {
      this.#logged++;
      return true;
    }
    this.#leftOut++;
    return false;
  };

  #tell(): void {
    if (this.#leftOut === 0) return;
    this.#options.onLeftOut(this.#leftOut);
    this.#leftOut = 0;
  }
}
