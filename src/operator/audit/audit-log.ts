// One audit record, to which lines of JSON are only appended. A row is acknowledged when it is on
// disk; rows that are appended meanwhile are written together. A line that a crash cut off stays
// unreadable. Each row has a digest of the line before it (audit-chain.ts). Where other machines
// hold the record, too, they have been given the row as well, unless they keep it waiting.

import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { syncPath } from '../../disk/sync-path.ts';
import { digestOf, lastDigest } from './audit-chain.ts';
import {
  adoptOlderFile,
  auditFiles,
  dropOldest,
  lastMs,
  newestOf,
  newline,
  putAway,
  readText,
  startOf,
} from './audit-files.ts';
import type { SharedRecord } from './shared-record.ts';

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
  readonly #shared: SharedRecord | null;
  /** Null when there is none to append to: it is opened with the next row. */
  #file: FileHandle | null = null;
  /** The place at which the newest file begins, and its size. */
  #start = 0;
  #bytes = 0;
  /** The digest of the last line; null: there is none. */
  #digest: string | null = null;
  /** The last line is not whole. */
  #torn = false;
  #waiting: Append[] = [];
  #writing: Promise<void> | null = null;

  private constructor(path: string, bounds: AuditBounds, shared: SharedRecord | null) {
    this.#path = path;
    this.#bounds = bounds;
    this.#shared = shared;
  }

  /**
   * Opens the file in an existing folder. Creates it if it does not exist. `shared`: the record is
   * brought up to date with what other machines hold; null: they don't hold it.
   */
  static async open(
    path: string,
    bounds: AuditBounds,
    shared: SharedRecord | null = null,
  ): Promise<AuditLog> {
    adoptOlderFile(path);
    const log = new AuditLog(path, bounds, shared);
    await log.#open();
    await shared?.fetch(log);
    log.#measure();
    await shared?.give(log.end);
    return log;
  }

  /** Where the next row begins. */
  get end(): number {
    return this.#start + this.#bytes;
  }

  /**
   * Appends a row. Resolves when it is on disk. Rejects with the error of the file system, or when
   * another machine has taken the record.
   */
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
    if (this.#file === null) await this.#open();
    try {
      const { text, digest } = this.#textOf(appends);
      await this.appendBytes(text);
      this.#torn = false;
      this.#digest = digest;
      await this.#shared?.give(this.end);
    } catch (error) {
      // A part of the rows may have been written: the next write begins behind what is there.
      await this.#close();
      throw error;
    }
  }

  #textOf(appends: readonly Append[]): { readonly text: Buffer; readonly digest: string | null } {
    let text = this.#torn ? '\n' : '';
    let place = this.end + text.length;
    let digest = this.#digest;
    for (const { rowAt } of appends) {
      const line = JSON.stringify({ ...rowAt(place), chain: digest });
      text += `${line}\n`;
      place += Buffer.byteLength(line) + 1;
      digest = digestOf(Buffer.from(line));
    }
    return { text: Buffer.from(text), digest };
  }

  /** Appends bytes as they are. Resolves when they are on disk. */
  async appendBytes(bytes: Uint8Array): Promise<void> {
    if (this.#bytes >= this.#bounds.fileBytesMax) await this.#startAnew();
    const file = this.#file ?? (await this.#openFile());
    await file.appendFile(bytes);
    this.#bytes += bytes.length;
    await file.datasync();
  }

  /** Opens the newest file, and looks how it ends. */
  async #open(): Promise<void> {
    await this.#openFile();
    this.#measure();
  }

  /** Opens the newest file, and drops the oldest ones. */
  async #openFile(): Promise<FileHandle> {
    const file = await openDurably(this.#path);
    dropBeyond(this.#path, this.#bounds);
    const { start, bytes } = newestOf(auditFiles(this.#path));
    this.#file = file;
    this.#start = start;
    this.#bytes = bytes;
    return file;
  }

  /** Finds out how the record ends. */
  #measure(): void {
    const files = auditFiles(this.#path);
    this.#torn = this.end > startOf(files) && readText(files, this.end - 1, 1)[0] !== newline;
    this.#digest = lastDigest(files);
  }

  async #startAnew(): Promise<void> {
    await this.#close();
    putAway(this.#path);
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  /** Resolves when all appended rows are on disk or have failed. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#shared?.close();
    await this.#file?.close();
  }
}

async function openDurably(path: string): Promise<FileHandle> {
  const isNew = !existsSync(path);
  const file = await open(path, 'a', 0o600);
  if (isNew) syncPath(dirname(path));
  return file;
}

/** Drops the files that a record does not keep. */
export function dropBeyond(path: string, { kept }: AuditBounds): void {
  dropOldest(path, (old, newer) =>
    'ms' in kept ? lastMs(old) < kept.now() - kept.ms : newer + 2 > kept.filesMax,
  );
}
