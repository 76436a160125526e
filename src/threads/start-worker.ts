// Starts a thread of this process, which loads its sources without their types.

import { Worker, type WorkerOptions } from 'node:worker_threads';

const first = new URL('./start-thread.mjs', import.meta.url);

/** `entry`: the thread's own file. */
export function startWorker(entry: URL, options: WorkerOptions): Worker {
  return new Worker(first, { ...options, argv: [entry.href] });
}
