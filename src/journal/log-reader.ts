// Reads the log of a shard from outside, of a running or a stopped service: the files are only read
// (see lmdb-file.ts). Every batch is checked, and a defect comes in the place of damaged or missing
// ones. So a reader continues behind damage, which recovery never does (see follow.ts).

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { dataFile, labelKey as labelNumber } from '../disk/environment.ts';
import {
  checkFirstSequence,
  checkLabel,
  ForeignPart,
  partOf,
  type ShardIdentity,
  tagOf,
} from '../disk/identity.ts';
import { type FileRow, LmdbFile } from '../disk/lmdb-file.ts';
import { FileDamage } from '../disk/lmdb-pages.ts';
import { numberKey, numberOfKey } from '../disk/number-keys.ts';
import type { Change } from '../domain/record.ts';
import type { ReplayedEntry, StoredResponse } from './journal.ts';
import { type BatchHeader, checkedHeader, decodeBatch, readResponse } from './log/codec.ts';
import { segmentName } from './log/segments.ts';

interface LogPlace {
  readonly shard: number;
  readonly file: string;
  /** The first sequence of the segment. */
  readonly segment: number;
  /** The byte of the file, as far as it is known. */
  readonly byte: number | null;
}

export interface FoundBatch extends BatchHeader, LogPlace {
  readonly bytes: Buffer;
}

export interface LogDefect extends LogPlace {
  readonly defect: string;
  /** The entries that are lost, as far as they are known. */
  readonly fromSequence: number;
  readonly toSequence: number | null;
  /** There is nothing that could be damaged: the entries are missing between others. */
  readonly isGap?: true;
}

/** An entry with the response that is stored for its idempotency key. */
export interface FoundEntry extends ReplayedEntry {
  readonly shard: number;
  readonly wallMs: number;
  readonly response: StoredResponse | null;
}

export interface LogRange {
  readonly after?: number;
  /** No batch after the one with this sequence. */
  readonly upTo?: number;
  /** The newest come first. Then gaps are not reported. */
  readonly reverse?: boolean;
}

/** The log of one shard, as the log's tools read it, wherever it lies. */
export interface LogSource {
  readonly identity: ShardIdentity;
  readonly name: string;
  read(range?: LogRange): Iterable<FoundBatch | LogDefect> | AsyncIterable<FoundBatch | LogDefect>;
  /**
   * A sequence to read after, that leaves out nothing written at or after a time, unless the clock
   * was ahead while a segment was written that began before.
   */
  sequenceBefore(wallMs: number): number;
  /** The sequence that it begins with; null when it is empty. */
  firstSequence(): number | null;
  /** The last sequence that the checkpoint beside it has; null when there is none. */
  checkpointSequence(): number | null;
}

export interface LogFolder {
  readonly name: string;
  readonly shards: readonly LogSource[];
  /** The checkpoint beside the log of a shard; null where there is none. */
  stateOf(shard: number): StateSource | null;
  /** What is wrong with the directory's changes, where they lie beside the log; null: nothing. */
  directoryDefect(): Promise<string | null>;
}

/** A checkpoint. */
export interface StateSource {
  /** The last entry that it reflects. */
  readonly sequence: number;
  /** The record, and the unchanging ones, such as events, that were made after it. */
  recordsFrom(id: string): Iterable<Change> | AsyncIterable<Change>;
}

interface SegmentFile {
  readonly firstSequence: number;
  /** Of the next segment. What begins there or later is of an owner that had lost the log. */
  readonly end: number;
  readonly file: string;
}

export class LogReader implements LogSource {
  readonly name: string;
  readonly identity: ShardIdentity;
  readonly checkpointSequence: () => number | null;
  readonly #newestSegment: () => number;
  readonly #tag: Buffer;

  /** `folder` has a folder for each segment, by its first sequence. `newestSegment`: as noted. */
  constructor(
    folder: string,
    identity: ShardIdentity,
    checkpointSequence: LogSource['checkpointSequence'] = () => null,
    newestSegment = () => 0,
  ) {
    this.name = folder;
    this.identity = identity;
    this.checkpointSequence = checkpointSequence;
    this.#newestSegment = newestSegment;
    this.#tag = tagOf(identity);
  }

