// The checkpoint thread as its shard sees it: the journal's `Checkpointer`, whose tasks run in that thread. When the thread
// ends unexpectedly, its tasks fail and the shard is told at once, because a shard must not go on without it.

import { Worker } from 'node:worker_threads';
import { type Checkpointer, JournalFailure } from '../journal/journal.ts';
import type { ScrubState } from '../journal/scrubber.ts';
import {
  type CheckpointTarget,
  type CheckpointThreadData,
  errorOf,
  type FromCheckpointThread,
  type Task,
} from './checkpoint-protocol.ts';
import { TaskGate } from './task-gate.ts';
import type { ThreadGauge } from './thread-time.ts';

const entry = new URL('./checkpoint-thread.ts', import.meta.url);

export class CheckpointWorker implements Checkpointer {
  readonly #worker: Worker;
  readonly #gate: TaskGate;
  readonly #waiting = new Map<number, PromiseWithResolvers<number>>();
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

  #ask(task: Task): Promise<number> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const number = ++this.#number;
    const waiting = Promise.withResolvers<number>();
    this.#waiting.set(number, waiting);
    this.#worker.postMessage({ ...task, number });
    return waiting.promise;
  }

  write(sequence: number): Promise<number> {
    return this.#ask({ type: 'write', sequence });
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
