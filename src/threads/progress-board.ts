// How far this node follows the partitions, in memory that threads share.

export class ProgressBoard {
  readonly #isLagging: BigInt64Array;
  readonly #sequences: BigInt64Array;

  static memory(partitions: number): SharedArrayBuffer {
    return new SharedArrayBuffer((1 + partitions) * BigInt64Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#isLagging = new BigInt64Array(memory, 0, 1);
    this.#sequences = new BigInt64Array(memory, BigInt64Array.BYTES_PER_ELEMENT);
  }

  /** Whether this node would keep everybody waiting if it took the lease now. */
  get isLagging(): boolean {
    return Atomics.load(this.#isLagging, 0) === 1n;
  }

  set isLagging(isLagging: boolean) {
    Atomics.store(this.#isLagging, 0, isLagging ? 1n : 0n);
  }

  note(partition: number, sequence: number): void {
    Atomics.store(this.#sequences, partition, BigInt(sequence));
  }

  /** The last sequence of each partition; 0: it is not followed. */
  get sequences(): readonly number[] {
    return Array.from(this.#sequences, (_, partition) => Number(Atomics.load(this.#sequences, partition)));
  }
}
