// The processor time of a thread, from Linux's scheduler, as a metric: which thread is the busy one is the first
// question about a service that is slow. What no thread of JavaScript accounts for belongs to the storage engine's
// commits and to the helpers of the garbage collector.

import { readFileSync } from 'node:fs';
import { Counter, type Registry } from 'prom-client';

/** Counts the calling thread under this name. On systems that don't tell, there is no such metric. */
export function countThreadTime(registry: Registry, thread: string): void {
  let counted = 0;
  if (threadSeconds() === null) return;
  new Counter({
    name: 'payments_thread_cpu_seconds_total',
    help: 'Processor time of a thread',
    labelNames: ['thread'],
    registers: [registry],
    collect() {
      const seconds = threadSeconds() ?? counted;
      this.labels(thread).inc(Math.max(0, seconds - counted));
      counted = Math.max(seconds, counted);
    },
  });
}

function threadSeconds(): number | null {
  try {
    // Time on a processor, time waiting for one, and how often it was switched to: the first two in nanoseconds.
    const [onProcessor] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
    return Number(onProcessor) / 1e9;
  } catch {
    return null;
  }
}
