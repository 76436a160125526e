// The threads that make delivery attempts: a Piscina pool of attempt workers. A worker waits for hundreds of receivers
// at a time; what it computes is signatures and TLS.

import { Piscina } from 'piscina';
import type { AttemptResult } from '../domain/record.ts';
import type { AttemptWorkerOptions, SealedAttempt } from './attempt-worker.ts';

export interface AttemptPool {
  attempt(input: SealedAttempt): Promise<AttemptResult>;
  /** Ends the threads with whatever they are doing: every connection is closed when it settles. */
  close(): Promise<void>;
}

export function createAttemptPool(
  options: AttemptWorkerOptions & { readonly workers: number; readonly concurrency: number },
): AttemptPool {
  const { workers, concurrency, ...workerData } = options;
  const pool = new Piscina<SealedAttempt, AttemptResult>({
    filename: new URL('./attempt-worker.ts', import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    concurrentTasksPerWorker: Math.ceil(concurrency / workers),
    // Piscina's default puts a worker that has taken its tasks to sleep, and its sockets with it.
    atomics: 'disabled',
    recordTiming: false,
    workerData,
  });
  return {
    attempt: (input) => pool.run(input),
    close: () => pool.destroy(),
  };
}
