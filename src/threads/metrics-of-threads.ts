// The metrics that threads tell, each as prom-client's JSON. One that is not there, or ends
// meanwhile, tells none.

import type { Thread } from './thread.ts';

export async function metricsOfThreads(
  threads: readonly (Pick<Thread, 'ask'> | null)[],
): Promise<readonly object[]> {
  const parts = await Promise.all(
    threads.map((thread) => thread?.ask('metrics', {}).catch(() => null) ?? null),
  );
  return parts.filter((part) => part !== null);
}
