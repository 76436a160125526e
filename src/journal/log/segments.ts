// The segments of the log: folders with an LMDB environment each, named after their first
// sequences, so that old commit batches are dropped by deleting a folder. One gets its name when it
// is complete and is renamed before it is deleted, so a crash never leaves half a segment under
// that name.

import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { assert, defined, elementAt } from '../../core/assert.ts';
import { pieceSize } from '../../core/piece-size.ts';
import {
  createEnvironment,
  dataFile,
  type Environment,
  guardRead,
  openEnvironment,
} from '../../disk/environment.ts';
import { EnvironmentFile, numberKeys } from '../../disk/environment-file.ts';
import { type CheckDepth, remainingCheck } from '../../disk/file-check.ts';
import { checkFirstSequence, type Part, partOf, type ShardIdentity, tagOf } from '../../disk/identity.ts';
import { SpareDescriptors } from '../../disk/spare-descriptors.ts';
import { syncPath } from '../../disk/sync-path.ts';
import {
  JournalDamaged,
  type LogEnd,
  type ResponseLocation,
  type StoredResponse,
  unlessDamaged,
} from '../journal.ts';
import { type BatchHeader, checkedHeader, endOfBatch, readResponse } from './codec.ts';

export interface Segment {
  readonly firstSequence: number;
  readonly folder: string;
  environment: Environment | null;
  /** How its file was checked before. What was opened once is not checked again. */
  checked: CheckDepth;
}

/**
 * The log writes its newest segment. A follower, which may run in another thread, only reads.
 * `read-foreign` is for another process than the one that writes the log, `read-stopped` for a log
 * that nothing writes meanwhile.
 */
type Access = 'write' | 'read' | 'read-foreign' | 'read-stopped';

const nameDigits = 16;
/** So many are open: the newest one, and those from which stored responses were read. */
const openMax = pieceSize(4);

export function segmentName(firstSequence: number): string {
  return String(firstSequence).padStart(nameDigits, '0');
}

export class Segments {
  readonly folder: string;
  readonly shard: number;
  readonly tag: Buffer;
  readonly #part: Part;
  readonly #mapSize: number;
  readonly #access: Access;
  readonly #checked: CheckDepth;
  readonly #list: Segment[] = [];
  /** The open ones, the least recently used first. */
  readonly #open: Segment[] = [];
  readonly #closing = new Set<Promise<void>>();
  readonly #spares: SpareDescriptors;

  /**
   * A writer removes what a crash left unfinished. `checked` says how this process has checked the
   * files of the log before.
   */
  constructor(
    logFolder: string,
    mapSize: number,
    identity: ShardIdentity,
    access: Access = 'write',
    checked: CheckDepth = 'none',
  ) {
    this.folder = logFolder;
    this.shard = identity.shard;
    this.tag = tagOf(identity);
    this.#part = partOf(identity, 'log');
    this.#mapSize = mapSize;
    this.#spares = new SpareDescriptors(logFolder);
    this.#access = access;
    this.#checked = checked;
    if (access === 'write') {
      for (const name of readdirSync(logFolder))
        if (/^\d+\.(new|dropped)$/.test(name)) rmSync(join(logFolder, name), { recursive: true });
      // A segment that a killed process has just begun is seen before its name is durable.
      syncPath(logFolder);
    }
    this.#find();
  }

