// The request logs of all organizations: takes the batches of the edges, masks their entries, and
// appends them to the log of each organization and mode. What can't be written is counted, and the
// log then has a gap in its place.

import { readdirSync } from 'node:fs';
import { type Mode, modes } from '../contract/vocabulary.ts';
import { elementAt } from '../core/assert.ts';
import type { Clocks } from '../core/clock.ts';
import { errorText } from '../core/errors.ts';
import { EntryReader, type EntryTags, EntryWriter, gapBytes } from './entry.ts';
import { Masker } from './mask.ts';
import { dropOlder, ScopeLog, type ScopeLogOptions } from './scope-log.ts';
import { indexRowBytes, putRow, scopeFolderOf } from './segment.ts';

export interface LogScope {
  readonly org: string;
  readonly mode: Mode;
}

export interface RequestLogsOptions extends ScopeLogOptions {
  readonly folder: string;
  /** Whether the disk has room for more than what the journal needs. */
  readonly hasRoom: () => boolean;
  /** Called with an exception that what an entry holds has caused. */
  readonly onFailed: (error: unknown) => void;
  /** Called with the number of entries that could not be written. */
  readonly onLost: (entries: number, reason: string) => void;
}

/** Each has two open files. */
export const openLogsMax = 8;
const fullDisk = 'the disk is almost full';

export class RequestLogs {
  readonly #options: RequestLogsOptions;
  /** The logs that were written, by their folders. */
  readonly #logs = new Map<string, ScopeLog>();
  /** Those that may have open files, the one that was used last at the end. */
  readonly #open = new Set<ScopeLog>();
  /** The parts of a batch, by their senders. They are used again. */
  readonly #parts: ScopePart[] = [];
  /** How many entries could not be written, by the folders of their logs. */
  readonly #lost = new Map<string, number>();
  /** How far wall time was ahead of the monotonic clock at the last sweep. */
  #aheadMs = Number.NEGATIVE_INFINITY;

  constructor(options: RequestLogsOptions) {
    this.#options = options;
  }

  /** Writes the entries in `batch`. `senders` are the scopes that the numbers in them stand for. */
  write(batch: Buffer, senders: readonly LogScope[]): void {
    while (this.#parts.length < senders.length) this.#parts.push(new ScopePart());
    const masker = new Masker(batch);
    const entry = new EntryReader(batch);
    for (let at = 0; entry.moveTo(at); at = entry.end) {
      const masked = this.#masked(masker, entry);
      if (masked === 'failed') continue;
      const part = elementAt(this.#parts, entry.sender);
      if (masked === null) part.add(entry);
      else part.addApart(masked);
    }
    for (const [sender, scope] of senders.entries()) this.#append(scope, elementAt(this.#parts, sender));
  }

  /** An entry that can't be masked is not written, because it may hold what must not be stored. */
  #masked(masker: Masker, entry: EntryReader): ReturnType<Masker['masked']> | 'failed' {
    const { onFailed, onLost } = this.#options;
    try {
      return masker.masked(entry);
    } catch (error) {
      onFailed(error);
      onLost(1, 'an entry could not be masked');
      return 'failed';
    }
  }

  #append(scope: LogScope, part: ScopePart): void {
    if (part.count === 0) return;
    const { hasRoom, onLost } = this.#options;
    const folder = scopeFolderOf(this.#options.folder, scope.org, scope.mode);
    const { missing } = part;
    const lost = this.#lost.get(folder) ?? 0;
    if (lost > 0) part.addGap(lost);
    try {
      if (!hasRoom()) throw new Error(fullDisk);
      this.#logIn(folder).append(part.pieces, part.bytes, part.rows, part.firstAtMs);
      this.#lost.delete(folder);
    } catch (error) {
      this.#lost.set(folder, lost + missing);
      onLost(missing, errorText(error));
    } finally {
      part.clear();
    }
  }

  #logIn(folder: string): ScopeLog {
    let log = this.#logs.get(folder);
    if (log === undefined) {
      log = new ScopeLog(folder, this.#options);
      this.#logs.set(folder, log);
    }
    this.#open.delete(log);
    this.#open.add(log);
    if (this.#open.size > openLogsMax) {
      const [unused = log] = this.#open;
      unused.close();
      this.#open.delete(unused);
    }
    return log;
  }

  /**
   * Drops what is too old, of the organizations that send nothing, too. A clock that is ahead makes
   * nothing old unless it has been so since the sweep before, so the first one drops nothing.
   */
  sweep({ wall, monotonic }: Pick<Clocks, 'wall' | 'monotonic'>): void {
    const { folder, keptMs } = this.#options;
    const aheadMs = wall() - monotonic();
    const nowMs = monotonic() + Math.min(aheadMs, this.#aheadMs);
    this.#aheadMs = aheadMs;
    this.close();
    for (const org of foldersIn(folder))
      for (const mode of modes) dropOlder(scopeFolderOf(folder, org, mode), nowMs - keptMs);
  }

  /** Closes all files. Later batches open theirs again. */
  close(): void {
    for (const log of this.#open) log.close();
    this.#open.clear();
    this.#logs.clear();
  }
}

export function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith('org_'));
  } catch {
    return [];
  }
}

