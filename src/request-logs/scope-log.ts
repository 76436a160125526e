// The log of one organization in one mode, open for appending. Nothing is synced: what was written
// is safe from a crash of the process, and a crash of the machine may take what its kernel has not
// written yet, some seconds. An end that is not whole is cut when the log is opened.

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { EntryReader, type EntryTags } from './entry.ts';
import {
  entriesFile,
  indexFile,
  indexRowBytes,
  readIndex,
  SegmentIndex,
  segmentBytes,
  segmentNameOf,
  segmentsIn,
  timeOfSegment,
  timesIn,
} from './segment.ts';

export interface ScopeLogOptions {
  readonly keptMs: number;
  /** What all segments may take, about. */
  readonly bytesMax: number;
}

/** At least this many segments share the size and the time for which entries are kept. */
const segmentsMin = 8;
const segmentBytesMost = 16 * 1024 * 1024;

export class ScopeLog {
  readonly #folder: string;
  readonly #options: ScopeLogOptions;
  /** The newest segment; null before the first one. */
  #segment: NewestSegment | null = null;

  constructor(folder: string, options: ScopeLogOptions) {
    this.#folder = folder;
    this.#options = options;
    const newest = segmentsIn(folder).at(-1);
    if (newest !== undefined) this.#segment = new NewestSegment(folder, newest);
  }

  get #segmentBytesMax(): number {
    return Math.min(segmentBytesMost, Math.floor(this.#options.bytesMax / segmentsMin));
  }

  /**
   * Appends entries of `bytes` bytes in all. The offsets in their rows count from the first of them;
   * they are changed. `atMs` is the time of the first entry. Throws the file system's error, and
   * has then appended nothing.
   */
  append(parts: readonly Uint8Array[], bytes: number, rows: Buffer, atMs: number): void {
    const segment = this.#segmentFor(bytes, atMs);
    for (let row = 0; row < rows.length; row += indexRowBytes)
      rows.writeUInt32LE(rows.readUInt32LE(row + 8) + segment.entriesBytes, row + 8);
    segment.append(parts, bytes, rows);
  }

  #segmentFor(bytes: number, atMs: number): NewestSegment {
    const segment = this.#segment;
    const { keptMs } = this.#options;
    const hasRoom =
      segment !== null &&
      (segment.entriesBytes === 0 ||
        (segment.entriesBytes + bytes <= this.#segmentBytesMax &&
          Math.abs(atMs - segment.firstAtMs) < keptMs / segmentsMin));
    if (hasRoom) return segment;
    segment?.close();
    this.#dropBeyond(this.#options.bytesMax - this.#segmentBytesMax);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const time = segment === null ? atMs : Math.max(atMs, timeOfSegment(segment.name) + 1);
    this.#segment = new NewestSegment(this.#folder, segmentNameOf(time));
    return this.#segment;
  }

  /** Drops the oldest segments until the others take no more than that. */
  #dropBeyond(bytesMax: number): void {
    let total = 0;
    for (const name of segmentsIn(this.#folder).reverse()) {
      total += segmentBytes(this.#folder, name);
      if (total > bytesMax) dropSegment(this.#folder, name);
    }
  }

  /** Closes the files. The next append opens them again. */
  close(): void {
    this.#segment?.close();
  }
}

/** Drops the segments of a folder of which all entries are older. No log may be open on it. */
export function dropOlder(folder: string, thanMs: number): void {
  for (const name of segmentsIn(folder)) {
    // The last entry nearly always tells. The name does not, which can be later than all entries.
    if (timesIn(folder, name).toMs < thanMs && !readIndex(folder, name).hasLater(thanMs))
      dropSegment(folder, name);
  }
}

/** Segments are found by their indexes, so the index goes last. */
function dropSegment(folder: string, name: string): void {
  rmSync(entriesFile(folder, name), { force: true });
  rmSync(indexFile(folder, name), { force: true });
}

const openFlags = constants.O_RDWR | constants.O_CREAT;

interface SegmentFiles {
  readonly index: number;
  readonly entries: number;
}

class NewestSegment {
  readonly name: string;
  readonly #folder: string;
  #files: SegmentFiles | null = null;
  #indexBytes = 0;
  #entriesBytes = 0;
  /** When the first entry was answered, by the clock of that time. */
  firstAtMs = 0;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.name = name;
    this.#cutTornEnd(this.#open());
  }

  get entriesBytes(): number {
    return this.#entriesBytes;
  }

  #open(): SegmentFiles {
    if (this.#files !== null) return this.#files;
    const index = openSync(indexFile(this.#folder, this.name), openFlags, 0o600);
    try {
      this.#files = { index, entries: openSync(entriesFile(this.#folder, this.name), openFlags, 0o600) };
      return this.#files;
    } catch (error) {
      closeSync(index);
      throw error;
    }
  }

  append(parts: readonly Uint8Array[], bytes: number, rows: Buffer): void {
    const files = this.#open();
    // At their places, so that what a failed append left is written over. The rows come last, and
    // make the entries part of the log.
    const [first] = parts;
    const written =
      first !== undefined && parts.length === 1
        ? writeSync(files.entries, first, 0, bytes, this.#entriesBytes)
        : writevSync(files.entries, parts, this.#entriesBytes);
    if (written < bytes) throw new Error('the disk has taken a part of the entries only');
    if (writeSync(files.index, rows, 0, rows.length, this.#indexBytes) < rows.length)
      throw new Error('the disk has taken a part of the index only');
    if (this.#indexBytes === 0) this.firstAtMs = new SegmentIndex(rows).atMs(0);
    this.#entriesBytes += bytes;
    this.#indexBytes += rows.length;
  }

  /** Cuts rows without a whole entry, and what lies behind the last entry that has a row. */
  #cutTornEnd(files: SegmentFiles): void {
    const bytes = Buffer.alloc(fstatSync(files.index).size);
    const read = readSync(files.index, bytes, 0, bytes.length, 0);
    let index = new SegmentIndex(bytes.subarray(0, read));
    while (index.count > 0 && !hasLastEntry(files.entries, index))
      index = new SegmentIndex(bytes.subarray(0, (index.count - 1) * indexRowBytes));
    if (index.count > 0) this.firstAtMs = index.atMs(0);
    this.#indexBytes = index.count * indexRowBytes;
    this.#entriesBytes = index.end;
    ftruncateSync(files.index, this.#indexBytes);
    ftruncateSync(files.entries, this.#entriesBytes);
  }

  close(): void {
    if (this.#files === null) return;
    closeSync(this.#files.index);
    closeSync(this.#files.entries);
    this.#files = null;
  }
}

/** Whether the entry of the last row is there. */
function hasLastEntry(entries: number, index: SegmentIndex): boolean {
  const last = index.count - 1;
  const bytes = index.bytes(last);
  if (index.offset(last) + bytes > fstatSync(entries).size) return false;
  const entry = Buffer.alloc(bytes);
  readSync(entries, entry, 0, bytes, index.offset(last));
  return isEntryOf(new EntryReader(entry), index, last);
}

const tags: EntryTags = { request: 0, key: 0, object: 0 };

/** Whether an entry that was read on its own is that of a row. */
export function isEntryOf(entry: EntryReader, index: SegmentIndex, row: number): boolean {
  if (!entry.moveTo(0) || entry.end !== index.bytes(row)) return false;
  entry.tagsInto(tags);
  return tags.request === index.requestTag(row) && entry.answeredAtMs === index.atMs(row);
}
