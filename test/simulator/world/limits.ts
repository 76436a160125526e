// Whether rate limits held: of the requests that were admitted between any two moments there are no more than the bucket
// holds and what it was refilled with. When a request was admitted lies between its sending and its answer. A shard that
// starts again may have forgotten the counts of its last seconds.

import { capacityOf } from '../../../src/core/token-bucket.ts';
import type { World } from './world.ts';

/** A request of the scope; one without an answer may have been admitted. */
interface Sent {
  readonly path: string;
  readonly sentMs: number;
  answeredMs: number;
  status: number | null;
}

/** Its answers are refusals of the bucket of all requests, because it counts in no other. */
const plainPath = '/v1/account';
/** So much may be forgotten: counts are written once a second, and take their time. */
const forgottenMs = 4_000;
/** Then counts can't be written for longer than that. */
const forgetting = [
  'fault: full disk',
  'fault: low disk at an outcome',
  'fault: slow disk',
  'fault: failed commit',
  'fault: suspended',
  'fault: lost machine',
];

/** Then it is not known at once how much time has passed, and the bucket is refilled later. */
const stopping = [
  'fault: power cut',
  'fault: power cut in the middle',
  'fault: end at a commit',
  'fault: lying sync',
];

export class Limits {
  readonly #world: World;
  readonly #perMinute: number;
  readonly #sent: Sent[] = [];
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

  /** A request is sent; whoever sent it says what it is answered. */
  sent(path: string): (status: number) => void {
    const { simulation } = this.#world;
    const sent: Sent = { path, sentMs: simulation.nowMs, answeredMs: Infinity, status: null };
    this.#sent.push(sent);
    return (status) => {
      sent.status = status;
      sent.answeredMs = simulation.nowMs;
    };
  }

  get #admitted(): Sent[] {
    return this.#sent.filter(({ status }) => status !== null && status !== 429 && status !== 401);
  }

  audit(): void {
    const { happened } = this.#world;
    const isDisturbed = (faults: readonly string[]) => faults.some((fault) => happened.get(fault) > 0);
    if (!isDisturbed(forgetting)) this.#auditAdmitted();
    if (!isDisturbed([...forgetting, ...stopping])) this.#auditRefused();
  }

  /** A request is refused only when the bucket is empty: those before it, from some moment on, took what it holds. */
  #auditRefused(): void {
    const spent = this.#sent.filter(({ status }) => status !== 429 && status !== 401);
    for (const { path, sentMs, answeredMs, status } of this.#sent) {
      if (status !== 429 || path !== plainPath) continue;
      const before = spent.filter((other) => other.sentMs <= answeredMs);
      const most = before.reduce((found, first) => {
        const count = before.filter((other) => other.answeredMs >= first.sentMs).length;
        // The first one may have waited: a full bucket is not refilled until it is admitted.
        const refilled = (Math.max(0, sentMs - first.answeredMs) * 0.99 * this.#perMinute) / 60_000;
        return Math.max(found, count - refilled);
      }, 0);
      this.#world.judge.check(
        'nobody is refused within the limits',
        most > capacityOf(this.#perMinute) - 2,
        () => `one is refused after ${most.toFixed(1)} of ${capacityOf(this.#perMinute)} requests`,
      );
    }
  }

  #auditAdmitted(): void {
    const { judge } = this.#world;
    const admitted = this.#admitted;
    const forgotten = this.#starts.map((atMs) => ({ atMs, count: this.#forgottenBy(atMs) }));
    const forgottenIn = (fromMs: number, toMs: number) =>
      forgotten.reduce(
        (sum, { atMs, count }) => (atMs > fromMs && atMs < toMs + forgottenMs ? sum + count : sum),
        0,
      );
    const byAnswer = [...admitted].sort((a, b) => a.answeredMs - b.answeredMs);
    for (const { sentMs: fromMs } of admitted) {
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
