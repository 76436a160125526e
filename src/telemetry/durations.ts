// A histogram of durations as plain numbers, which becomes a metric when somebody asks for it. The
// library's own looks up the labels of every duration, which costs more than to count it.

import type { Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

interface Counts {
  /** The durations in each bucket; the last bucket has those beyond every bound. */
  readonly buckets: number[];
  sumMs: number;
}

export class Durations {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string;
  readonly #boundsMs: readonly number[];
  /** By the value of the label. */
  readonly #counts = new Map<string, Counts>();

  /** `bounds` are the upper bounds of the buckets, in seconds. */
  constructor(registry: Registry, name: string, help: string, label: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#label = label;
    this.#boundsMs = bounds.map((seconds) => seconds * 1000);
    // The library's histogram can't be set from counts, so this stands in for one.
    const durations = { name, get: async () => this.#values(), reset() {} };
    registry.registerMetric(durations as unknown as Metric);
  }

  add(labelled: string, durationMs: number): void {
    let counts = this.#counts.get(labelled);
    if (counts === undefined) {
      counts = { buckets: [...this.#boundsMs.map(() => 0), 0], sumMs: 0 };
      this.#counts.set(labelled, counts);
    }
    let bucket = 0;
    while (durationMs > (this.#boundsMs[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
    counts.sumMs += durationMs;
  }

  /** In the form of the library's histograms, whose counts are cumulative. */
  #values(): MetricObjectWithValues<MetricValue<string>> {
    const name = this.#name;
    const values = [...this.#counts].flatMap(([labelled, { buckets, sumMs }]) => {
      const labels = { [this.#label]: labelled };
      let count = 0;
      const cumulative = buckets.map((more, i) => {
        count += more;
        const boundMs = this.#boundsMs[i];
        const le = boundMs === undefined ? '+Inf' : boundMs / 1000;
        return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` };
      });
      return [
        ...cumulative,
        { labels, value: sumMs / 1000, metricName: `${name}_sum` },
        { labels, value: count, metricName: `${name}_count` },
      ];
    });
    const described = { name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
    return described as unknown as MetricObjectWithValues<MetricValue<string>>;
  }
}
