// Starts a thread of this process, which loads its sources without their types, and then waits for
// the data that it begins with (see thread-side.ts). So it can be started ahead.

import { MessageChannel, type MessagePort, Worker, type WorkerOptions } from 'node:worker_threads';
import { TaskGate } from './task-gate.ts';

const first = new URL('./start-thread.mjs', import.meta.url);

export interface WaitingWorker {
  readonly worker: Worker;
  /** Its first task is to load what it runs. */
  readonly gate: TaskGate;
  /** Has it begin. */
  begin(data: unknown): void;
  /** Has it end without having begun. */
  abandon(): void;
}

/** What a thread is started with. */
export interface WorkerStart {
  /** Brings the data that it begins with. It ends when this is closed before. */
  readonly port: MessagePort;
  readonly gate: SharedArrayBuffer;
  /** It has left the gate, so that its first task is done. */
  isLoaded?: true;
}

/** `entry`: the thread's own file. */
export function startWorker(
  entry: URL,
  options: Pick<WorkerOptions, 'name' | 'resourceLimits' | 'env'> = {},
): WaitingWorker {
  const { port1, port2 } = new MessageChannel();
  const memory = TaskGate.memory();
  const gate = new TaskGate(memory);
  gate.enter();
  const worker = new Worker(first, {
    ...options,
    argv: [entry.href],
    workerData: { port: port2, gate: memory } satisfies WorkerStart,
    transferList: [port2],
  });
  return {
    worker,
    gate,
    begin(data) {
      port1.postMessage(data);
      port1.close();
    },
    abandon: () => port1.close(),
  };
}
