// The checkpoint thread as its shard sees it: the journal's `Checkpointer`, whose tasks run in that thread. When the thread
// ends unexpectedly, its tasks fail and the shard is told at once, because a shard must not go on without it.

import { Worker } from 'node:worker_threads';
import type { ScrubState } from '../journal/checkpoint/scrubber.ts';
import {
  type Checkpointer,
  type CheckpointSizes,
  JournalFailure,
  type ReportCompaction,
} from '../journal/journal.ts';
import type { ThreadGauge } from '../telemetry/thread-time.ts';
import {
  type CheckpointTarget,
  type CheckpointThreadData,
  errorOf,
  type FromCheckpointThread,
  type Task,
  type TaskResult,
} from './checkpoint-protocol.ts';
import { TaskGate } from './task-gate.ts';

const entry = new URL('./checkpoint-thread.ts', import.meta.url);

interface Waiting {
  readonly resolve: (result: TaskResult) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ReportCompaction;
}

export class CheckpointWorker implements Checkpointer {
  readonly #worker: Worker;
  readonly #gate: TaskGate;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  readonly #gauge = Promise.withResolvers<ThreadGauge>();
  #number = 0;
  #failure: Error | null = null;
  #isClosing = false;

  /**
   * Starts the thread. `onEnded` is called with the reason when it ends without having been closed, `onScrubbed` with how
   * far its scrubber has come, and how many bytes are stored.
   */
  constructor(
    target: CheckpointTarget,
    onEnded: (error: Error) => void,
    onScrubbed: (state: ScrubState, totalBytes: number) => void = () => {},
  ) {
    const gate = TaskGate.memory();
    this.#gate = new TaskGate(gate);
    const data: CheckpointThreadData = { ...target, gate };
    this.#worker = new Worker(entry, { workerData: data });
    this.#worker.on('message', (message: FromCheckpointThread) => {
      if ('gauge' in message) return this.#gauge.resolve(message.gauge);
      if ('scrubbed' in message) return onScrubbed(message.scrubbed, message.totalBytes);
      const waiting = this.#waiting.get(message.number);
      if ('progress' in message) return void waiting?.onProgress(message.progress);
      this.#waiting.delete(message.number);
      if ('failure' in message) waiting?.reject(errorOf(message.failure));
      else waiting?.resolve(message.result);
    });
    this.#worker.on('error', (error) => {
      this.#failure = new JournalFailure(`the checkpoint thread failed: ${error.message}`, {
        diskFull: false,
        cause: error,
      });
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#failure ??= new JournalFailure('the checkpoint thread has ended', { diskFull: false });
        for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
        this.#waiting.clear();
        if (!this.#isClosing) onEnded(this.#failure);
        resolve();
      });
    });
  }

  /** Measures the thread. Resolves once it runs. */
  get gauge(): Promise<ThreadGauge> {
    return this.#gauge.promise;
  }

  #ask<R extends TaskResult>(task: Task, onProgress: ReportCompaction = () => {}): Promise<R> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const number = ++this.#number;
    const { promise, resolve, reject } = Promise.withResolvers<TaskResult>();
    this.#waiting.set(number, { resolve, reject, onProgress });
    this.#worker.postMessage({ ...task, number });
    return promise as Promise<R>;
  }

  write(sequence: number): Promise<number> {
    return this.#ask({ type: 'write', sequence });
  }

  compact(report: ReportCompaction): Promise<CheckpointSizes> {
    return this.#ask({ type: 'compact' }, report);
  }

  async putSmallValues(values: ReadonlyMap<string, Uint8Array>): Promise<void> {
    await this.#ask({ type: 'put_small_values', values });
  }

  async noteSegment(firstSequence: number): Promise<void> {
    await this.#ask({ type: 'note_segment', firstSequence });
  }

  drop(olderThanMs: number): Promise<number> {
    return this.#ask({ type: 'drop', olderThanMs });
  }

  /**
   * To be called when this thread is about to end, because that ends the checkpoint thread, too. Blocks for at most `msMax`
   * until the checkpoint thread has finished its task. It begins no other.
   */
  finishTask(msMax: number): void {
    this.#gate.shut(msMax);
  }

  /** Settles when the thread has closed everything and has ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#ask({ type: 'close' });
    await this.#ended;
  }
}
