// The checkpoint thread as its shard sees it: the journal's `Checkpointer`, whose tasks run in that
// thread. When the thread ends unexpectedly, its tasks fail and the shard is told at once, because
// a shard must not go on without it.

import {
  type Checkpointer,
  type CheckpointSizes,
  JournalFailure,
  type ReportCompaction,
} from '../journal/journal.ts';
import type { ScrubState } from '../journal/scrubber.ts';
import { Questions } from '../rpc/questions.ts';
import type { ThreadGauge } from '../telemetry/thread-time.ts';
import {
  type CheckpointTarget,
  type CheckpointTasks,
  errorOf,
  type FromCheckpointThread,
  type TaskFailure,
} from './checkpoint-protocol.ts';
import { startWorker, type WaitingWorker } from './start-worker.ts';

const entry = new URL('./checkpoint-thread.ts', import.meta.url);

export class CheckpointWorker implements Checkpointer {
  readonly #start: WaitingWorker;
  readonly #tasks: Questions<CheckpointTasks>;
  readonly #ended: Promise<void>;
  readonly #gauge = Promise.withResolvers<ThreadGauge>();
  #failure: Error | null = null;
  #isClosing = false;
  #onEnded: (error: Error) => void = () => {};
  #onScrubbed: (state: ScrubState, totalBytes: number) => void = () => {};

  /** Starts the thread, which waits for its shard. */
  constructor() {
    this.#start = startWorker(entry);
    const { worker } = this.#start;
    this.#tasks = new Questions(
      (task) => worker.postMessage(task),
      (failure) => errorOf(failure as TaskFailure),
    );
    worker.on('message', (message: FromCheckpointThread) => {
      if ('gauge' in message) return this.#gauge.resolve(message.gauge);
      if ('scrubbed' in message) return this.#onScrubbed(message.scrubbed, message.totalBytes);
      this.#tasks.take(message);
    });
    worker.on('error', (error) => {
      this.#failure = new JournalFailure(`the checkpoint thread failed: ${error.message}`, {
        diskFull: false,
        cause: error,
      });
    });
    this.#ended = new Promise((resolve) => {
      worker.on('exit', () => {
        this.#failure ??= new JournalFailure('the checkpoint thread has ended', { diskFull: false });
        this.#tasks.end(this.#failure);
        if (!this.#isClosing) this.#onEnded(this.#failure);
        resolve();
      });
    });
  }

  /**
   * Has the thread keep a shard's checkpoint. `onEnded` is called with the reason when it ends
   * without having been closed, `onScrubbed` with how far its scrubber has come, and how many bytes
   * are stored.
   */
  begin(
    target: CheckpointTarget,
    onEnded: (error: Error) => void,
    onScrubbed: (state: ScrubState, totalBytes: number) => void = () => {},
  ): this {
    this.#onEnded = onEnded;
    this.#onScrubbed = onScrubbed;
    this.#start.begin(target);
    if (this.#failure !== null) onEnded(this.#failure);
    return this;
  }

  /** Measures the thread. Resolves once it runs. */
  get gauge(): Promise<ThreadGauge> {
    return this.#gauge.promise;
  }

  /** Resolves or rejects as the task does, and fails with the thread. */
  get #ask(): Questions<CheckpointTasks>['ask'] {
    if (this.#failure !== null) return () => Promise.reject(this.#failure);
    return this.#tasks.ask.bind(this.#tasks);
  }

  write(sequence: number): Promise<number> {
    return this.#ask('write', { sequence });
  }

  compact(report: ReportCompaction): Promise<CheckpointSizes> {
    return this.#ask('compact', {}, report);
  }

  putMetadata(values: ReadonlyMap<string, Uint8Array>): Promise<void> {
    return this.#ask('put_metadata', { values });
  }

  noteSegment(firstSequence: number): Promise<void> {
    return this.#ask('note_segment', { firstSequence });
  }

  drop(olderThanMs: number): Promise<number> {
    return this.#ask('drop', { olderThanMs });
  }

  /**
   * To be called when this thread is about to end, because that ends the checkpoint thread, too.
   * Blocks for at most `msMax` until the checkpoint thread is loaded and has finished its task. It
   * begins no other.
   */
  finishTask(msMax: number): void {
    if (this.#failure === null) this.#start.gate.shut(msMax);
  }

  /** Resolves when the thread has closed everything and has ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#ask('close', {});
    await this.#ended;
  }
}
