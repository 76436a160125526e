// The metrics that threads tell, each as prom-client's JSON. One that is not there, or ends
// meanwhile, tells none; nor does one of another node that takes too long.

import { within } from '../core/scheduler.ts';
import type { Thread } from './thread.ts';

const elsewhereMsMax = 2_000;

type Told = Pick<Thread, 'ask'> & Partial<Pick<Thread, 'isElsewhere'>>;

export async function metricsOfThreads(threads: readonly (Told | null)[]): Promise<readonly object[]> {
  const parts = await Promise.all(threads.map((thread) => thread && metricsOf(thread)));
  return parts.filter((part) => part !== null);
}

async function metricsOf(thread: Told): Promise<object | null> {
  const told = thread.ask('metrics', {}).catch(() => null);
  return thread.isElsewhere ? within(elsewhereMsMax, told) : told;
}
