// The journal makes a shard durable. This is its port: nothing above knows what engine is behind
// it. A shard appends one commit batch at a time (group commit) and may answer only when the append
// has resolved. What was appended is replayed after a restart, on top of the newest checkpoint. A
// journal that has failed once refuses every later append, and the shard recovers from disk.

import type { Cause } from '../domain/cause.ts';
import type { Change } from '../domain/record.ts';
import type { ColdStore, PackedChanges } from '../store/cold-store.ts';
import type { Ownership } from './ownership.ts';
import type { EncodedRecord } from './records/record-bytes.ts';

export {
  JournalDamaged,
  JournalFailure,
  unlessDamaged,
  type WriteOutcome,
} from '../disk/storage-errors.ts';

/** Digests of keys and requests have this many bytes. */
export const digestBytes = 16;

/**
 * The place of a stored response: its commit batch, by the first sequence, and the offset there.
 */
export interface ResponseLocation {
  readonly record: number;
  readonly offset: number;
}

/** The place of a response that is lost. Its key stays known. */
export const nowhere: ResponseLocation = { record: 0, offset: 0 };

/** A response that is stored for its idempotency key, to be replayed. */
export interface StoredResponse {
  readonly status: number;
  readonly requestId: string;
  /** The first answer's body, byte for byte: text when it is new, bytes when it was read back. */
  readonly body: string | Uint8Array;
  /** Defaults in the digest of the request that depended on the state, as JSON; or empty. */
  readonly defaults: string;
}

interface UsedKey {
  /** Digest of organization, mode and idempotency key: 16 bytes. */
  readonly keyDigest: Uint8Array;
  /** Digest of the request: 16 bytes. */
  readonly fingerprint: Uint8Array;
  /** The slot of the organization (core/slot.ts), which tells its shard. */
  readonly slot: number;
}

export interface KeyedResponse extends StoredResponse, UsedKey {}

/** The idempotency record of a key. The stored response is read through its location. */
export interface IdempotencyRecord extends UsedKey {
  /** When the key was used, Unix milliseconds: the record expires 24 hours later. */
  readonly usedAtMs: number;
  readonly location: ResponseLocation;
}

// Where the fields of a packed idempotency record begin, in 32-bit words; doubles at even words.
export const packedAt = {
  keyDigest: 0,
  fingerprint: 4,
  usedAtMs: 8,
  record: 10,
  offset: 12,
  slot: 13,
} as const;
export const packedWords = 14;

/** Idempotency records as numbers, for whoever reads millions: both arrays share their memory. */
export interface PackedIdempotencyRecords {
  readonly length: number;
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
}

/** One command's effects: all of them become durable together, or none does. */
export interface Entry {
  readonly changes: readonly Change[];
  readonly idempotency: KeyedResponse | null;
  /** A request without a name is the one that the response is stored for. Null: it is not known. */
  readonly cause: Cause | null;
}

/** Entry `i` of a commit batch has the sequence `firstSequence + i`. */
export interface LogBatch {
  readonly firstSequence: number;
  /** Service time, by which everything ages (core/service-clock.ts). */
  readonly timeMs: number;
  /** Wall time, which is what people mean by the time of a change. */
  readonly wallMs: number;
  readonly entries: readonly Entry[];
}

export interface ReplayedEntry {
  readonly sequence: number;
  readonly timeMs: number;
  readonly changes: readonly Change[];
  readonly idempotency: IdempotencyRecord | null;
  readonly cause: Cause | null;
}

/** A sequence, and the checksum of the commit batch that ends with it. */
export interface LogEnd {
  readonly sequence: number;
  readonly checksum: number;
}

export interface Log {
  /** Of the next entry; starts at 1. */
  readonly nextSequence: number;
  /** Null until something was appended and is on disk. */
  readonly durableEnd: LogEnd | null;
  /**
   * Appends a commit batch. Returns at once the places of the entries' stored responses, null
   * without one, and all changes for memory to hold. `durable` rejects with `JournalFailure`; then
   * every append does.
   */
  append(batch: LogBatch): {
    readonly locations: readonly (ResponseLocation | null)[];
    readonly changes: PackedChanges;
    readonly durable: Promise<void>;
  };
  /**
   * Reads the stored response of a key, also while its batch is being written. Undefined when its
   * segment was dropped, or it lies `nowhere`. Throws `JournalDamaged`, also at that of another
   * key.
   */
  readResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined;
  close(): Promise<void>;
}

