// The counts of an edge's requests. Every request is counted, but the counts are read a few times a
// minute. So they are plain numbers here, and become metrics when somebody asks for them.

import type { Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { Answered } from '../edge/api/api.ts';
import { metricsIn } from './metrics-in.ts';

const durationMetric = 'payments_request_duration_seconds';

interface RouteCounts {
  readonly byStatus: Map<number, number>;
  /** The requests in each bucket; the last bucket has those beyond every bound. */
  readonly durations: number[];
  durationMsSum: number;
}

export class RequestCounts {
  readonly #bucketsMs: readonly number[];
  readonly #routes = new Map<string | null, RouteCounts>();
  readonly #refused = new Map<string, number>();

  /** `buckets` are the upper bounds of the durations, in seconds. */
  constructor(registry: Registry, buckets: readonly number[]) {
    this.#bucketsMs = buckets.map((seconds) => seconds * 1000);
    const { counter } = metricsIn(registry);
    counter('payments_requests_total', 'Answered API requests', ['route', 'status'], () =>
      this.#requestCounts(),
    );
    counter('payments_refused_requests_total', 'Refused API requests by error code', ['code'], () =>
      [...this.#refused].map(([code, count]) => [{ code }, count] as const),
    );
    // The library's histogram can't be set from counts, so this stands in for one.
    const durations = { name: durationMetric, get: async () => this.#durations(), reset() {} };
    registry.registerMetric(durations as unknown as Metric);
  }

  add({ route, status, code, durationMs }: Answered): void {
    let counts = this.#routes.get(route);
    if (counts === undefined) {
      counts = { byStatus: new Map(), durations: this.#bucketsMs.map(() => 0), durationMsSum: 0 };
      counts.durations.push(0);
      this.#routes.set(route, counts);
    }
    counts.byStatus.set(status, (counts.byStatus.get(status) ?? 0) + 1);
    let bucket = 0;
    while (durationMs > (this.#bucketsMs[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    counts.durations[bucket] = (counts.durations[bucket] ?? 0) + 1;
    counts.durationMsSum += durationMs;
    if (code !== null) this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  #requestCounts() {
    return [...this.#routes].flatMap(([route, { byStatus }]) =>
      [...byStatus].map(([status, count]) => [{ route: nameOf(route), status }, count] as const),
    );
  }

  /** The durations in the form of the library's histograms, whose counts are cumulative. */
  #durations(): MetricObjectWithValues<MetricValue<string>> {
    const values = [...this.#routes].flatMap(([name, { durations, durationMsSum }]) => {
      const route = nameOf(name);
      let count = 0;
      const buckets = durations.map((more, i) => {
        count += more;
        const boundMs = this.#bucketsMs[i];
        const le = boundMs === undefined ? '+Inf' : boundMs / 1000;
        return { labels: { le, route }, value: count, metricName: `${durationMetric}_bucket` };
      });
      return [
        ...buckets,
        { labels: { route }, value: durationMsSum / 1000, metricName: `${durationMetric}_sum` },
        { labels: { route }, value: count, metricName: `${durationMetric}_count` },
      ];
    });
    const help = 'From the head of a request to its answer';
    const described = { name: durationMetric, help, type: 'histogram', aggregator: 'sum', values };
    return described as unknown as MetricObjectWithValues<MetricValue<string>>;
  }
}

function nameOf(route: string | null): string {
  return route ?? 'none';
}
