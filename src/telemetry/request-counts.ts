// The counts of an edge's requests. Every request is counted, but the counts are read a few times a
// minute. So they are plain numbers here, and become metrics when somebody asks for them.

import type { Registry } from 'prom-client';
import type { Answered } from '../edge/api/api.ts';
import { Durations } from './durations.ts';
import { metricsIn } from './metrics-in.ts';

/** By their answers' status. */
type RouteCounts = Map<number, number>;

export class RequestCounts {
  readonly #durations: Durations;
  readonly #routes = new Map<string, RouteCounts>();
  readonly #refused = new Map<string, number>();

  /** `bounds` are the upper bounds of the durations, in seconds. */
  constructor(registry: Registry, bounds: readonly number[]) {
    const { counter } = metricsIn(registry);
    counter('payments_requests_total', 'Answered API requests', ['route', 'status'], () =>
      this.#requestCounts(),
    );
    counter('payments_refused_requests_total', 'Refused API requests by error code', ['code'], () =>
      [...this.#refused].map(([code, count]) => [{ code }, count] as const),
    );
    const help = 'From the head of a request to its answer';
    this.#durations = new Durations(registry, 'payments_request_duration_seconds', help, 'route', bounds);
  }

  add({ route, status, code, durationMs }: Answered): void {
    const name = route ?? 'none';
    let counts = this.#routes.get(name);
    if (counts === undefined) {
      counts = new Map();
      this.#routes.set(name, counts);
    }
    counts.set(status, (counts.get(status) ?? 0) + 1);
    this.#durations.add(name, durationMs);
    if (code !== null) this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  #requestCounts() {
    return [...this.#routes].flatMap(([route, counts]) =>
      [...counts].map(([status, count]) => [{ route, status }, count] as const),
    );
  }
}
