// One audit record, to which lines of JSON are only appended. A row is acknowledged when it is on
// disk; rows that are appended meanwhile are written together. A full file is renamed after the
// place where it begins in the whole text, and a new one begins. So a place names a row for good,
// even when the oldest files have been dropped. A line that a crash cut off stays unreadable.

import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { defined } from '../../core/assert.ts';
import type { Clock } from '../../core/clock.ts';
import { syncPath } from '../../disk/sync-path.ts';

interface Append {
  /** The row that begins at this place of the record. */
  readonly rowAt: (place: number) => object;
  readonly written: PromiseWithResolvers<void>;
}

/** How much a record keeps. */
export interface AuditBounds {
  /** At this size of its newest file another one begins. */
  readonly fileBytesMax: number;
  /** So many files, or those with a row that is not older than `ms`. */
  readonly kept: { readonly filesMax: number } | { readonly ms: number; readonly now: Clock };
}

export class AuditLog {
  readonly #path: string;
  readonly #bounds: AuditBounds;
  /** Null when there is none to append to: it is opened with the next row. */
  #file: FileHandle | null = null;
  /** The place at which the newest file begins, and its size. */
  #start = 0;
  #bytes = 0;
  /** The file does not end with a whole line. */
  #torn = false;
  #waiting: Append[] = [];
  #writing: Promise<void> | null = null;

  private constructor(path: string, bounds: AuditBounds) {
    this.#path = path;
    this.#bounds = bounds;
  }

  /** Opens the file in an existing folder. Creates it if it does not exist. */
  static async open(path: string, bounds: AuditBounds): Promise<AuditLog> {
    adoptOlderFile(path);
    const log = new AuditLog(path, bounds);
    await log.#open();
    return log;
  }