  /** The segments that are there now, oldest first. */
  segments(): SegmentFile[] {
    const names = readdirSync(this.name).filter((name) => /^\d{16}$/.test(name));
    return names.sort().map((name, i) => ({
      firstSequence: Number(name),
      end: Number(names[i + 1] ?? Number.POSITIVE_INFINITY),
      file: dataFile(join(this.name, name)),
    }));
  }

  firstSequence(): number | null {
    return this.segments()[0]?.firstSequence ?? null;
  }

  /** Before the last segment of those that began by `wallMs`, up to the first that did not. */
  sequenceBefore(wallMs: number): number {
    let start = 1;
    for (const segment of this.segments()) {
      const [first] = this.#batchesOf(segment, {});
      if (first === undefined || isDefect(first)) continue;
      if (first.wallMs > wallMs) break;
      start = segment.firstSequence;
    }
    return start - 1;
  }

  *read({
    after = 0,
    upTo = Number.POSITIVE_INFINITY,
    reverse = false,
  }: LogRange = {}): Generator<FoundBatch | LogDefect> {
    // Before the segments are listed, as one may be begun at any time.
    const noted = this.#newestSegment();
    const all = this.segments();
    const missing = noted > (all.at(-1)?.firstSequence ?? 0) && noted <= upTo ? this.#missing(noted) : null;
    if (reverse && missing !== null) yield missing;
    const start = Math.max(
      0,
      all.findLastIndex(({ firstSequence }) => firstSequence <= after + 1),
    );
    const list = all.slice(start).filter(({ firstSequence }) => firstSequence <= upTo);
    // A service may drop its oldest segments at any time.
    const isDropped = (sequence: number) => (this.segments()[0]?.firstSequence ?? 0) > sequence;
    const gaps = new Gaps(Math.max(after + 1, all[0]?.firstSequence ?? 0), isDropped);
    for (const segment of reverse ? list.toReversed() : list) {
      for (const found of this.#batchesOf(segment, { after, reverse })) {
        if (isDefect(found)) {
          if (reverse) yield found;
          else gaps.hold(found);
          continue;
        }
        if (found.firstSequence > upTo || found.lastSequence <= after) continue;
        if (!reverse) yield* gaps.before(found);
        yield found;
      }
    }
    yield* gaps.rest();
    if (!reverse && missing !== null) yield missing;
  }

  #missing(segment: number): LogDefect {
    const file = dataFile(join(this.name, segmentName(segment)));
    const defect = 'the newest segment is missing';
    const { shard } = this.identity;
    return { shard, file, segment, byte: null, defect, fromSequence: segment, toSequence: null };
  }

  #batchesOf(segment: SegmentFile, range: LogRange): Generator<FoundBatch | LogDefect> {
    return batchesOf(segment, this.identity, this.#tag, range);
  }
}

/** What comes between two batches: nothing, a gap, or damage that was met on the way. */
export class Gaps {
  #next: number;
  readonly #isDropped: (sequence: number) => boolean;
  #held: LogDefect[] = [];

  /** `next` is the entry that has to come first. */
  constructor(next: number, isDropped: (sequence: number) => boolean) {
    this.#next = next;
    this.#isDropped = isDropped;
  }

  hold(defect: LogDefect): void {
    this.#held.push(defect);
    if (defect.toSequence !== null) this.#next = defect.toSequence + 1;
  }

