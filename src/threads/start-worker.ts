// Starts a thread of this process, which loads its sources without their types, and then waits for
// the data that it begins with (see thread-side.ts). So it can be started ahead.

import { MessageChannel, Worker, type WorkerOptions } from 'node:worker_threads';

const first = new URL('./start-thread.mjs', import.meta.url);

/** What a thread waits for: its data; null: it is not needed. */
export type Beginning<Data> = { readonly data: Data } | null;

export interface WaitingWorker {
  readonly worker: Worker;
  /** Has it begin. */
  begin(data: unknown): void;
  /** Ends it when it has not begun. */
  abandon(): void;
}

/** `entry`: the thread's own file. */
export function startWorker(
  entry: URL,
  options: Pick<WorkerOptions, 'name' | 'resourceLimits' | 'env'> = {},
): WaitingWorker {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(first, {
    ...options,
    argv: [entry.href],
    workerData: port2,
    transferList: [port2],
  });
  return {
    worker,
    begin: (data) => port1.postMessage({ data } satisfies Beginning<unknown>),
    abandon: () => port1.postMessage(null satisfies Beginning<unknown>),
  };
}
