// How the attempts at each endpoint went, once more, from all attempts that were recorded.

import type { AttemptResult } from '../../../src/domain/record.ts';
import type { EndpointNow } from '../../../src/shard/endpoint-health.ts';

const hourMs = 3_600_000;
/** A time that an attempt took is told as the next of these. */
const steps = [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

export class Health {
  /** In the order of the last attempts. */
  readonly #attempts = new Map<string, AttemptResult[]>();

  add(endpoint: string, result: AttemptResult): void {
    const attempts = this.#attempts.get(endpoint) ?? [];
    this.#attempts.delete(endpoint);
    this.#attempts.set(endpoint, attempts);
    attempts.push(result);
  }

  /** The endpoint was deleted. */
  forget(endpoint: string): void {
    this.#attempts.delete(endpoint);
  }

  /** Since when all attempts have failed; null: the last one has not. */
  failingSinceMs(endpoint: string): number | null {
    const attempts = this.#attempts.get(endpoint) ?? [];
    const lastGood = attempts.findLastIndex(({ failure }) => failure === null);
    return attempts[lastGood + 1]?.at_ms ?? null;
  }

  /** Those that fail, the longest first. */
  failing(): string[] {
    const since = (endpoint: string) => this.failingSinceMs(endpoint) ?? Infinity;
    return [...this.#attempts.keys()]
      .filter((id) => since(id) < Infinity)
      .sort((a, b) => since(a) - since(b));
  }

  of(endpoint: string, nowMs: number): EndpointNow['health'] {
    const attempts = this.#attempts.get(endpoint);
    const last = attempts?.at(-1);
    if (attempts === undefined || last === undefined) return null;
    const hourOf = ({ at_ms }: AttemptResult) => Math.floor(at_ms / hourMs) * hourMs;
    const shown = attempts.filter((each) => hourOf(each) > nowMs - 24 * hourMs);
    const failedOf = (some: readonly AttemptResult[]) =>
      some.filter(({ failure }) => failure !== null).length;
    const hours = [...Map.groupBy(shown, hourOf)].map(([startMs, some]) => ({
      ...{ startMs, failed: failedOf(some), attempts: some.length },
    }));
    const durations = shown.map(({ duration_ms }) => duration_ms).sort((a, b) => a - b);
    const middle = durations[Math.ceil(durations.length / 2) - 1];
    return {
      failingSinceMs: this.failingSinceMs(endpoint),
      ...{ lastStatus: last.status, lastFailure: last.failure },
      ...{ attempts: shown.length, failed: failedOf(shown), hours },
      medianMs: middle === undefined ? null : (steps.find((step) => middle <= step) ?? 10_000),
    };
  }
}
