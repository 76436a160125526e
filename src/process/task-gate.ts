// A gate between a thread and the one that it started, in shared memory. When a thread ends, Node stops those that it
// started wherever they are. LMDB's library can't be stopped in the middle of a transaction, or while it opens a file: its
// thread then waits for a lock of its own for ever, or the process ends. So a task goes through the gate, and who is about
// to end shuts it first, which waits for the task that is under way.

/** The word holds the number of tasks under way, less this once the gate is shut. */
const shutBy = 2 ** 30;

export class TaskGate {
  readonly #word: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#word = new Int32Array(memory);
  }

  /** Shared memory for a gate. */
  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  /** Runs a task. Rejects when the gate is shut. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    try {
      if (Atomics.add(this.#word, 0, 1) < 0) throw new Error('the gate is shut');
      return await task();
    } finally {
      Atomics.sub(this.#word, 0, 1);
      Atomics.notify(this.#word, 0);
    }
  }

  /** Blocks this thread until no task is under way, and lets none begin any more. False: `msMax` was not enough. */
  shut(msMax: number): boolean {
    const endMs = performance.now() + msMax;
    let word = Atomics.sub(this.#word, 0, shutBy) - shutBy;
    while (word !== -shutBy) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) return false;
      Atomics.wait(this.#word, 0, word, leftMs);
      word = Atomics.load(this.#word, 0);
    }
    return true;
  }
}
