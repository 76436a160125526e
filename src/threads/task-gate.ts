// A gate in shared memory between a thread and the one that it started. When a thread ends, Node
// stops the threads that it started, wherever they are. LMDB's library must not be stopped while it
// is loaded, in the middle of a transaction or while it opens a file, because its thread then waits
// for its own lock for ever, or the process ends. So each task passes the gate, and the starting
// thread shuts the gate before it ends, which waits for the task under way.

/** The word is the number of tasks under way. Shutting the gate subtracts this from it. */
const shutBy = 2 ** 30;

export class TaskGate {
  readonly #word: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#word = new Int32Array(memory);
  }

  /** Allocates the shared memory of a gate. */
  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  /** A task is under way until `leave`. Returns false if it must not begin: the gate is shut. */
  enter(): boolean {
    return Atomics.add(this.#word, 0, 1) >= 0;
  }

  leave(): void {
    Atomics.sub(this.#word, 0, 1);
    Atomics.notify(this.#word, 0);
  }

  /** Runs a task. Rejects when the gate is shut. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    try {
      if (!this.enter()) throw new Error('the gate is shut');
      return await task();
    } finally {
      this.leave();
    }
  }

  /**
   * Lets a task that is under way wait for something in between. When the gate is shut meanwhile,
   * it never goes on.
   */
  async outside(wait: () => Promise<void>): Promise<void> {
    this.leave();
    try {
      await wait();
    } finally {
      if (!this.enter()) {
        this.leave();
        // This thread is about to be ended.
        await new Promise(() => {});
      }
    }
  }

  /**
   * Lets no task begin, and blocks this thread until none is under way. Returns false if that takes
   * longer than `msMax`.
   */
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
