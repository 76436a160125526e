// Who owns a partition, which is a shard. An append is refused once there is a newer owner. What
// leaves a partition without an append is not: an answer to a query, a webhook, a call of a payment
// network. So everything of that kind asks here first, right before it leaves.

export interface Ownership {
  /** Greater than those of all earlier owners. */
  readonly epoch: number;
  /** Whether this owner may still speak for the partition. Cheap, and never waits. */
  isHeld(): boolean;
}

/** The lock of the data folder keeps every other owner away for as long as the process lives. */
export function heldByLock(epoch: number): Ownership {
  return { epoch, isHeld: () => true };
}
