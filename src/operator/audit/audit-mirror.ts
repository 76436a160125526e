// The audit record of this machine as one that other machines hold, too (disk/remote-text.ts). Who
// takes that has what is missing here fetched, and gives what only this machine has. A record that
// is no part of the other is put aside.

import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Timers } from '../../core/scheduler.ts';
import type { RemoteText, TextBounds } from '../../disk/remote-text.ts';
import { syncPath } from '../../disk/sync-path.ts';
import { type AuditFile, adoptOlderFile, auditFiles, endOf, placed, readText } from './audit-files.ts';

const pieceBytes = 1 << 20;
/** So long a row waits for the other machines. Without them its action is carried out, too. */
const giveMs = 2_000;

/** Files that grow, and where they end. */
interface Mirror {
  readonly end: number;
  mirror(bytes: Uint8Array): Promise<void>;
}

/** The other machines' record, of which the files of this one are a beginning. */
export class SharedRecord {
  readonly #remote: RemoteText;
  readonly #path: string;
  readonly #timers: Timers;
  /** Up to where the others have it. */
  #end: number;
  /** Up to where they are to get it. */
  #wanted = 0;
  #giving: Promise<void> | null = null;
  /** They keep rows waiting: the next ones do not wait. */
  #isLate = false;
  /** Where this machine has put a record of its own; null: it had none. */
  readonly aside: string | null;

  private constructor(remote: RemoteText, path: string, timers: Timers, end: number, aside: string | null) {
    this.#remote = remote;
    this.#path = path;
    this.#timers = timers;
    this.#end = end;
    this.aside = aside;
  }

  /** Takes the record, and makes the files at `path` a beginning of it. */
  static async take(remote: RemoteText, path: string, timers: Timers): Promise<SharedRecord> {
    const bounds = await remote.acquire();
    adoptOlderFile(path);
    const files = auditFiles(path);
    const { start, end } = boundsOf(files);
    if (bounds.end === 0 && end > 0) await remote.begin(start);
    const common = bounds.end === 0 ? start : Math.min(bounds.end, end);
    const isEmpty = start === end;
    const isBeginning = isEmpty || common === start || (await isPart(remote, files, common));
    const aside = isBeginning ? null : putAside(path, files);
    if (isEmpty || !isBeginning) beginAt(path, bounds.start);
    return new SharedRecord(remote, path, timers, bounds.end === 0 ? start : bounds.end, aside);
  }

  /** Has the log fetch what it lacks, and the others forget what it has dropped. */
  async fetch(log: Mirror): Promise<void> {
    for await (const bytes of this.#remote.readAfter(log.end)) await log.mirror(bytes);
    await this.#remote.forget(boundsOf(auditFiles(this.#path)).start);
  }

  /**
   * Gives the others what the files have up to a place. Resolves when they have it, or after a
   * while: they get it later then. Rejects when another machine has taken the record.
   */
  async give(end: number): Promise<void> {
    if (this.#end >= end) return;
    this.#wanted = end;
    this.#giving ??= this.#giveAll();
    if (this.#isLate) return;
    const late = Promise.withResolvers<void>();
    const cancel = this.#timers.after(giveMs, () => {
      this.#isLate = true;
      late.resolve();
    });
    await Promise.race([this.#giving, late.promise]).finally(cancel);
  }

  async #giveAll(): Promise<void> {
    try {
      while (this.#end < this.#wanted) await this.#giveNext();
    } finally {
      this.#giving = null;
      this.#isLate = false;
    }
  }

  async #giveNext(): Promise<void> {
    const files = auditFiles(this.#path);
    const bytes = readText(files, this.#end, Math.min(pieceBytes, endOf(files) - this.#end));
    await this.#remote.append(this.#end, bytes);
    this.#end += bytes.length;
  }
}

/** Whether the files can be brought up to date with the remote record; of a node that stands by. */
export async function canFollow(remote: RemoteText, path: string): Promise<boolean> {
  const bounds = await remote.bounds();
  adoptOlderFile(path);
  const files = auditFiles(path);
  const { start, end } = boundsOf(files);
  if (start !== end) return end <= bounds.end && isPart(remote, files, end);
  beginAt(path, bounds.start);
  return true;
}

/**
 * Fetches what the record lacks. The last append may have been made and not be on enough machines,
 * so it comes with the next one.
 */
export async function followRecord(remote: RemoteText, log: Mirror): Promise<void> {
  let last: Buffer | null = null;
  for await (const bytes of remote.readAfter(log.end)) {
    if (last !== null) await log.mirror(last);
    last = bytes;
  }
}

function boundsOf(files: readonly AuditFile[]): TextBounds {
  return { start: files[0]?.start ?? 0, end: endOf(files) };
}

/** Each row has a digest of the one before, so what ends in the same way is the same. */
async function isPart(remote: RemoteText, files: readonly AuditFile[], end: number): Promise<boolean> {
  const part = await remote.partBefore(end);
  if (part === null) return false;
  const from = Math.max(part.place, files[0]?.start ?? 0);
  const here = readText(files, from, end - from);
  return here.length > 0 && here.equals(part.bytes.subarray(from - part.place, end - part.place));
}

/** A record without rows begins at a place: the others have dropped what was before it. */
function beginAt(path: string, place: number): void {
  if (place === endOf(auditFiles(path))) return;
  writeFileSync(placed(path, place), '', { mode: 0o600 });
  syncPath(dirname(path));
}

function putAside(path: string, files: readonly AuditFile[]): string {
  const folder = dirname(path);
  let number = 1;
  while (existsSync(join(folder, `aside-${number}`))) number++;
  const aside = join(folder, `aside-${number}`);
  mkdirSync(aside, { mode: 0o700 });
  for (const { path: file } of files) if (existsSync(file)) renameSync(file, join(aside, basename(file)));
  syncPath(aside);
  syncPath(folder);
  return aside;
}
