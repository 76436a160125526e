// How the memory that is configured for a shard is divided. `memory.shardMib` is the limit of its thread's heap: half of
// that is for records, the rest for turns, the program itself, and what the collector has yet to free. Records that are in
// no checkpoint yet lie beside the heap, as bytes, and count as if they lay in it. What a shard makes other threads hold
// (requests on their way, answers that clients have yet to take, deliveries leased) comes to half as much again.
//
// Whoever holds one of these keeps count of it in bytes, and what does not fit is refused or waits, wherever it can
// before any work was done for it. An estimate is enough: the shares leave room for what it misses.

export const shardMibMin = 64;
export const shardMibMax = 65_536;
const mib = 1024 * 1024;
/** A larger turn would only keep its first request waiting. */
const turnBytesMax = 8 * mib;

export interface MemoryShares {
  /** Records that were read lately: what was not used for longest is evicted. */
  readonly cacheBytesMax: number;
  /** Changed records begin a checkpoint. */
  readonly checkpointBytes: number;
  /** While more than this is in no checkpoint yet, writes are refused. */
  readonly unwrittenBytesMax: number;
  /** What one turn takes in and answers, about. */
  readonly turnBytesMax: number;
  /** Requests that the shard has yet to answer, those of all edges together. Held by the edges, then by the shard. */
  readonly mailboxBytesMax: number;
  /** Deliveries that are leased to the webhook thread, which holds them. */
  readonly outboxBytesMax: number;
  /** Answers that clients have yet to take. Held by the edges. */
  readonly answersBytesMax: number;
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
