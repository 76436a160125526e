// The write-ahead log on LMDB: turns in, durable in order. Called by the shard through the port. One transaction is
// in flight at a time and takes every turn that has gathered meanwhile: so a turn that failed can never be followed
// on disk by one that did not, and what is on disk is always a prefix of what was appended.

import { assert } from '../core/assert.ts';
import { encodeTurn, readResponse } from './codec.ts';
import { commitAppended, journalFailure, usedBytes } from './environment.ts';
import {
  JournalFailure,
  type Log,
  type LogBatch,
  type ResponseLocation,
  type StoredResponse,
  unlessDamaged,
} from './journal.ts';
import { Preallocation } from './preallocation.ts';
import { readStoredResponse, type Segment, type Segments, turnTimeMs } from './segments.ts';

export interface LogOptions {
  readonly segments: Segments;
  readonly nextSequence: number;
  /** Hears of a new segment before anything is written to it, and settles when that may be. */
  readonly onSegment: (firstSequence: number) => Promise<void>;
  /** A segment that holds more is followed by a new one. */
  readonly segmentBytesMax: number;
  /** So is a segment whose first turn is this much older than the turn to append. */
  readonly segmentAgeMaxMs: number;
}

interface Waiting {
  readonly firstSequence: number;
  readonly timeMs: number;
  readonly bytes: Buffer;
  readonly settle: (failure: JournalFailure | null) => void;
}

/** The segment that turns are appended to. */
interface Active {
  readonly segment: Segment;
  /** None where the segment is damaged: another one follows it. */
  readonly room: Preallocation | null;
  bytes: number;
  firstTimeMs: number;
}

export class SegmentedLog implements Log {
  readonly #segments: Segments;
  readonly #onSegment: LogOptions['onSegment'];
  readonly #segmentBytesMax: number;
  readonly #segmentAgeMaxMs: number;
  #nextSequence: number;
  #active: Active | null = null;
  /** Turns that are not on disk yet, by first sequence, oldest first. */
  readonly #waiting = new Map<number, Waiting>();
  #writing: Promise<void> | null = null;
  #failure: JournalFailure | null = null;

  constructor(options: LogOptions) {
    this.#segments = options.segments;
    this.#nextSequence = options.nextSequence;
    this.#onSegment = options.onSegment;
    this.#segmentBytesMax = options.segmentBytesMax;
    this.#segmentAgeMaxMs = options.segmentAgeMaxMs;
    const newest = this.#segments.list.at(-1);
    if (newest === undefined) return;
    const startMs = firstTimeMs(this.#segments, newest);
    this.#active = this.#activate(newest, startMs);
  }

  #activate(segment: Segment, firstTimeMs: number): Active {
    const environment = unlessDamaged(() => this.#segments.open(segment));
    if (environment === undefined) return { segment, room: null, bytes: 0, firstTimeMs };
    const room = new Preallocation(segment.folder, environment, this.#segmentBytesMax);
    const bytes = firstTimeMs === Number.POSITIVE_INFINITY ? 0 : usedBytes(environment);
    return { segment, room, bytes, firstTimeMs };
  }

  get nextSequence(): number {
    return this.#nextSequence;
  }

  append(turn: LogBatch): ReturnType<Log['append']> {
    assert(turn.entries.length > 0, 'a turn has entries');
    assert(turn.firstSequence === this.#nextSequence, 'a turn follows the one before');
    const { bytes, locations, changes } = encodeTurn(turn, this.#segments.tag);
    if (this.#failure !== null) return { locations, changes, durable: Promise.reject(this.#failure) };
    this.#nextSequence += turn.entries.length;
    const { firstSequence, timeMs } = turn;
    const durable = new Promise<void>((resolve, reject) => {
      const settle = (failure: JournalFailure | null) => (failure === null ? resolve() : reject(failure));
      this.#waiting.set(firstSequence, { firstSequence, timeMs, bytes, settle });
    });
    this.#writing ??= this.#writeAll();
    return { locations, changes, durable };
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        const turns = [...this.#waiting.values()];
        await this.#write(turns);
        for (const turn of turns) {
          this.#waiting.delete(turn.firstSequence);
          turn.settle(null);
        }
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#writing = null;
    }
  }

  /** Writes the turns in one transaction, after starting a new segment when it is time to. */
  async #write(turns: readonly Waiting[]): Promise<void> {
    const [{ firstSequence, timeMs }] = turns as [Waiting];
    const active = this.#active;
    const isDue =
      active !== null &&
      (active.bytes > this.#segmentBytesMax || timeMs - active.firstTimeMs > this.#segmentAgeMaxMs);
    // A segment may grow beyond its size: that is better than failing for want of descriptors.
    if (active === null || (isDue && this.#segments.canCreate)) {
      await active?.room?.finish();
      const segment = await this.#segments.create(firstSequence);
      await this.#onSegment(firstSequence);
      this.#active = this.#activate(segment, Number.POSITIVE_INFINITY);
    }
    const target = this.#active!;
    const admitted = target.room?.admit(turns);
    if (admitted !== undefined) await admitted;
    await commitAppended(
      this.#segments.open(target.segment),
      turns.map((turn) => [turn.firstSequence, turn.bytes] as const),
    );
    target.firstTimeMs = Math.min(target.firstTimeMs, timeMs);
    for (const turn of turns) target.bytes += turn.bytes.length;
  }

  /** Fail-stop: nobody can tell what a disk that failed once has kept, so nothing is appended any more. */
  #fail(error: unknown): void {
    const failure = error instanceof JournalFailure ? error : journalFailure(error, this.#segments.folder);
    this.#failure = failure;
    for (const turn of this.#waiting.values()) turn.settle(failure);
    this.#waiting.clear();
  }

  readResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined {
    const waiting = this.#waiting.get(location.record);
    if (waiting !== undefined) return readResponse(waiting.bytes, location.offset, keyDigest) ?? undefined;
    const segment = this.#segments.holding(location.record);
    if (segment === undefined) return undefined;
    return readStoredResponse(this.#segments.open(segment), segment, location, keyDigest);
  }

  /** Waits for what was appended, then closes. */
  async close(): Promise<void> {
    this.#failure ??= new JournalFailure('The log is closed', { diskFull: false });
    await this.#writing;
    await this.#active?.room?.stop();
    await this.#segments.close();
  }
}

/** When the segment began; infinitely late when it is empty, infinitely early (so that it ends) when it is damaged. */
function firstTimeMs(segments: Segments, segment: Segment): number {
  const timeMs = unlessDamaged(() => turnTimeMs(segments, segment, 'first') ?? Number.POSITIVE_INFINITY);
  return timeMs ?? Number.NEGATIVE_INFINITY;
}
