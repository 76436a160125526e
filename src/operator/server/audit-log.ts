// One file of the audit record, to which lines of JSON are only appended. A row is acknowledged when it is on disk; rows
// that are appended meanwhile are written together. A line that a crash cut off stays unreadable, and the next row begins
// on a new line.

import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncPath } from '../../journal/sync-path.ts';

const newline = 0x0a;

interface Append {
  /** The row that begins at this place of the file. */
  readonly rowAt: (place: number) => object;
  readonly settle: (error: Error | null) => void;
}

export class AuditLog {
  readonly #path: string;
  /** At this size the file replaces the older one, which is dropped, and a new one begins. Null: the file grows. */
  readonly #bytesMax: number | null;
  #file: FileHandle;
  #bytes: number;
  /** The file does not end with a whole line. */
  #torn: boolean;
  #waiting: Append[] = [];
  #writing: Promise<void> | null = null;

  private constructor(path: string, bytesMax: number | null, file: FileHandle, bytes: number, torn: boolean) {
    this.#path = path;
    this.#bytesMax = bytesMax;
    this.#file = file;
    this.#bytes = bytes;
    this.#torn = torn;
  }

  /** Opens the file in an existing folder. Creates it if it does not exist. */
  static async open(path: string, bytesMax: number | null): Promise<AuditLog> {
    const file = await openDurably(path);
    const { size } = await file.stat();
    return new AuditLog(path, bytesMax, file, size, size > 0 && lastByte(path, size) !== newline);
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
    const lines = [this.#torn ? Buffer.from('\n') : Buffer.alloc(0)];
    let place = this.#bytes + lines[0]!.length;
    for (const { rowAt } of appends) {
      const line = Buffer.from(`${JSON.stringify(rowAt(place))}\n`);
      lines.push(line);
      place += line.length;
    }
    const bytes = Buffer.concat(lines);
    if (this.#bytesMax !== null && this.#bytes > 0 && this.#bytes + bytes.length > this.#bytesMax) {
      await this.#startAnew();
    }
    this.#torn = true;
    await this.#file.appendFile(bytes);
    this.#bytes += bytes.length;
    await this.#file.datasync();
    this.#torn = false;
  }

  async #startAnew(): Promise<void> {
    await this.#file.close();
    renameSync(this.#path, previousOf(this.#path));
    this.#file = await openDurably(this.#path);
    this.#bytes = 0;
    this.#torn = false;
  }

  /** Resolves when all appended rows are on disk or have failed. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }
}

/** The file with the older rows, once a file has reached its size. */
function previousOf(path: string): string {
  return `${path}.1`;
}

async function openDurably(path: string): Promise<FileHandle> {
  const isNew = !existsSync(path);
  const file = await open(path, 'a', 0o600);
  if (isNew) syncPath(dirname(path));
  return file;
}

function lastByte(path: string, size: number): number {
  return readTail(path, size, 1)[0]!;
}

function readTail(path: string, size: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.min(size, length));
  const file = openSync(path, 'r');
  try {
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

/** At most this much of a file's end is read. */
const readBytesMax = 64 * 1024 * 1024;

/**
 * The last rows of a file, oldest first, at most `rowsMax` and those in its last `bytesMax`; none without a file. Lines that are no
 * rows are left out.
 */
export function lastRows<R>(path: string, rowsMax: number, bytesMax = readBytesMax): R[] {
  const rows: R[] = [];
  for (const file of [path, previousOf(path)]) {
    if (rows.length >= rowsMax || !existsSync(file)) continue;
    const lines = readTail(file, statSync(file).size, bytesMax).toString().split('\n');
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
