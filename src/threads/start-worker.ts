// Starts a thread of this process, which loads its sources without their types, and then waits for
// the data that it begins with (see thread-side.ts). So it can be started ahead.

import { MessageChannel, Worker, type WorkerOptions } from 'node:worker_threads';

const first = new URL('./start-thread.mjs', import.meta.url);

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
    begin(data) {
      port1.postMessage(data);
      port1.close();
    },
    // It has opened nothing yet.
    abandon: () => void worker.terminate(),
  };
}
