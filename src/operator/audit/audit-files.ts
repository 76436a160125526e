// The files of an audit record as one text. Rows are appended to the newest file; when that is full it gets the place at which it
// begins in the whole text as a part of its name, and a new one begins. So a place names a row for good, also when the oldest
// files have been dropped.

import { closeSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncPath } from '../../journal/files/sync-path.ts';

export interface AuditFile {
  readonly path: string;
  /** The place of its first byte in the whole text. */
  readonly start: number;
  readonly bytes: number;
}

const ending = '.ndjson';
const placeDigits = 16;

/** The files of the record whose newest file is `path`, oldest first; the newest one may not exist yet. */
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

/** Gives the newest file its place, so that a new one can begin. */
export function putAway(path: string): void {
  renameSync(path, placed(path, auditFiles(path).at(-1)!.start));
  syncPath(dirname(path));
}

/**
 * Drops the oldest files of which `isOld` says so; `newer` is how many lie beside the newest. The last one that was put away stays,
 * because it tells where the newest begins.
 */
export function dropOldest(path: string, isOld: (file: AuditFile, newer: number) => boolean): void {
  const away = auditFiles(path).slice(0, -1);
  while (away.length > 1 && isOld(away[0]!, away.length - 1)) rmSync(away.shift()!.path, { force: true });
}

/** Version 0.1.0 kept one older file, `….ndjson.1`. */
export function adoptOlderFile(path: string): void {
  const older = `${path}.1`;
  const isAlone = auditFiles(path).length === 1;
  if (isAlone && statSync(older, { throwIfNoEntry: false }) !== undefined) renameSync(older, placed(path, 0));
}

function placed(path: string, start: number): string {
  const text = String(start).padStart(placeDigits, '0');
  return join(dirname(path), `${basename(path, ending)}.${text}${ending}`);
}

/** The bytes of the whole text from `place` on; fewer than `length` at its end, none before its beginning. */
export function readText(files: readonly AuditFile[], place: number, length: number): Buffer {
  const parts: Buffer[] = [];
  let at = place;
  for (const { path, start, bytes } of files) {
    const wanted = Math.min(place + length, start + bytes) - at;
    if (at < start || wanted <= 0) continue;
    const part = readPart(path, at - start, wanted);
    parts.push(part);
    at += part.length;
    if (part.length < wanted) break;
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
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
