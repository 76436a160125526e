// Which refused requests an edge logs when there is too much to do. An entry in the logs costs more
// than such a refusal does, and a flood of them would take what the answered requests need. So some
// of each second are logged, and the others are counted.

interface LoggedRefusalsOptions {
  readonly perSecondMax: number;
  /** Milliseconds. */
  readonly monotonic: () => number;
  /** Called with the number that were not logged since the last time. */
  readonly onLeftOut: (requests: number) => void;
}

const secondMs = 1_000;

export class LoggedRefusals {
  readonly #options: LoggedRefusalsOptions;
  #secondEndsMs = 0;
  #logged = 0;
  #leftOut = 0;

  constructor(options: LoggedRefusalsOptions) {
    this.#options = options;
  }

  /** Whether another one is logged. */
  readonly admit = (): boolean => {
    const nowMs = this.#options.monotonic();
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

  /** Tells how many were left out. Call it now and then. */
  tell(): void {
    if (this.#leftOut === 0) return;
    this.#options.onLeftOut(this.#leftOut);
    this.#leftOut = 0;
  }
}
