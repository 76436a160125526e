// Makes the metrics of a registry.

import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';

type Labels = Readonly<Record<string, string | number>>;

/** What is counted elsewhere, read when somebody asks: a number, or one for each set of labels. */
type Read = () => number | Iterable<readonly [labels: Labels, value: number]>;

export function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    gauge: (name: string, help: string, labelNames: readonly string[] = [], read?: Read) =>
      new Gauge({ name, help, labelNames, registers, ...(read && { collect: collecting(read) }) }),
    counter: (name: string, help: string, labelNames: readonly string[] = [], read?: Read) =>
      new Counter({ name, help, labelNames, registers, ...(read && { collect: collecting(read) }) }),
    histogram: (name: string, help: string, buckets: number[], labelNames: readonly string[] = []) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  };
}

function collecting(read: Read) {
  return function collect(this: Gauge | Counter): void {
    const found = read();
    this.reset();
    for (const [labels, value] of typeof found === 'number' ? [[{}, found] as const] : found)
      this.inc(labels, value);
  };
}
