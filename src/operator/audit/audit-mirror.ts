// The audit record of this machine beside the one that other machines hold, too
// (disk/remote-text.ts): what both begin with, and what is fetched from there. Rows of this machine
// that the others lack, and that no longer fit behind theirs, are put aside.

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { assert } from '../../core/assert.ts';
import type { RemoteText, TextBounds, TextPart } from '../../disk/remote-text.ts';
import { syncPath } from '../../disk/sync-path.ts';
import {
  type AuditFile,
  adoptOlderFile,
  auditFiles,
  endOf,
  newline,
  placed,
  readText,
  rowBytesMax,
  startOf,
  windowBytes,
} from './audit-files.ts';

/** Files that grow, and where they end. */
export interface GrowingFiles {
  readonly end: number;
  appendBytes(bytes: Uint8Array): Promise<void>;
}

/** What became of the files when they were compared with the others' record. */
interface Aligned {
  /** Where the others' record ends. */
  readonly end: number;
  /** Where rows of this machine's own were put; null: it had none. */
  readonly aside: string | null;
}

/**
 * Makes the files at `path` a beginning of the others' record, or that a beginning of them. The
 * files stay as they are where the others have no record yet.
 */
export async function alignRecord(remote: RemoteText, path: string, bounds: TextBounds): Promise<Aligned> {
  adoptOlderFile(path);
  const files = auditFiles(path);
  const { start, end } = boundsOf(files);
  if (bounds.end === 0) return { end: start, aside: null };
  if (start === end) {
    beginAt(path, bounds.start);
    return { end: bounds.end, aside: null };
  }
  const upTo = Math.min(bounds.end, end);
  const common = await lastCommon(remote, files, { start: Math.max(start, bounds.start), end: upTo });
  if (common === upTo) return { end: bounds.end, aside: null };
  const aside = putAside(path, files, common ?? start);
  if (common === null) beginAt(path, bounds.start);
  return { end: bounds.end, aside };
}

/** Whether the others' record goes on where the files end; of a node that stands by. */
export async function goesOn(remote: RemoteText, path: string, bounds: TextBounds): Promise<boolean> {
  const files = auditFiles(path);
  const { start, end } = boundsOf(files);
  if (start === end || end === bounds.start) return bounds.end > 0 && end === bounds.start;
  return end <= bounds.end && agreeAt(remote, files, end);
}

/** Fetches what the log lacks, many appends at a time; `last`: the newest append, too. */
export async function fetchRecord(
  remote: RemoteText,
  log: GrowingFiles,
  { last, isOver = () => false }: { readonly last: boolean; readonly isOver?: () => boolean },
): Promise<void> {
  let waiting: Buffer[] = [];
  let end = log.end;
  const append = async () => {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    if (bytes.length > 0) await log.appendBytes(bytes);
  };
  for await (const { place, bytes } of remote.readAfter(log.end)) {
    assert(place === end, 'the audit record of the other machines has no gap');
    // Of the newest one it is not known whether enough machines have it.
    if (end - log.end >= windowBytes) await append();
    if (isOver()) return;
    waiting.push(bytes);
    end += bytes.length;
  }
  if (!last) waiting.pop();
  await append();
}

function boundsOf(files: readonly AuditFile[]): TextBounds {
  return { start: startOf(files), end: endOf(files) };
}

/**
 * The end of what both begin with, within `range`; null: they have nothing in common. Where an
 * append of the others is here, too, so is all before it, because each row has a digest of the one
 * before.
 */
async function lastCommon(
  remote: RemoteText,
  files: readonly AuditFile[],
  range: TextBounds,
): Promise<number | null> {
  if (range.end <= range.start) return range.end === range.start ? range.end : null;
  if (await agreeAt(remote, files, range.end)) return range.end;
  let [low, high] = [range.start, range.end];
  while (low < high) {
    const part = await remote.partBefore(Math.ceil((low + high) / 2));
    const end = part === null ? 0 : Math.min(part.place + part.bytes.length, range.end);
    if (part !== null && isHere(part, files, end)) low = end;
    else high = Math.min(high - 1, part?.place ?? 0);
  }
  return low === range.start ? null : rowBefore(files, low);
}

/** Whether both have the same rows before a place. */
async function agreeAt(remote: RemoteText, files: readonly AuditFile[], place: number): Promise<boolean> {
  const part = await remote.partBefore(place);
  if (part === null || !isHere(part, files, place)) return false;
  // The beginning of a row does not say yet what is before it.
  const hasRow = part.bytes.subarray(0, place - part.place).includes(newline);
  return hasRow || part.place <= startOf(files) || agreeAt(remote, files, part.place);
}

/** Whether the files have an append of the others up to a place, as far back as they go. */
function isHere({ place, bytes }: TextPart, files: readonly AuditFile[], end: number): boolean {
  const from = Math.max(place, startOf(files));
  const here = readText(files, from, end - from);
  return here.length > 0 && here.equals(bytes.subarray(from - place, end - place));
}

/** Where the row begins that a place lies in; the place itself between two rows. */
function rowBefore(files: readonly AuditFile[], place: number): number {
  const from = Math.max(startOf(files), place - rowBytesMax);
  return from + readText(files, from, place - from).lastIndexOf(newline) + 1;
}

/** A record without rows begins at a place: the others have dropped what was before it. */
function beginAt(path: string, place: number): void {
  const files = auditFiles(path);
  if (place === endOf(files)) return;
  for (const { path: empty } of files) rmSync(empty, { force: true });
  writeFileSync(placed(path, place), '', { mode: 0o600 });
  syncPath(dirname(path));
}

/** Moves all rows from a place on into a folder of their own. They are there before they go. */
function putAside(path: string, files: readonly AuditFile[], from: number): string {
  const folder = dirname(path);
  let number = 1;
  while (existsSync(join(folder, `aside-${number}`))) number++;
  const aside = join(folder, `aside-${number}`);
  mkdirSync(aside, { mode: 0o700 });
  const copied = placed(join(aside, 'operators.ndjson'), from);
  const copy = openSync(copied, 'ax', 0o600);
  for (let at = from; at < endOf(files); at += windowBytes) writeSync(copy, readText(files, at, windowBytes));
  closeSync(copy);
  syncPath(copied);
  syncPath(aside);
  syncPath(folder);
  for (const { path: file, start, bytes } of files.toReversed()) {
    if (start >= from) rmSync(file, { force: true });
    else if (start + bytes > from) truncateSync(file, from - start);
  }
  syncPath(folder);
  return aside;
}
