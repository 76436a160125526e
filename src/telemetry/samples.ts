// The metrics of all threads, added up, as plain numbers: for `payments doctor` and `payments
// status`.

import { metricsOf } from './metrics.ts';
import { mergeMetrics } from './supervisor-metrics.ts';

interface Sample {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

/** The samples of a metric; none before its first count. A histogram has `…_sum` and `…_count`. */
export type Samples = (name: string) => readonly Sample[];

/** Adds up the registries of all threads, as `getMetricsAsJSON` gave them. */
export async function samplesOf(parts: readonly object[]): Promise<Samples> {
  const metrics = await metricsOf(mergeMetrics(parts));
  const byName = Map.groupBy(
    metrics.flatMap(({ samples }) => samples),
    ({ name }) => name,
  );
  return (name) => byName.get(name) ?? [];
}

export function sum(samples: readonly Sample[]): number {
  return samples.reduce((total, { value }) => total + value, 0);
}
