// How the memory of a shard is divided. `memory.shardMib` is the limit of its thread's heap. Half of it is for records; the
// rest is for turns, the program itself, and garbage that is not collected yet. Records that are not in the checkpoint yet
// are bytes outside of the heap, and count as if they were in it. What the shard causes in other threads (requests in flight,
// answers that clients have not taken yet, leased deliveries) takes half as much again.
//
// The owner of each share counts its bytes. What does not fit is refused or waits, if possible before any work was done for
// it. An estimate is enough, because the shares leave room for what it misses.

export const shardMibMin = 64;
export const shardMibMax = 65_536;
const mib = 1024 * 1024;
/** A larger turn would only keep its first request waiting. */
const turnBytesMax = 8 * mib;

export interface MemoryShares {
  /** For the cache of records that were read lately. */
  readonly cacheBytesMax: number;
  /** A flush begins when the changed records take this much. */
  readonly checkpointBytes: number;
  /** Writes are refused while the records that are not in the checkpoint yet take more than this. */
  readonly unwrittenBytesMax: number;
  /** About the requests and the answers of one turn. */
  readonly turnBytesMax: number;
  /** The requests of all edges that the shard has not answered yet. The edges count them before they send them. */
  readonly mailboxBytesMax: number;
  /** The deliveries that are leased to the webhook thread. */
  readonly outboxBytesMax: number;
  /** The answers that clients have not taken yet. The edges count them. */
  readonly answersBytesMax: number;
}

/** What the cache may hold beside an idempotency index of so many bytes, which takes up to three quarters of its share. */
export function cacheBytesBeside({ cacheBytesMax }: MemoryShares, indexBytes: number): number {
  return Math.max(cacheBytesMax / 4, cacheBytesMax - indexBytes);
}

export function memoryShares(shardMib: number): MemoryShares {
  const bytes = shardMib * mib;
  return {
    cacheBytesMax: bytes / 4,
    checkpointBytes: bytes / 16,
    unwrittenBytesMax: bytes / 4,
    turnBytesMax: Math.min(turnBytesMax, bytes / 32),
    mailboxBytesMax: bytes / 8,
    outboxBytesMax: bytes / 8,
    answersBytesMax: bytes / 4,
  };
}