export interface CheckpointInput {
  /**
   * The records that have changed since the last checkpoint, each once; those removed say so. They
   * are read more than once. In the order of their keys they take the least room and time.
   */
  readonly records: Iterable<EncodedRecord>;
  /** The last sequence that the records reflect. */
  readonly sequence: number;
  /** Idempotency keys used since the last checkpoint. */
  readonly idempotencyRecords: Iterable<IdempotencyRecord> & { readonly length: number };
}

/** The state of a shard as of a sequence, for cold reads and for a recovery that replays little. */
export interface Checkpoint extends ColdStore {
  /** 0 when there is none yet. */
  readonly sequence: number;
  /** All idempotency keys used at or after `sinceMs`. */
  idempotencyRecords(sinceMs: number): Iterable<IdempotencyRecord>;
  /** The same in order, without an object for each; the first ones may have been used before. */
  packedIdempotencyRecords(sinceMs: number): Iterable<PackedIdempotencyRecords>;
  /** Every record, in the order of its making. Nothing may be written meanwhile. */
  records(): Iterable<Change>;
  /** The same as bytes, which are checked, but not decoded. */
  encodedRecords(): Iterable<EncodedRecord>;
  /** Metadata that is written lazily and may be a second behind. */
  getMetadata(name: string): Uint8Array | undefined;
  metadata(): ReadonlyMap<string, Uint8Array>;
}

/** A checkpoint that is written from outside the log, as in a new data folder. */
export interface WritableCheckpoint extends Checkpoint {
  /** Writes all of it, and the sequence, in one transaction. */
  write(input: CheckpointInput): Promise<void>;
}

export interface Compacting {
  /** `switching`: the copy takes the checkpoint's place. `switched`: it has done so. */
  readonly step: 'copying' | 'switching' | 'switched';
  /** The rows that were copied, of about so many. */
  readonly rows: number;
  readonly total: number;
  /** Bytes written since the last report. */
  readonly bytes: number;
}

/** The compaction waits for it when it runs in the same thread. */
export type ReportCompaction = (progress: Compacting) => void | Promise<void>;

/** The bytes of the checkpoint's file before and after it was compacted. */
export interface CheckpointSizes {
  readonly before: number;
  readonly after: number;
}

/**
 * Keeps the checkpoint: a follower of the log, mostly in a thread of its own. When it rejects, with
 * `JournalFailure` or `JournalDamaged`, the journal is to be opened again.
 */
export interface Checkpointer {
  /**
   * Brings the checkpoint up to `sequence`, the end of a commit batch, once that is durable.
   * Resolves with the number of records written, when reads of the checkpoint find them.
   */
  write(sequence: number): Promise<number>;
  putMetadata(values: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /** Notes the first sequence of the newest segment, so that its loss is noticed. */
  noteSegment(firstSequence: number): Promise<void>;
  /**
   * Drops idempotency keys used before `olderThanMs`, by whole hours, and segments that are older
   * and that the checkpoint reflects, but for the newest. Resolves with the log's first sequence.
   */
  drop(olderThanMs: number): Promise<number>;
  /**
   * Gives unused room back while everything goes on, one at a time. When it rejects, the checkpoint
   * is as it was; `JournalFailure` may only mean that the copy had no room.
   */
  compact(report: ReportCompaction): Promise<CheckpointSizes>;
  close(): Promise<void>;
}

export interface Journal {
  readonly ownership: Ownership;
  readonly log: Log;
  readonly checkpoint: Checkpoint;
  readonly checkpointer: Checkpointer;
  /**
   * Reads the log after the checkpoint, once: entries in order, some at a time. To be read to the
   * end before the log is used, unless the journal is new. Throws `JournalDamaged`: then it can't
   * be used.
   */
  replay(): AsyncIterable<readonly ReplayedEntry[]>;
  close(): Promise<void>;
}

/** A journal whose checkpoint may be written from outside while nothing is appended. */
export interface OwnJournal extends Journal {
  readonly checkpoint: WritableCheckpoint;
}

/** A journal on disk. */
export interface FiledJournal extends OwnJournal {
  /** Lets another process read the checkpoint as it is now, while everything goes on. */
  holdCheckpoint(): HeldCheckpoint;
}

/** A checkpoint whose file grows by what changes, because the pages of a moment are kept. */
export interface HeldCheckpoint {
  readonly folder: string;
  /** Whoever reads is done. The journal's closing ends it, too. */
  release(): void;
}
