// Who owns a partition, which is a shard. An append is refused once there is a newer owner. What
// leaves a partition without an append is not: an answer to a query, a webhook, a call of a payment
// network. So everything of that kind asks here first, right before it leaves.

import { JournalFailure } from '../disk/storage-errors.ts';

export interface Ownership {
  /** Greater than those of all earlier owners. */
  readonly epoch: number;
  /** Whether this owner may still speak for the partition. Cheap, and never waits. */
  isHeld(): boolean;
  /** What the partition was lost by, where that is known: perhaps to nobody else. */
  lostBy?(): JournalFailure | null;
}

/** To be called right before something leaves. Throws `JournalFailure`. */
export function requireHeld(ownership: Ownership): void {
  if (ownership.isHeld()) return;
  const lostBy = ownership.lostBy?.() ?? null;
  if (lostBy !== null) throw lostBy;
  throw new JournalFailure(
    `The owner of epoch ${ownership.epoch} has lost the partition: it says nothing more`,
    { diskFull: false, outcome: 'unknown' },
  );
}

/** The lock of the data folder keeps every other owner away for as long as the process lives. */
export function heldByLock(epoch: number): Ownership {
  return { epoch, isHeld: () => true };
}

/**
 * Which partitions are lost, in memory that all threads share: a thread other than the shard's asks
 * here before it does something for a partition.
 */
export class OwnershipBoard {
  readonly #lost: Int32Array;

  static memory(partitions: number): SharedArrayBuffer {
    return new SharedArrayBuffer(partitions * Int32Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#lost = new Int32Array(memory);
  }

  setHeld(partition: number, isHeld: boolean): void {
    Atomics.store(this.#lost, partition, isHeld ? 0 : 1);
  }

  isHeld(partition: number): boolean {
    return Atomics.load(this.#lost, partition) === 0;
  }
}
