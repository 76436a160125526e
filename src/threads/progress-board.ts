// How far this node follows the partitions, and of which its files are damaged, in memory that
// threads share.

/** What the log says of a node, by its name in words, that can't run a partition until then. */
export function damageTold(node: string, partition: number, message: string): string {
  return `${node} has damaged files of partition ${partition}, which other nodes are to run until its folder is made anew: ${message}`;
}

export class ProgressBoard {
  readonly #isLagging: BigInt64Array;
  readonly #sequences: BigInt64Array;
  readonly #damaged: BigInt64Array;

  static memory(partitions: number): SharedArrayBuffer {
    return new SharedArrayBuffer((1 + 2 * partitions) * BigInt64Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#isLagging = new BigInt64Array(memory, 0, 1);
    const partitions = (memory.byteLength / BigInt64Array.BYTES_PER_ELEMENT - 1) / 2;
    const from = (words: number) =>
      new BigInt64Array(memory, words * BigInt64Array.BYTES_PER_ELEMENT, partitions);
    this.#sequences = from(1);
    this.#damaged = from(1 + partitions);
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

  noteDamaged(partition: number): void {
    Atomics.store(this.#damaged, partition, 1n);
  }

  /** Partitions that this node can't run until its folder is made anew. */
  get damaged(): readonly number[] {
    return [...this.#damaged.keys()].filter((partition) => Atomics.load(this.#damaged, partition) === 1n);
  }
}
