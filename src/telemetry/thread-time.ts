// Metrics of the processor time of each thread, from Linux's scheduler, and of the time for which
// the garbage collector stopped it. They tell which thread of a slow service is busy. The rest of
// the process's time is that of the storage engine's commit threads and of V8's helper threads,
// which do most of the garbage collector's work.

import { readFileSync, readlinkSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { metricsIn } from './metrics-in.ts';

/** What another thread needs to measure a thread. */
export interface ThreadGauge {
  /** The thread's number below `/proc`; null on systems without it. */
  readonly task: string | null;
  /** A number in shared memory: the milliseconds for which the collector has stopped the thread. */
  readonly collectorMs: Float64Array;
}

/** Begins to measure the calling thread. */
export function gaugeThisThread(): ThreadGauge {
  const collectorMs = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collectorMs[0]! += duration;
  });
  observer.observe({ entryTypes: ['gc'] });
  return { task: thisTask(), collectorMs };
}

function thisTask(): string | null {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return null;
  }
}

/**
 * Measures the calling thread under this name, and the threads in `others`, which run as long.
 * Systems without `/proc` have only the metric of the collector.
 */
export function countThreadTime(
  registry: Registry,
  thread: string,
  others: ReadonlyMap<string, ThreadGauge> = new Map(),
): void {
  const own = gaugeThisThread();
  const all = () => [[thread, own] as const, ...others];
  const count = (name: string, help: string, secondsSoFar: (gauge: ThreadGauge) => number | null) => {
    const counted = new Map<string, number>();
    metricsIn(registry).counter(name, help, ['thread'], () =>
      all().map(([label, gauge]) => {
        const before = counted.get(label) ?? 0;
        const seconds = Math.max(before, secondsSoFar(gauge) ?? before);
        counted.set(label, seconds);
        return [{ thread: label }, seconds] as const;
      }),
    );
  };
  if (own.task !== null) {
    count('payments_thread_cpu_seconds_total', 'Processor time of a thread', processorSeconds);
  }
  count(
    'payments_thread_gc_seconds_total',
    'Time for which the garbage collector stopped a thread',
    ({ collectorMs }) => collectorMs[0]! / 1000,
  );
}

/** The processor time of a thread so far; null where the system doesn't tell. */
export function processorSeconds({ task }: Pick<ThreadGauge, 'task'>): number | null {
  try {
    // Nanoseconds on a processor and waiting for one, and the number of time slices.
    const [onProcessor] = readFileSync(`/proc/${task}/schedstat`, 'latin1').split(' ');
    return Number(onProcessor) / 1e9;
  } catch {
    return null;
  }
}