const tags: EntryTags = { request: 0, key: 0, object: 0 };

/** What goes from a batch to one log. */
class ScopePart {
  readonly #pieces: Uint8Array[] = [];
  #rows = Buffer.allocUnsafe(64 * indexRowBytes);
  /** The last piece goes on to this place of the batch. */
  #pieceEnd = -1;
  #pieceStart = 0;
  #batch: Buffer | null = null;
  bytes = 0;
  count = 0;
  /** The entries that would be missing without these. */
  missing = 0;
  firstAtMs = 0;

  /** Adds an entry as it lies in its batch. */
  add(entry: EntryReader): void {
    if (entry.start !== this.#pieceEnd) {
      this.#endPiece();
      this.#pieceStart = entry.start;
      this.#batch = entry.buffer;
    }
    this.#pieceEnd = entry.end;
    this.#addRow(entry);
  }

  /** Adds an entry that lies in a buffer of its own. */
  addApart(bytes: Buffer): void {
    this.#endPiece();
    const entry = new EntryReader(bytes);
    entry.moveTo(0);
    this.#pieces.push(bytes);
    this.#addRow(entry);
  }

  /** Adds a gap: this many entries before the first are missing. Readers meet it after them. */
  addGap(missing: number): void {
    const writer = new EntryWriter(Buffer.allocUnsafe(gapBytes));
    writer.putGap(0, this.firstAtMs, missing);
    this.addApart(writer.buffer);
  }

  #addRow(entry: EntryReader): void {
    if (this.count === 0) this.firstAtMs = entry.answeredAtMs;
    const start = this.count * indexRowBytes;
    if (start === this.#rows.length) this.#rows = Buffer.concat([this.#rows, this.#rows]);
    entry.tagsInto(tags);
    putRow(this.#rows, start, entry, tags, this.bytes);
    this.bytes += entry.end - entry.start;
    this.count++;
    this.missing += entry.isGap ? entry.duration : 1;
  }

  #endPiece(): void {
    if (this.#pieceEnd >= 0 && this.#batch !== null)
      this.#pieces.push(this.#batch.subarray(this.#pieceStart, this.#pieceEnd));
    this.#pieceEnd = -1;
  }

  get pieces(): readonly Uint8Array[] {
    this.#endPiece();
    return this.#pieces;
  }

  get rows(): Buffer {
    return this.#rows.subarray(0, this.count * indexRowBytes);
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#pieceEnd = -1;
    this.#batch = null;
    this.bytes = 0;
    this.count = 0;
    this.missing = 0;
  }
}
