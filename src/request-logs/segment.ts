// The files of the request logs: a folder for each organization and mode, and in it segments, to
// which is only appended. A segment is two files: `TIME.entries`, and `TIME.index` with a
// row of 32 bytes for each entry, in the same order, by which they are found without reading them.
// TIME is that of the first entry, or later, because names ascend also when a clock is set back.
// Whole segments are dropped when they are too old or too many.
//
//   row: f64 answered at (Unix ms) · u32 offset · u32 bytes · u32 tag of the request · u32 tag of
//        the idempotency key · u32 tag of the object · u16 status · u8 route · u8 flags

import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Mode } from '../contract/vocabulary.ts';
import { errorCode } from '../core/errors.ts';
import type { EntryReader, EntryTags } from './entry.ts';

export function requestLogsOf(dataDir: string): string {
  return join(dataDir, 'request-logs');
}

export function scopeFolderOf(folder: string, org: string, mode: Mode): string {
  return join(folder, org, mode);
}

export const indexRowBytes = 32;
const nameDigits = 15;
const indexName = new RegExp(`^\\d{${nameDigits}}\\.index$`);

export function segmentNameOf(ms: number): string {
  return String(ms).padStart(nameDigits, '0');
}

export function timeOfSegment(name: string): number {
  return Number(name);
}

export const entriesFile = (folder: string, name: string) => join(folder, `${name}.entries`);
export const indexFile = (folder: string, name: string) => join(folder, `${name}.index`);

/** The names of the segments in a folder, oldest first; none when there is no folder. */
export function segmentsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => indexName.test(name))
    .map((name) => name.slice(0, nameDigits))
    .sort();
}

export function segmentBytes(folder: string, name: string): number {
  return sizeOf(entriesFile(folder, name)) + sizeOf(indexFile(folder, name));
}

export function indexedRows(folder: string, name: string): number {
  return Math.floor(sizeOf(indexFile(folder, name)) / indexRowBytes);
}

/** 0 when the file was dropped meanwhile. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Writes the row of an entry, which begins at `offset` of its segment. */
export function putRow(
  rows: Buffer,
  start: number,
  entry: EntryReader,
  tags: EntryTags,
  offset: number,
): void {
  rows.writeDoubleLE(entry.answeredAtMs, start);
  rows.writeUInt32LE(offset, start + 8);
  rows.writeUInt32LE(entry.end - entry.start, start + 12);
  rows.writeUInt32LE(tags.request, start + 16);
  rows.writeUInt32LE(tags.key, start + 20);
  rows.writeUInt32LE(tags.object, start + 24);
  rows.writeUInt16LE(entry.status, start + 28);
  rows[start + 30] = entry.route;
  rows[start + 31] = entry.flags;
}

export class SegmentIndex {
  readonly #rows: Buffer;
  /** Those before it were not read. */
  readonly #firstRow: number;
  readonly count: number;

  constructor(rows: Buffer, firstRow = 0) {
    this.#rows = rows;
    this.#firstRow = firstRow;
    this.count = firstRow + Math.floor(rows.length / indexRowBytes);
  }

  #startOf(row: number): number {
    return (row - this.#firstRow) * indexRowBytes;
  }

  atMs(row: number): number {
    return this.#rows.readDoubleLE(this.#startOf(row));
  }
  offset(row: number): number {
    return this.#rows.readUInt32LE(this.#startOf(row) + 8);
  }
  bytes(row: number): number {
    return this.#rows.readUInt32LE(this.#startOf(row) + 12);
  }
  requestTag(row: number): number {
    return this.#rows.readUInt32LE(this.#startOf(row) + 16);
  }
  keyTag(row: number): number {
    return this.#rows.readUInt32LE(this.#startOf(row) + 20);
  }
  objectTag(row: number): number {
    return this.#rows.readUInt32LE(this.#startOf(row) + 24);
  }
  status(row: number): number {
    return this.#rows.readUInt16LE(this.#startOf(row) + 28);
  }
  route(row: number): number {
    return this.#rows.readUInt8(this.#startOf(row) + 30);
  }
  flags(row: number): number {
    return this.#rows.readUInt8(this.#startOf(row) + 31);
  }
  /** Rows may tell nothing after a crash of the machine, so all are looked at. */
  hasLater(ms: number): boolean {
    for (let row = this.count - 1; row >= this.#firstRow; row--) if (this.atMs(row) >= ms) return true;
    return false;
  }
  get end(): number {
    return this.count === this.#firstRow ? 0 : this.offset(this.count - 1) + this.bytes(this.count - 1);
  }
}

/** The index of a segment from a row on; without rows when the segment was dropped meanwhile. */
export function readIndex(folder: string, name: string, firstRow = 0): SegmentIndex {
  const rows = readPart(indexFile(folder, name), firstRow * indexRowBytes, null);
  return new SegmentIndex(rows ?? Buffer.alloc(0), firstRow);
}

/** The times of the first entry of a segment and of the last; none without entries. */
export function timesIn(folder: string, name: string): { readonly fromMs: number; readonly toMs: number } {
  const first = new SegmentIndex(readPart(indexFile(folder, name), 0, indexRowBytes) ?? Buffer.alloc(0));
  const last = readIndex(folder, name, Math.max(0, indexedRows(folder, name) - 1));
  if (first.count === 0 || last.count === 0) return { fromMs: Infinity, toMs: -Infinity };
  return { fromMs: first.atMs(0), toMs: last.atMs(last.count - 1) };
}

/** Fewer bytes where the file ends, null when there is no such file. `bytes` null: all. */
export function readPart(path: string, offset: number, bytes: number | null): Buffer | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const buffer = Buffer.allocUnsafe(bytes ?? Math.max(0, fstatSync(file).size - offset));
    const read = readSync(file, buffer, 0, buffer.length, offset);
    return buffer.subarray(0, read);
  } finally {
    closeSync(file);
  }
}
