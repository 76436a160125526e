// The files of an audit record: text that is only appended to. A full file is renamed after the
// place where it begins in the whole text, and a new one begins. So a place names a row for good,
// even when the oldest files have been dropped.

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
import { basename, dirname, join } from 'node:path';
import { defined } from '../../core/assert.ts';
import { syncPath } from '../../disk/sync-path.ts';

export interface AuditFile {
  readonly path: string;
  /** The place of its first byte in the whole text. */
  readonly start: number;
  readonly bytes: number;
}

/** When the last row of a file was written; one whose rows do not say so is never too old. */
export function lastMs(file: AuditFile): number {
  // It says where the record begins on this machine, until there is another that does.
  if (file.bytes === 0) return Number.NEGATIVE_INFINITY;
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
      const row = parsedRow<R & { readonly chain?: string }>(bytes);
      if (row === null) continue;
      const { chain, ...said } = row;
      rows.push(said as R);
      if (rows.length === rowsMax) return rows.reverse();
    }
  }
  return rows.reverse();
}

/** No row is longer. */
export const rowBytesMax = 64 * 1024;
export const newline = 0x0a;
/** So much is read at once. */
export const windowBytes = 1024 * 1024;

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

/** The place of the oldest row that is kept. */
export function startOf(files: readonly AuditFile[]): number {
  return files[0]?.start ?? 0;
}

/** The place behind the last row. */
export function endOf(files: readonly AuditFile[]): number {
  const { start, bytes } = newestOf(files);
  return start + bytes;
}

/** Gives the newest file its place, so that a new one can begin. */
export function putAway(path: string): void {
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
export function adoptOlderFile(path: string): void {
  const older = `${path}.1`;
  const isAlone = auditFiles(path).length === 1;
  if (isAlone && statSync(older, { throwIfNoEntry: false }) !== undefined) renameSync(older, placed(path, 0));
}

export function placed(path: string, start: number): string {
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

/** The lines that begin before `end`, the last one first, some at a time. */
export function* linesBackwards(
  files: readonly AuditFile[],
  end = Number.POSITIVE_INFINITY,
): Generator<readonly AuditLine[]> {
  const start = startOf(files);
  // A line that begins before the end may reach beyond it.
  let to = Math.min(end + rowBytesMax, endOf(files));
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
