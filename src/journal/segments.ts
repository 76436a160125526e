// The segments of the log: folders named after the first sequence that they hold, each its own LMDB environment, so
// that dropping old records is deleting a folder. Called by the log and by its recovery. A folder appears under its
// name only when it is complete, and leaves its name before it is deleted: a crash leaves no half segment behind.

import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { assert } from '../core/assert.ts';
import { readAnswer, readTurnHeader, turnDefect } from './codec.ts';
import { createEnvironment, dataFile, type Environment, guardRead, openEnvironment } from './environment.ts';
import { type AnswerLocation, JournalDamaged, type KeptAnswer } from './journal.ts';

export interface Segment {
  readonly firstSequence: number;
  readonly folder: string;
  environment: Environment | null;
}

const nameDigits = 16;
/** Open at a time: the newest, and some older ones whose answers were read. */
const openMax = 4;

export class Segments {
  readonly folder: string;
  readonly #mapSize: number;
  /** Ascending. */
  readonly #list: Segment[] = [];
  /** Open ones, least recently used first. */
  readonly #open: Segment[] = [];
  readonly #closing = new Set<Promise<void>>();

  /** Lists the segments in `logFolder` and removes what a crash left unfinished. */
  constructor(logFolder: string, mapSize: number) {
    this.folder = logFolder;
    this.#mapSize = mapSize;
    for (const name of readdirSync(logFolder).sort()) {
      if (/^\d+\.(new|dropped)$/.test(name)) rmSync(join(logFolder, name), { recursive: true });
      else if (/^\d{16}$/.test(name))
        this.#list.push({ firstSequence: Number(name), folder: join(logFolder, name), environment: null });
    }
  }

  /** All segments, oldest first. */
  get list(): readonly Segment[] {
    return this.#list;
  }

  /** Where the segment with this first sequence lies, or would. */
  folderOf(firstSequence: number): string {
    return join(this.folder, String(firstSequence).padStart(nameDigits, '0'));
  }

  /** The segment that holds `sequence` if any does: the last that does not begin after it. */
  holding(sequence: number): Segment | undefined {
    return this.#list.findLast((segment) => segment.firstSequence <= sequence);
  }

  /** Opens a segment, or finds it open; the newest for writing. Throws `JournalDamaged`. */
  open(segment: Segment, check: 'branches' | 'leaves' = 'branches'): Environment {
    const position = this.#open.indexOf(segment);
    if (position >= 0) this.#open.splice(position, 1);
    this.#open.push(segment);
    const newest = this.#list.at(-1);
    segment.environment ??= openEnvironment({
      folder: segment.folder,
      mapSize: this.#mapSize,
      readOnly: segment !== newest,
      check,
    });
    const surplus = this.#open.find((other) => other !== newest && other !== segment);
    if (surplus !== undefined && this.#open.length > openMax) void this.#close(surplus);
    return segment.environment;
  }

  /** Creates the next segment and opens it. Throws when the disk does not take it. */
  async create(firstSequence: number): Promise<Segment> {
    assert(firstSequence > (this.#list.at(-1)?.firstSequence ?? 0), 'segments ascend');
    const folder = this.folderOf(firstSequence);
    await createEnvironment(folder, this.#mapSize);
    const segment: Segment = { firstSequence, folder, environment: null };
    this.#list.push(segment);
    this.open(segment);
    return segment;
  }

  /** Closes the oldest segment and deletes its folder. */
  async dropOldest(): Promise<void> {
    const segment = this.#list.shift()!;
    await this.#close(segment);
    const dropped = `${segment.folder}.dropped`;
    renameSync(segment.folder, dropped);
    rmSync(dropped, { recursive: true });
  }

  async close(): Promise<void> {
    for (const segment of [...this.#open]) void this.#close(segment);
    await Promise.all(this.#closing);
  }

  async #close(segment: Segment): Promise<void> {
    const position = this.#open.indexOf(segment);
    if (position >= 0) this.#open.splice(position, 1);
    const { environment } = segment;
    segment.environment = null;
    if (environment === null) return;
    const closing = environment.close();
    this.#closing.add(closing);
    await closing;
    this.#closing.delete(closing);
  }
}

/** How large the segment's file is, bytes. */
export function segmentBytes(segment: Segment): number {
  return statSync(dataFile(segment.folder)).size;
}

/**
 * When the segment's file was last written, which is when its last turn was or later, Unix milliseconds; infinitely
 * early when there is no file.
 */
export function writtenMs(segment: Segment): number {
  const stats = statSync(dataFile(segment.folder), { throwIfNoEntry: false });
  return stats?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}

/**
 * When the segment's first or last turn was, Unix milliseconds; undefined when it holds none. Throws `JournalDamaged`.
 */
export function turnTimeMs(
  segments: Segments,
  segment: Segment,
  which: 'first' | 'last',
): number | undefined {
  const environment = segments.open(segment);
  return guardRead(segment.folder, () => {
    for (const key of environment.getKeys({ limit: 1, reverse: which === 'last' }))
      return readTurnHeader(readTurn(environment, segment, key)!).timeMs;
    return undefined;
  });
}

/** A log record by its first sequence, checked. The bytes are good until the next read of any environment. */
export function readTurn(environment: Environment, segment: Segment, sequence: number): Buffer | undefined {
  const bytes = borrowTurn(environment, segment, sequence);
  const defect = bytes === undefined ? null : turnDefect(bytes, sequence);
  if (defect === null) return bytes;
  throw damaged(segment, sequence, defect);
}

/** A kept answer of a log record. Only the answer is checked: checking the whole record takes ten times as long. */
export function readKeptAnswer(
  environment: Environment,
  segment: Segment,
  { record, offset }: AnswerLocation,
): KeptAnswer | undefined {
  const bytes = borrowTurn(environment, segment, record);
  if (bytes === undefined) return undefined;
  const answer = readAnswer(bytes, offset);
  if (answer !== null) return answer;
  throw damaged(segment, record, `there is no sound answer at offset ${offset}`);
}

function borrowTurn(environment: Environment, segment: Segment, sequence: number): Buffer | undefined {
  const bytes = guardRead(segment.folder, () => environment.getBinaryFast(sequence));
  // The library lends its own buffer and sets a property `length` on it; a view has the length in earnest.
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function damaged({ folder }: Segment, sequence: number, defect: string): JournalDamaged {
  return new JournalDamaged(
    `The log record ${sequence} in segment ${basename(folder)} is damaged: ${defect}`,
  );
}
