// One audit record, to which lines of JSON are only appended. A row is acknowledged when it is on
// disk; rows that are appended meanwhile are written together. A line that a crash cut off stays
// unreadable, and the next row begins on a new line.

import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { syncPath } from '../../journal/files/sync-path.ts';
import {
  type AuditFile,
  adoptOlderFile,
  auditFiles,
  dropOldest,
  linesBackwards,
  newestOf,
  newline,
  parsedRow,
  putAway,
  readText,
} from './audit-files.ts';

interface Append {
  /** The row that begins at this place of the record. */
  readonly rowAt: (place: number) => object;
  readonly settle: (error: Error | null) => void;
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
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null) => (error === null ? resolve() : reject(error));
      this.#waiting.push({ rowAt, settle });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const appends = this.#waiting;
      this.#waiting = [];
      const failure = await this.#write(appends).then(
        () => null,
        (error: Error) => error,
      );
      for (const { settle } of appends) settle(failure);
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
