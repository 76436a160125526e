// The counts of an edge's requests. Every request is counted, but the counts are read a few times a
// minute. So they are plain numbers here, and become metrics when somebody asks for them.

import {
  Counter,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';
import type { Answered } from '../edge/api/api.ts';

const durationMetric = 'payments_request_duration_seconds';

interface RouteCounts {
  readonly byStatus: Map<number, number>;
  /**
   * The number of requests in each bucket; the last bucket has those that took longer than every
   * bound.
   */
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
    const registers = [registry];
    const { requestCounts, refusedCounts } = this;
    new Counter({
      name: 'payments_requests_total',
      help: 'Answered API requests',
      labelNames: ['route', 'status'],
      registers,
      collect() {
        this.reset();
        for (const [route, status, count] of requestCounts()) this.inc({ route, status }, count);
      },
    });
    new Counter({
      name: 'payments_refused_requests_total',
      help: 'Refused API requests by error code',
      labelNames: ['code'],
      registers,
      collect() {
        this.reset();
        for (const [code, count] of refusedCounts()) this.inc({ code }, count);
      },
    });
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

  readonly requestCounts = (): [route: string, status: number, count: number][] =>
    [...this.#routes].flatMap(([route, { byStatus }]) =>
      [...byStatus].map(([status, count]): [string, number, number] => [nameOf(route), status, count]),
    );

  readonly refusedCounts = (): Iterable<[code: string, count: number]> => this.#refused;

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
