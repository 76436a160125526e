// How long to wait before a thread that has failed is started again: not at all after a first failure, then longer with
// every failure of the last minute, so that a thread that fails now and then is back soon and one that can't stay up costs
// little.

const countedMs = 60_000;
const delayMsMin = 200;
const delayMsMax = 5_000;

export class RestartDelay {
  /** When the thread failed within the last minute. */
  #failedAtMs: readonly number[] = [];

  /** The thread failed at `nowMs` of a clock that never steps; milliseconds to wait. */
  failed(nowMs: number): number {
    const earlier = this.#failedAtMs.filter((ms) => nowMs - ms < countedMs);
    this.#failedAtMs = [...earlier, nowMs];
    return earlier.length === 0 ? 0 : Math.min(delayMsMax, delayMsMin * 2 ** (earlier.length - 1));
  }
}
