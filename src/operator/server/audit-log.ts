// One record of the audit, to which lines of JSON are only appended (see audit-files.ts). A row is acknowledged when it is on
// disk; rows that are appended meanwhile are written together. A line that a crash cut off stays unreadable, and the next row
// begins on a new line.

import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncPath } from '../../journal/sync-path.ts';
import { type AuditFile, adoptOlderFile, auditFiles, readText, startNewFile } from './audit-files.ts';

const newline = 0x0a;

interface Append {
  /** The row that begins at this place of the record. */
  readonly rowAt: (place: number) => object;
  readonly settle: (error: Error | null) => void;
}

/** How much a record keeps: at this size of its newest file another one begins, and the oldest one goes. */
export interface AuditBounds {
  readonly fileBytesMax: number;
  readonly filesMax: number;
}

export class AuditLog {
  readonly #path: string;
  readonly #bounds: AuditBounds;
  #file: FileHandle;
  /** The place at which the newest file begins, and its size. */
  #start: number;
  #bytes: number;
  /** The file does not end with a whole line. */
  #torn: boolean;
  #waiting: Append[] = [];
  #writing: Promise<void> | null = null;

  private constructor(path: string, bounds: AuditBounds, file: FileHandle, { start, bytes }: AuditFile) {
    this.#path = path;
    this.#bounds = bounds;
    this.#file = file;
    this.#start = start;
    this.#bytes = bytes;
    this.#torn = bytes > 0 && readText(auditFiles(path), start + bytes - 1, 1)[0] !== newline;
  }

  /** Opens the file in an existing folder. Creates it if it does not exist. */
  static async open(path: string, bounds: AuditBounds): Promise<AuditLog> {
    adoptOlderFile(path);
    const file = await openDurably(path);
    return new AuditLog(path, bounds, file, auditFiles(path).at(-1)!);
  }

  /** Appends the row that is to begin at a place. Resolves when it is on disk; rejects with the file system's error when it may not be. */
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
    // A write that failed may have left a part of its rows.
    if (this.#torn) this.#bytes = (await this.#file.stat()).size;
    if (this.#bytes >= this.#bounds.fileBytesMax) await this.#startAnew();
    const lines = [this.#torn ? Buffer.from('\n') : Buffer.alloc(0)];
    let place = this.#start + this.#bytes + lines[0]!.length;
    for (const { rowAt } of appends) {
      const line = Buffer.from(`${JSON.stringify(rowAt(place))}\n`);
      lines.push(line);
      place += line.length;
    }
    const bytes = Buffer.concat(lines);
    this.#torn = true;
    await this.#file.appendFile(bytes);
    this.#bytes += bytes.length;
    await this.#file.datasync();
    this.#torn = false;
  }

  async #startAnew(): Promise<void> {
    await this.#file.close();
    startNewFile(this.#path, this.#bounds.filesMax);
    this.#file = await openDurably(this.#path);
    this.#start += this.#bytes;
    this.#bytes = 0;
    this.#torn = false;
  }

  /** Resolves when all appended rows are on disk or have failed. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }
}

async function openDurably(path: string): Promise<FileHandle> {
  const isNew = !existsSync(path);
  const file = await open(path, 'a', 0o600);
  if (isNew) syncPath(dirname(path));
  return file;
}

/** At most this much of each file's end is read. */
const readBytesMax = 64 * 1024 * 1024;

/**
 * The last rows of a record, oldest first: at most `rowsMax`, and those in the last `bytesMax` of each file. Lines that are no
 * rows are left out.
 */
export function lastRows<R>(path: string, rowsMax: number, bytesMax = readBytesMax): R[] {
  const rows: R[] = [];
  if (!existsSync(dirname(path))) return rows;
  for (const file of auditFiles(path).reverse()) {
    if (rows.length >= rowsMax) break;
    const read = Math.min(file.bytes, bytesMax);
    const lines = readText([file], file.start + file.bytes - read, read)
      .toString()
      .split('\n');
    for (let line = lines.pop(); line !== undefined && rows.length < rowsMax; line = lines.pop()) {
      const row = parse<R>(line);
      if (row !== null) rows.push(row);
    }
  }
  return rows.reverse();
}

function parse<R>(line: string): R | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
