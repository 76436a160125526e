// The engine of the log on LMDB (see log-engine.ts). One transaction is in flight at a time, and
// the next one has all batches that were appended meanwhile. So a batch that failed is never
// followed on disk by a later one: the disk always has a prefix of what was appended.

import { assert, defined, elementAt } from '../../core/assert.ts';
import { commitAppended, journalFailure, usedBytes } from '../../disk/environment.ts';
import { type ShardIdentity, tagOf } from '../../disk/identity.ts';
import { Preallocation } from '../../disk/preallocation.ts';
import {
  JournalDamaged,
  JournalFailure,
  type LogEnd,
  type ResponseLocation,
  type StoredResponse,
  unlessDamaged,
} from '../journal.ts';
import { heldByLock, type Ownership } from '../ownership.ts';
import { endOfBatch, readBatchHeader, readResponse } from './codec.ts';
import type { EpochFile } from './epoch-file.ts';
import { readLog } from './follow.ts';
import type { LogEngine } from './log-engine.ts';
import {
  batchTimeMs,
  endOf,
  lastEnd,
  lastEpoch,
  readStoredResponse,
  type Segment,
  type Segments,
} from './segments.ts';

export interface LogOptions {
  readonly segments: Segments;
  readonly epochFile: EpochFile;
  /** Called with a new segment's first sequence. The segment is written to when this resolves. */
  readonly onSegment: (firstSequence: number) => Promise<void>;
  /** Finds a stored response whose segment was dropped. */
  readonly movedResponse: LogEngine['readResponse'];
  /** A new segment begins when the newest one has more bytes than this. */
  readonly segmentBytesMax: number;
  /** It also begins when the newest one's first batch is older than this. */
  readonly segmentAgeMaxMs: number;
}

interface Waiting {
  readonly firstSequence: number;
  readonly timeMs: number;
  readonly bytes: Buffer;
  readonly durable: Promise<void>;
  readonly finish: (failure: JournalFailure | null) => void;
}

interface Active {
  readonly segment: Segment;
  /** Null when the segment is damaged; then the next batch begins a new one. */
  readonly preallocation: Preallocation | null;
  bytes: number;
  firstTimeMs: number;
}