  /**
   * Finds new segments, and has the next read see what is durable by now: reads within one turn of
   * the event loop otherwise share a view. A writer knows both already.
   */
  refresh(): void {
    if (this.#access === 'write') return;
    this.#find();
    for (const { environment } of this.#open) environment?.resetReadTxn();
  }

  #find(): void {
    const last = this.#list.at(-1)?.firstSequence ?? 0;
    for (const name of readdirSync(this.folder).sort()) {
      const firstSequence = /^\d{16}$/.test(name) ? Number(name) : 0;
      if (firstSequence <= last) continue;
      const folder = join(this.folder, name);
      this.#list.push({ firstSequence, folder, environment: null, checked: this.#checked });
    }
  }

  get list(): readonly Segment[] {
    return this.#list;
  }

  /** It need not exist. */
  folderOf(firstSequence: number): string {
    return join(this.folder, segmentName(firstSequence));
  }

  /** The only segment that can have `sequence`. */
  holding(sequence: number): Segment | undefined {
    return this.#list.findLast((segment) => segment.firstSequence <= sequence);
  }

  /** Opens a segment if need be: the newest one for writing. Throws `JournalDamaged`. */
  open(segment: Segment, check: CheckDepth = 'branches'): Environment {
    const position = this.#open.indexOf(segment);
    if (position >= 0) this.#open.splice(position, 1);
    this.#open.push(segment);
    const newest = this.#list.at(-1);
    segment.environment ??= this.#openEnvironment(segment, segment === newest, check);
    const surplus = this.#open.find((other) => other !== newest && other !== segment);
    if (surplus !== undefined && this.#open.length > openMax) void this.#close(surplus);
    return segment.environment;
  }

  #openEnvironment(segment: Segment, isNewest: boolean, wanted: CheckDepth): Environment {
    const { folder } = segment;
    const isForeign = this.#access === 'read-foreign';
    // A file that is being written looks damaged. Its writer has checked it. Of one that is read
    // page by page, each page is checked then.
    const isWritten = isNewest && this.#access === 'read';
    const check = isWritten || isForeign ? 'none' : remainingCheck(wanted, segment.checked);
    const readOnly = !isNewest || this.#access !== 'write';
    this.#spares.release();
    try {
      const [part, mapSize] = [this.#part, this.#mapSize];
      const environment = isForeign
        ? (new EnvironmentFile(folder, part, numberKeys) as unknown as Environment)
        : openEnvironment({ folder, part, mapSize, readOnly, check });
      try {
        const first = guardRead(folder, () => firstSequenceIn(environment, segment, 'first'));
        checkFirstSequence(folder, first, segment.firstSequence);
      } catch (error) {
        void environment.close();
        throw error;
      }
      if (check !== 'none') segment.checked = check;
      return environment;
    } finally {
      this.#spares.refill();
    }
  }

  /** Whether the process has the descriptors that the next segment takes. */
  get canCreate(): boolean {
    return this.#spares.refill();
  }

  /** Creates the next segment. Throws when the disk does not take it. */
  async create(firstSequence: number): Promise<Segment> {
    assert(firstSequence > (this.#list.at(-1)?.firstSequence ?? 0), 'segments ascend');
    const folder = this.folderOf(firstSequence);
    this.#spares.release();
    await createEnvironment(folder, this.#mapSize, this.#part);
    const segment: Segment = { firstSequence, folder, environment: null, checked: 'leaves' };
    this.#list.push(segment);
    this.open(segment);
    return segment;
  }

  async dropOldest(): Promise<void> {
    const segment = await this.#forgetOldest();
    const dropped = `${segment.folder}.dropped`;
    renameSync(segment.folder, dropped);
    // Otherwise its file may be gone after a power cut, and its name there still.
    syncPath(this.folder);
    rmSync(dropped, { recursive: true });
  }

  /** Closes the segments before this one, which a follower has dropped. */
  async forgetBefore(firstSequence: number): Promise<void> {
    while (this.#list.length > 1 && elementAt(this.#list, 0).firstSequence < firstSequence)
      await this.#forgetOldest();
  }

  /** Closes the oldest segments that were dropped meanwhile; of use to a reader only. */
  async forgetDropped(): Promise<void> {
    while (this.#list.length > 1 && !existsSync(elementAt(this.#list, 0).folder)) await this.#forgetOldest();
  }

  async #forgetOldest(): Promise<Segment> {
    const segment = defined(this.#list.shift(), 'the log has a segment');
    await this.#close(segment);
    return segment;
  }

  async close(): Promise<void> {
    for (const segment of [...this.#open]) void this.#close(segment);
    await Promise.all(this.#closing);
    this.#spares.release();
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

/** Bytes; 0 when it is gone. */
export function fileBytes(segment: Segment): number {
  return statSync(dataFile(segment.folder), { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * When the segment's file was last written, Unix ms: not before its last batch. -Infinity: there is
 * none.
 */
export function writtenMs(segment: Segment): number {
  const stats = statSync(dataFile(segment.folder), { throwIfNoEntry: false });
  return stats?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}

/**
 * The time of the segment's first or last batch; undefined: it has none. Throws `JournalDamaged`.
 */
export function batchTimeMs(
  segments: Segments,
  segment: Segment,
  which: 'first' | 'last',
): number | undefined {
  return headerIn(segments, segment, which)?.timeMs;
}

/** The header of the segment's first or last batch. */
function headerIn(
  segments: Segments,
  segment: Segment,
  which: 'first' | 'last',
  check?: CheckDepth,
): BatchHeader | undefined {
  const environment = segments.open(segment, check);
  return guardRead(segment.folder, () => {
    const key = firstSequenceIn(environment, segment, which);
    if (key === undefined) return undefined;
    const header = headerOf(environment, segment, key, segments.tag);
    if (typeof header === 'string') throw damaged(segment, key, header);
    return header;
  });
}

/** The epoch of the last batch that can be read; 0 without any. A recovery finds the damage. */
export function lastEpoch(segments: Segments): number {
  for (const segment of segments.list.toReversed()) {
    const header = unlessDamaged(() => headerIn(segments, segment, 'last', 'leaves'));
    if (header !== undefined) return header.epoch;
  }
  return 0;
}

/** The first sequence of a segment's first or last batch; undefined when it has none. */
function firstSequenceIn(
  environment: Environment,
  segment: Segment,
  which: 'first' | 'last',
): number | undefined {
  // The key of the label comes before those of all batches.
  const range = which === 'first' ? { start: 1, limit: 1 } : { end: 0, reverse: true, limit: 1 };
  const [key] = environment.getKeys(range);
  if (key === undefined || Number.isSafeInteger(key)) return key;
  throw new JournalDamaged(`The ${which} key in segment ${basename(segment.folder)} is no sequence`);
}

/** The last sequence of the log; 0 without any. Throws `JournalDamaged`. */
export function endOf(segments: Segments): number {
  return foundEnd(segments).sequence;
}

/**
 * The end of the log, and what is wrong with its last batch. An empty segment ends the one before
 * it, and a damaged batch counts as one entry. Throws `JournalDamaged`.
 */
export function foundEnd(segments: Segments): {
  readonly sequence: number;
  readonly defect: string | null;
} {
  const newest = segments.list.at(-1);
  if (newest === undefined) return { sequence: 0, defect: null };
  const environment = segments.open(newest);
  return guardRead(newest.folder, () => {
    const key = firstSequenceIn(environment, newest, 'last');
    if (key === undefined) return { sequence: newest.firstSequence - 1, defect: null };
    const header = headerOf(environment, newest, key, segments.tag);
    if (typeof header === 'string') return { sequence: key, defect: header };
    return { sequence: header.lastSequence, defect: null };
  });
}

/**
 * Where the log goes on when no segment has what comes after `sequence`; null when one has, or when
 * the log ends there. Throws `JournalDamaged`.
 */
export function gapEnd(segments: Segments, sequence: number): number | null {
  const index = segments.list.findLastIndex(({ firstSequence }) => firstSequence <= sequence + 1);
  const [segment, next] = [segments.list[index], segments.list[index + 1]];
  if (segment === undefined || next === undefined) return null;
  const last = headerIn(segments, segment, 'last', 'leaves')?.lastSequence ?? 0;
  return last > sequence ? null : next.firstSequence;
}

/** The end of the log; of sequence 0 without any batch. Throws `JournalDamaged`. */
export function lastEnd(segments: Segments): LogEnd {
  for (const segment of segments.list.toReversed()) {
    const header = headerIn(segments, segment, 'last', 'leaves');
    if (header === undefined) continue;
    const checksum = checksumAt(segments, header.lastSequence);
    if (typeof checksum !== 'number') throw damaged(segment, header.firstSequence, 'it can not be read');
    return { sequence: header.lastSequence, checksum };
  }
  return { sequence: 0, checksum: 0 };
}

/**
 * The checksum of the commit batch that ends with `sequence`; null when none ends with this entry.
 * Undefined when that can't be told: the batch is damaged, or gone.
 */
export function checksumAt(segments: Segments, sequence: number): number | null | undefined {
  const segment = segments.holding(sequence);
  if (segment === undefined) return undefined;
  return unlessDamaged(() => {
    const environment = segments.open(segment);
    const key = guardRead(segment.folder, () => [
      ...environment.getKeys({ start: sequence, end: 0, reverse: true, limit: 1 }),
    ])[0];
    if (key === undefined) return undefined;
    const bytes = borrowBatch(environment, segment, key);
    if (bytes === undefined || typeof checkedHeader(bytes, key, segments.tag) === 'string') return undefined;
    const end = endOfBatch(bytes);
    if (end.sequence === sequence) return end.checksum;
    return end.sequence > sequence ? null : undefined;
  });
}

/** The header of a batch that the segment lists, or what is wrong with the batch. */
function headerOf(environment: Environment, segment: Segment, sequence: number, tag: Buffer) {
  const bytes = borrowBatch(environment, segment, sequence);
  if (bytes !== undefined) return checkedHeader(bytes, sequence, tag);
  throw damaged(segment, sequence, 'its key is not in its place');
}

/** Only the checksum of the response is checked; that of the batch takes ten times as long. */
export function readStoredResponse(
  environment: Environment,
  segment: Segment,
  { record, offset }: ResponseLocation,
  keyDigest: Uint8Array,
): StoredResponse | undefined {
  const bytes = borrowBatch(environment, segment, record);
  if (bytes === undefined) return undefined;
  const stored = readResponse(bytes, offset, keyDigest);
  if (stored !== null) return stored;
  throw damaged(segment, record, `it has no readable stored response of that key at offset ${offset}`);
}

function borrowBatch(environment: Environment, segment: Segment, sequence: number): Buffer | undefined {
  const bytes = guardRead(segment.folder, () => environment.getBinaryFast(sequence));
  // The `length` of the library's own buffer is not the buffer's length. A view has the right one.
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function damaged({ folder }: Segment, sequence: number, defect: string): JournalDamaged {
  return new JournalDamaged(
    `The commit batch ${sequence} in segment ${basename(folder)} is damaged: ${defect}`,
  );
}
