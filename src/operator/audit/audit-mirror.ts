// The audit record of this machine as the mirror of one that other machines hold, too
// (disk/remote-text.ts). Who takes that has what is missing here fetched when the record is opened,
// and gives what only this machine has. A record that is no part of the other is put aside.

import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RemoteText, TextBounds } from '../../disk/remote-text.ts';
import { syncPath } from '../../disk/sync-path.ts';
import { type AuditFile, auditFiles, endOf, placed, readText } from './audit-files.ts';

const pieceBytes = 1 << 20;

/**
 * Takes the remote record, and makes the files at `path` a beginning of it. Resolves with the
 * folder where a record of this machine's own was put aside; null: it had none.
 */
export async function shareRecord(remote: RemoteText, path: string): Promise<string | null> {
  const bounds = await remote.acquire();
  const files = auditFiles(path);
  const { start, end } = boundsOf(files);
  if (bounds.end === 0 && end > 0) await remote.begin(start);
  const common = bounds.end === 0 ? start : Math.min(bounds.end, end);
  if (start === end || (common > start && !(await isPart(remote, files, common)))) {
    const aside = start === end ? null : putAside(path, files);
    beginAt(path, bounds.start);
    return aside;
  }
  for (let at = common; at < end; at += pieceBytes)
    await remote.append(at, readText(files, at, Math.min(pieceBytes, end - at)));
  return null;
}

/** Whether the files can be brought up to date with the remote record; of a node that stands by. */
export async function canFollow(remote: RemoteText, path: string): Promise<boolean> {
  const bounds = await remote.bounds();
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
export async function followRecord(
  remote: RemoteText,
  log: { readonly end: number; mirror(bytes: Buffer): Promise<void> },
): Promise<void> {
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