  /** Appends a row. Resolves when it is on disk; rejects with the error of the file system. */
  append(rowAt: (place: number) => object): Promise<void> {
    const written = Promise.withResolvers<void>();
    this.#waiting.push({ rowAt, written });
    this.#writing ??= this.#writeAll();
    return written.promise;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const appends = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(appends);
        for (const { written } of appends) written.resolve();
      } catch (error) {
        for (const { written } of appends) written.reject(error);
      }
    }
    // This is set at once, so that rows that are appended from now on begin the next write.
    this.#writing = null;
  }

  async #write(appends: readonly Append[]): Promise<void> {
    let file = this.#file ?? (await this.#open());
    // A write that failed may have left a part of its rows.
    if (this.#torn) this.#bytes = (await file.stat()).size;
    if (this.#bytes >= this.#bounds.fileBytesMax) file = await this.#startAnew(file);
    let text = this.#torn ? '\n' : '';
    let place = this.#start + this.#bytes + text.length;
    for (const { rowAt } of appends) {
      const line = `${JSON.stringify(rowAt(place))}\n`;
      text += line;
      place += Buffer.byteLength(line);
    }
    const bytes = Buffer.from(text);
    this.#torn = true;
    await file.appendFile(bytes);
    this.#bytes += bytes.length;
    await file.datasync();
    this.#torn = false;
  }

  /** Opens the newest file, and drops the oldest ones. */
  async #open(): Promise<FileHandle> {
    const { kept } = this.#bounds;
    const file = await openDurably(this.#path);
    dropOldest(this.#path, (old, newer) =>
      'ms' in kept ? lastMs(old) < kept.now() - kept.ms : newer + 2 > kept.filesMax,
    );
    const files = auditFiles(this.#path);
    const { start, bytes } = newestOf(files);
    this.#file = file;
    this.#start = start;
    this.#bytes = bytes;
    this.#torn = bytes > 0 && readText(files, start + bytes - 1, 1)[0] !== newline;
    return file;
  }

  async #startAnew(file: FileHandle): Promise<FileHandle> {
    this.#file = null;
    await file.close();
    putAway(this.#path);
    return this.#open();
  }

  /** Resolves when all appended rows are on disk or have failed. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
  }
}

async function openDurably(path: string): Promise<FileHandle> {
  const isNew = !existsSync(path);
  const file = await open(path, 'a', 0o600);
  if (isNew) syncPath(dirname(path));
  return file;
}

/** When the last row of a file was written; one whose rows do not say so is never too old. */
function lastMs(file: AuditFile): number {
  const [lines = []] = linesBackwards([file]);
  for (const { bytes } of lines) {
    const at = parsedRow<{ readonly at?: string }>(bytes)?.at;
    if (at !== undefined) return Date.parse(at);
  }
  return Number.POSITIVE_INFINITY;
}

/** The last rows of a record, at most `rowsMax`, oldest first. */
export function lastRows<R>(path: string, rowsMax: number): R[] {
  const rows: R[] = [];
  if (!existsSync(dirname(path))) return rows;
  for (const lines of linesBackwards(auditFiles(path))) {
    for (const { bytes } of lines) {
      const row = parsedRow<R>(bytes);
      if (row !== null) rows.push(row);
      if (rows.length === rowsMax) return rows.reverse();
    }
  }
  return rows.reverse();
}

interface AuditFile {
  readonly path: string;
  /** The place of its first byte in the whole text. */
  readonly start: number;
  readonly bytes: number;
}

/** No row is longer. */
export const rowBytesMax = 64 * 1024;
export const newline = 0x0a;

const ending = '.ndjson';
const placeDigits = 16;

/** The files of a record, oldest first. The newest one is `path`, which may not exist yet. */
export function auditFiles(path: string): AuditFile[] {
  const [folder, name] = [dirname(path), basename(path, ending)];
  const files: AuditFile[] = [];
  for (const each of readdirSync(folder).sort()) {
    const start = new RegExp(`^${name}\\.(\\d{${placeDigits}})\\${ending}$`).exec(each)?.[1];
    if (start !== undefined)
      files.push({ path: join(folder, each), start: Number(start), ...bytesOf(join(folder, each)) });
  }
  const last = files.at(-1);
  files.push({ path, start: last === undefined ? 0 : last.start + last.bytes, ...bytesOf(path) });
  return files;
}

function bytesOf(path: string): { readonly bytes: number } {
  return { bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
}

/** The file to which rows are appended. */
export function newestOf(files: readonly AuditFile[]): AuditFile {
  return defined(files.at(-1), 'a record has a newest file');
}

/** Gives the newest file its place, so that a new one can begin. */
function putAway(path: string): void {
  renameSync(path, placed(path, newestOf(auditFiles(path)).start));
  syncPath(dirname(path));
}

/**
 * Drops old files; `newer` is how many lie between a file and the newest. The last one that was put
 * away stays, because it tells where the newest begins.
 */
export function dropOldest(path: string, isOld: (file: AuditFile, newer: number) => boolean): void {
  const away = auditFiles(path).slice(0, -1);
  for (const [position, file] of away.slice(0, -1).entries()) {
    if (!isOld(file, away.length - position - 1)) return;
    rmSync(file.path, { force: true });
  }
}

/** Version 0.1.0 kept one older file, `….ndjson.1`. */
function adoptOlderFile(path: string): void {
  const older = `${path}.1`;
  const isAlone = auditFiles(path).length === 1;
  if (isAlone && statSync(older, { throwIfNoEntry: false }) !== undefined) renameSync(older, placed(path, 0));
}

function placed(path: string, start: number): string {
  const text = String(start).padStart(placeDigits, '0');
  return join(dirname(path), `${basename(path, ending)}.${text}${ending}`);
}

/** The bytes of the whole text from `place` on; fewer at its end, none before its beginning. */
export function readText(files: readonly AuditFile[], place: number, length: number): Buffer {
  const parts: Buffer[] = [];
  let at = place;
  for (const { path, start, bytes } of files) {
    const needed = Math.min(place + length, start + bytes) - at;
    if (at < start || needed <= 0) continue;
    const part = readPart(path, at - start, needed);
    parts.push(part);
    at += part.length;
    if (part.length < needed) break;
  }
  return Buffer.concat(parts);
}

function readPart(path: string, position: number, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, position));
  } finally {
    closeSync(file);
  }
}

export interface AuditLine {
  readonly place: number;
  readonly bytes: Buffer;
}

const windowBytes = 1024 * 1024;

/** The lines that begin before `end`, the last one first, some at a time. */
export function* linesBackwards(
  files: readonly AuditFile[],
  end = Number.POSITIVE_INFINITY,
): Generator<readonly AuditLine[]> {
  const newest = newestOf(files);
  const start = files[0]?.start ?? 0;
  // A line that begins before the end may reach beyond it.
  let to = Math.min(end + rowBytesMax, newest.start + newest.bytes);
  while (to > start) {
    const from = Math.max(start, to - windowBytes);
    const bytes = readText(files, from, to - from);
    // The line in which this part begins comes with the part before.
    const begin = from === start ? 0 : bytes.subarray(0, -1).indexOf(newline) + 1;
    const isInLine = from > start && begin === 0;
    yield isInLine ? [] : linesIn(bytes.subarray(begin), from + begin).filter(({ place }) => place < end);
    to = from + begin;
  }
}

function linesIn(bytes: Buffer, place: number): AuditLine[] {
  const lines: AuditLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(newline, start);
    const end = found < 0 ? bytes.length : found + 1;
    lines.push({ place: place + start, bytes: bytes.subarray(start, end) });
    start = end;
  }
  return lines.reverse();
}

/** A row of a record; null for what is none, such as a row that a crash cut off. */
export function parsedRow<R>(bytes: Buffer): R | null {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}
