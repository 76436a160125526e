// Whether rate limits held: of the requests that were admitted between any two moments there are no more than the bucket
// holds and what it was refilled with. When a request was admitted lies between its sending and its answer. A shard that
// starts again may have forgotten the counts of its last seconds.

import { capacityOf } from '../../../src/core/token-bucket.ts';
import type { World } from './world.ts';

interface Admitted {
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** So much may be forgotten: counts are written once a second, and take their time. */
const forgottenMs = 4_000;
/** Then counts can't be written for longer than that. */
const disturbing = ['fault: full disk', 'fault: slow disk', 'fault: failed commit', 'fault: suspended'];

export class Limits {
  readonly #world: World;
  readonly #perMinute: number;
  readonly #admitted: Admitted[] = [];
  readonly #starts: number[] = [];

  /** Of a scope whose bucket of all requests holds so many a minute. */
  constructor(world: World, perMinute: number) {
    this.#world = world;
    this.#perMinute = perMinute;
  }

  /** A shard has started again. */
  started(): void {
    this.#starts.push(this.#world.simulation.nowMs);
  }

  answered(sentMs: number, status: number): void {
    if (status === 429 || status === 401) return;
    this.#admitted.push({ sentMs, answeredMs: this.#world.simulation.nowMs });
  }

  audit(): void {
    const { happened, judge } = this.#world;
    if (disturbing.some((fault) => happened.get(fault) > 0)) return;
    const forgotten = this.#starts.map((atMs) => ({ atMs, count: this.#forgottenBy(atMs) }));
    const forgottenIn = (fromMs: number, toMs: number) =>
      forgotten.reduce(
        (sum, { atMs, count }) => (atMs > fromMs && atMs < toMs + forgottenMs ? sum + count : sum),
        0,
      );
    const byAnswer = [...this.#admitted].sort((a, b) => a.answeredMs - b.answeredMs);
    for (const { sentMs: fromMs } of this.#admitted) {
      let count = 0;
      for (const { sentMs, answeredMs } of byAnswer) {
        if (sentMs < fromMs) continue;
        count++;
        const refilled = ((answeredMs - fromMs) * 1.01 * this.#perMinute) / 60_000;
        const most = capacityOf(this.#perMinute) + refilled + 1 + forgottenIn(fromMs, answeredMs);
        judge.check(
          'limits are never exceeded',
          count <= most,
          () => `${count} requests were admitted in ${answeredMs - fromMs} ms, and ${most} may be`,
        );
      }
    }
  }

  /** The requests whose counts a start may have lost. */
  #forgottenBy(startMs: number): number {
    const fromMs = startMs - forgottenMs * 6;
    return this.#admitted.filter(({ answeredMs }) => answeredMs > fromMs && answeredMs <= startMs).length;
  }
}
