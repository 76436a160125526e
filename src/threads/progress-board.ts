// How far this node follows each partition, in memory that threads share.

export class ProgressBoard {
  readonly #sequences: BigInt64Array;

  static memory(partitions: number): SharedArrayBuffer {
    return new SharedArrayBuffer(partitions * BigInt64Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#sequences = new BigInt64Array(memory);
  }

  note(partition: number, sequence: number): void {
    Atomics.store(this.#sequences, partition, BigInt(sequence));
  }

  /** The last sequence of each partition; 0: it is not followed. */
  get sequences(): readonly number[] {
    return Array.from(this.#sequences, (_, partition) => Number(Atomics.load(this.#sequences, partition)));
  }
}