export class SegmentedLog implements LogEngine {
  readonly #options: LogOptions;
  readonly #segments: Segments;
  /** Null until `start`. */
  #nextSequence: number | null = null;
  #active: Active | null = null;
  #epoch = 0;
  /** Batches that are not on disk yet, by first sequence, oldest first. */
  readonly #waiting = new Map<number, Waiting>();
  #writing: Promise<void> | null = null;
  #failure: JournalFailure | null = null;
  #durableEnd: LogEnd | null = null;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#segments = options.segments;
  }

  async acquire(): Promise<Ownership> {
    const { epochFile } = this.#options;
    this.#epoch = 1 + this.lastEpoch;
    try {
      epochFile.store(this.#epoch);
    } catch (error) {
      // On a full disk the first append stores it, when there is room again.
      const failure = journalFailure(error, this.#segments.folder);
      if (!failure.diskFull) throw failure;
    }
    return heldByLock(this.#epoch);
  }

  /**
   * The next entry has this sequence. It goes into the newest segment if the log ends right before
   * it, else into a new one.
   */
  start(nextSequence: number): void {
    this.#nextSequence = nextSequence;
    const newest = this.#segments.list.at(-1);
    // What was lost at the log's end lies in the checkpoint: a new segment says where it goes on.
    if (newest === undefined || logEnd(this.#segments) < nextSequence - 1) return;
    this.#active = this.#activate(newest, firstTimeMs(this.#segments, newest));
  }

  #activate(segment: Segment, firstTimeMs: number): Active {
    const environment = unlessDamaged(() => this.#segments.open(segment));
    if (environment === undefined) return { segment, preallocation: null, bytes: 0, firstTimeMs };
    const preallocation = new Preallocation(segment.folder, environment, this.#options.segmentBytesMax);
    const bytes = firstTimeMs === Number.POSITIVE_INFINITY ? 0 : usedBytes(environment);
    return { segment, preallocation, bytes, firstTimeMs };
  }

  append(partition: ShardIdentity, epoch: number, expectedSequence: number, bytes: Buffer): Promise<void> {
    assert(tagOf(partition).equals(this.#segments.tag), 'a log has the batches of one partition');
    if (epoch < this.#epoch) this.#failure ??= fenced(this.#segments.folder, epoch, this.#epoch);
    if (this.#failure !== null) return Promise.reject(this.#failure);
    assert(expectedSequence === this.#nextSequence, 'a batch follows the one before');
    const { firstSequence, lastSequence, timeMs } = readBatchHeader(bytes);
    assert(firstSequence === expectedSequence, 'a batch lies under its first sequence');
    assert(lastSequence >= firstSequence, 'a batch has an entry');
    this.#epoch = epoch;
    this.#nextSequence = lastSequence + 1;
    const { promise: durable, resolve, reject } = Promise.withResolvers<void>();
    const finish = (failure: JournalFailure | null) => (failure === null ? resolve() : reject(failure));
    this.#waiting.set(firstSequence, { firstSequence, timeMs, bytes, durable, finish });
    this.#writing ??= this.#writeAll();
    return durable;
  }

  read(after: number, upTo?: number): ReturnType<LogEngine['read']> {
    return readLog(this.#segments, after, upTo);
  }

  get durableEnd(): LogEnd | null {
    return this.#durableEnd;
  }

  /** The owner's epoch comes from elsewhere, where the log is decided. */
  noteEpoch(epoch: number): void {
    this.#epoch = epoch;
  }

  /** The greatest epoch that an owner is known to have had. */
  get lastEpoch(): number {
    return Math.max(this.#epoch, this.#options.epochFile.stored, lastEpoch(this.#segments));
  }

  /** The end of what is on disk; of sequence 0 without anything. Throws `JournalDamaged`. */
  end(): LogEnd {
    return this.#durableEnd ?? lastEnd(this.#segments);
  }

  async durable(sequence: number): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    // Batches finish in order.
    const last = [...this.#waiting.values()].findLast(({ firstSequence }) => firstSequence <= sequence);
    await last?.durable;
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        const batches = [...this.#waiting.values()];
        await this.#write(batches);
        this.#durableEnd = endOfBatch(elementAt(batches, batches.length - 1).bytes);
        for (const batch of batches) {
          this.#waiting.delete(batch.firstSequence);
          batch.finish(null);
        }
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#writing = null;
    }
  }

  /** Writes the batches in one transaction, in a new segment when one is due. */
  async #write(batches: readonly Waiting[]): Promise<void> {
    const { firstSequence, timeMs } = elementAt(batches, 0);
    const { segmentBytesMax, segmentAgeMaxMs, onSegment, epochFile } = this.#options;
    epochFile.store(this.#epoch);
    const active = this.#active;
    const isDue =
      active !== null && (active.bytes > segmentBytesMax || timeMs - active.firstTimeMs > segmentAgeMaxMs);
    // Without descriptors for a new segment the newest one grows, which is better than a failure.
    if (active === null || (isDue && this.#segments.canCreate)) {
      await active?.preallocation?.finish();
      const segment = await this.#segments.create(firstSequence);
      await onSegment(firstSequence);
      this.#active = this.#activate(segment, Number.POSITIVE_INFINITY);
    }
    const target = defined(this.#active, 'a segment is active');
    const admitted = target.preallocation?.admit(batches);
    if (admitted !== undefined) await admitted;
    await commitAppended(
      this.#segments.open(target.segment),
      batches.map((batch) => [batch.firstSequence, batch.bytes] as const),
    );
    target.firstTimeMs = Math.min(target.firstTimeMs, timeMs);
    for (const batch of batches) target.bytes += batch.bytes.length;
  }

  /** Refuses every later batch, because nobody knows what is on a disk that failed once. */
  #fail(error: unknown): void {
    const failure = error instanceof JournalFailure ? error : journalFailure(error, this.#segments.folder);
    this.#failure = failure;
    for (const batch of this.#waiting.values()) batch.finish(failure);
    this.#waiting.clear();
  }

  readResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined {
    const waiting = this.#waiting.get(location.record);
    if (waiting !== undefined) return readResponse(waiting.bytes, location.offset, keyDigest) ?? undefined;
    try {
      const segment = this.#segments.holding(location.record);
      const stored =
        segment && readStoredResponse(this.#segments.open(segment), segment, location, keyDigest);
      return stored ?? this.#options.movedResponse(location, keyDigest);
    } catch (error) {
      // Its segment may be dropped at this moment.
      const moved =
        error instanceof JournalDamaged ? this.#options.movedResponse(location, keyDigest) : undefined;
      if (moved !== undefined) return moved;
      throw error;
    }
  }

  /** Resolves when all appended batches are on disk. */
  async close(): Promise<void> {
    this.#failure ??= new JournalFailure('The log is closed', { diskFull: false });
    await this.#writing;
    await this.#active?.preallocation?.stop();
    await this.#segments.close();
  }
}

function fenced(folder: string, epoch: number, newest: number): JournalFailure {
  return new JournalFailure(
    `${folder} has a newer owner, whose epoch is ${newest}: a batch of epoch ${epoch} is refused`,
    { diskFull: false, outcome: 'fenced' },
  );
}

/** Infinity when the segment is empty, -Infinity when it is damaged: then a new one begins. */
function firstTimeMs(segments: Segments, segment: Segment): number {
  const timeMs = unlessDamaged(() => batchTimeMs(segments, segment, 'first') ?? Number.POSITIVE_INFINITY);
  return timeMs ?? Number.NEGATIVE_INFINITY;
}

/** A damaged segment ends where recovery has left it. */
function logEnd(segments: Segments): number {
  return unlessDamaged(() => endOf(segments)) ?? Number.POSITIVE_INFINITY;
}
