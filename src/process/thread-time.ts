// The processor time of a thread, from Linux's scheduler, as a metric: which thread is the busy one is the first
// question about a service that is slow. What no thread of JavaScript accounts for belongs to the storage engine's
// commits and to the helpers of the garbage collector.

import { readFileSync, readlinkSync } from 'node:fs';
import { Counter, type Registry } from 'prom-client';

/** Names the calling thread below `/proc`, so that another one can count it; null on systems that have no such thing. */
export function thisTask(): string | null {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return null;
  }
}

/**
 * Counts the calling thread under this name, and those that `others` names, which run as long, each with what it is below
 * `/proc`. On systems that don't tell, there is no such metric.
 */
export function countThreadTime(
  registry: Registry,
  thread: string,
  others: ReadonlyMap<string, string> = new Map(),
): void {
  const own = thisTask();
  if (own === null) return;
  const counted = new Map<string, number>();
  new Counter({
    name: 'payments_thread_cpu_seconds_total',
    help: 'Processor time of a thread',
    labelNames: ['thread'],
    registers: [registry],
    collect() {
      for (const [name, task] of [[thread, own] as const, ...others]) {
        const before = counted.get(name) ?? 0;
        const seconds = Math.max(before, secondsOf(task) ?? before);
        this.labels(name).inc(seconds - before);
        counted.set(name, seconds);
      }
    },
  });
}

/** The processor time of a thread so far; null where the system doesn't tell. */
export function secondsOf(task: string): number | null {
  try {
    // Time on a processor, time waiting for one, and how often it was switched to: the first two in nanoseconds.
    const [onProcessor] = readFileSync(`/proc/${task}/schedstat`, 'latin1').split(' ');
    return Number(onProcessor) / 1e9;
  } catch {
    return null;
  }
}