  *before({ firstSequence, lastSequence, ...place }: FoundBatch): Generator<LogDefect> {
    const missing = firstSequence - this.#next;
    const [from, to] = [this.#next, firstSequence - 1];
    const open = this.#held.filter(({ toSequence }) => toSequence === null);
    for (const defect of this.#held)
      yield defect.toSequence === null && missing > 0
        ? { ...defect, fromSequence: from, toSequence: to }
        : defect;
    if (missing > 0 && open.length === 0 && !this.#isDropped(to)) {
      const { shard, file, segment } = place;
      const defect = `there is no batch with the entries ${from} to ${to}`;
      yield { shard, file, segment, byte: null, defect, fromSequence: from, toSequence: to, isGap: true };
    }
    this.#held = [];
    this.#next = Math.max(this.#next, lastSequence + 1);
  }

  *rest(): Generator<LogDefect> {
    yield* this.#held;
  }
}

function* batchesOf(
  { firstSequence: segment, end, file: path }: SegmentFile,
  identity: ShardIdentity,
  tag: Buffer,
  { after = 0, reverse = false }: LogRange,
): Generator<FoundBatch | LogDefect> {
  const place = { shard: identity.shard, file: path, segment };
  const damaged = (defect: string, byte: number | null, fromSequence: number): LogDefect => ({
    ...place,
    byte,
    defect,
    fromSequence,
    toSequence: null,
  });
  const file = openFile(path);
  if (file === undefined) return;
  if (file instanceof FileDamage) return yield damaged(file.message, file.at, segment);
  try {
    const label = labelDefect(file, identity, segment);
    if (label !== null) return yield damaged(label.message, label.at, segment);
    // The batch that holds the entry after `after` begins there or before.
    const floor = reverse ? undefined : floorKey(file, after + 1);
    let next = Math.max(segment, after + 1);
    const range = { after: reverse ? undefined : (floor ?? labelKey), reverse };
    for (const row of file.rows(null, range)) {
      if (row instanceof FileDamage) {
        yield damaged(row.message, row.at, next);
        continue;
      }
      if (row.key.equals(labelKey)) continue;
      const sequence = numberOfKey(row.key);
      if (sequence >= end) continue;
      const bytes = readValue(row);
      if (bytes instanceof FileDamage) {
        yield damaged(bytes.message, bytes.at, sequence);
        continue;
      }
      const header = checkedHeader(bytes, sequence, tag);
      if (typeof header === 'string') {
        yield damaged(`the batch that begins with ${sequence}: ${header}`, row.at, sequence);
        continue;
      }
      next = header.lastSequence + 1;
      yield { ...place, byte: row.at, bytes, ...header };
    }
  } finally {
    file.close();
  }
}

/** The file of a segment; undefined when the segment was dropped. */
function openFile(path: string): LmdbFile | FileDamage | undefined {
  try {
    return new LmdbFile(path);
  } catch (error) {
    if (error instanceof FileDamage) return error;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return existsSync(join(path, '..')) ? new FileDamage(0, 'the file is missing') : undefined;
  }
}

function readValue(row: FileRow): Buffer | FileDamage {
  try {
    return row.read();
  } catch (error) {
    if (error instanceof FileDamage) return error;
    throw error;
  }
}

/** Why the file is not a segment of this log; null when it is. */
function labelDefect(file: LmdbFile, identity: ShardIdentity, segment: number) {
  try {
    checkLabel(file.path, file.get(null, labelKey), partOf(identity, 'log'));
    const [first] = file.rows(null, { after: labelKey });
    if (first instanceof FileDamage || first === undefined) return null;
    checkFirstSequence(file.path, numberOfKey(first.key), segment);
    return null;
  } catch (error) {
    if (error instanceof FileDamage) return error;
    if (error instanceof ForeignPart) return { message: error.message, at: null };
    throw error;
  }
}

/** The key after which reading begins, so that the batch with `sequence` comes first. */
function floorKey(file: LmdbFile, sequence: number): Buffer | undefined {
  let isNext = false;
  for (const row of file.rows(null, { after: numberKey(sequence + 0.5), reverse: true })) {
    if (row instanceof FileDamage) return undefined;
    if (isNext) return row.key;
    isNext = true;
  }
  return undefined;
}

export function isDefect(found: FoundBatch | FoundEntry | LogDefect): found is LogDefect {
  return 'defect' in found;
}

/** The entries of a batch that come after `after`, as they can be shown. */
export function entriesOf(batch: FoundBatch, after = 0): FoundEntry[] {
  const { shard, wallMs, bytes } = batch;
  return decodeBatch(bytes)
    .filter(({ sequence }) => sequence > after)
    .map((entry) => {
      const { idempotency } = entry;
      const response = idempotency && readResponse(bytes, idempotency.location.offset, idempotency.keyDigest);
      return { ...entry, shard, wallMs, response };
    });
}

const labelKey = numberKey(labelNumber);
