// How the memory of a shard is divided. `memory.shardMib` is the limit of its thread's heap. Half
// is for records, also where these are bytes outside of the heap; the rest for commit batches, the
// program and garbage. What the shard causes in other threads takes half as much again. The owner
// of each share estimates its bytes. What does not fit is refused or waits.

import type { ClientBounds } from './lane.ts';

export const shardMibMin = 64;
export const shardMibMax = 65_536;
const mib = 1024 * 1024;
const mailboxRequestsMax = 4_096;
const mailboxRequestsPerMib = 8;
/** A larger commit batch would only keep its first request waiting. */
const batchBytesMax = 8 * mib;

export interface MemoryShares {
  /** For the cache of records that were read lately. */
  readonly cacheBytesMax: number;
  /** A flush begins when the changed records take this much. */
  readonly checkpointBytes: number;
  /** Writes are refused while what is not in the checkpoint yet takes more than this. */
  readonly unwrittenBytesMax: number;
  /** About the requests and the answers of one commit batch. */
  readonly batchBytesMax: number;
  /** The requests of all edges that the shard has not answered yet. The edges count them. */
  readonly mailboxBytesMax: number;
  readonly mailboxRequestsMax: number;
  /** The deliveries that are leased to the webhook threads. */
  readonly outboxBytesMax: number;
  /** The answers that clients have not taken yet. The edges count them. */
  readonly answersBytesMax: number;
}

/** What the cache may hold: the index takes up to three quarters of its share. */
export function cacheBytesBeside({ cacheBytesMax }: MemoryShares, indexBytes: number): number {
  return Math.max(cacheBytesMax / 4, cacheBytesMax - indexBytes);
}

export function memoryShares(shardMib: number): MemoryShares {
  const bytes = shardMib * mib;
  return {
    cacheBytesMax: bytes / 4,
    checkpointBytes: bytes / 16,
    unwrittenBytesMax: bytes / 4,
    batchBytesMax: Math.min(batchBytesMax, bytes / 32),
    mailboxBytesMax: bytes / 8,
    mailboxRequestsMax: Math.min(mailboxRequestsMax, shardMib * mailboxRequestsPerMib),
    outboxBytesMax: bytes / 8,
    answersBytesMax: bytes / 4,
  };
}

/** Requests sent ahead of their answers: enough for the commit batches in flight and the next. */
const sentMax = 1_536;

/** The bounds of one of `edges` clients of a shard with this mailbox. */
export function clientBounds(
  mailbox: { readonly requestsMax: number; readonly mibMax: number; readonly organizationPercent: number },
  edges: number,
): ClientBounds {
  const bytes = (mailbox.mibMax * mib) / edges;
  return {
    sentMax: Math.ceil(sentMax / edges),
    // A quarter for what was sent, three for what waits, each for reads, for writes and for what is
    // asked by pages and payment networks.
    sentBytesMax: bytes / 12,
    queue: {
      requests: Math.ceil(mailbox.requestsMax / edges),
      bytes: bytes / 4,
      organizationShare: mailbox.organizationPercent / 100,
    },
  };
}
