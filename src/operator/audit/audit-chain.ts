// The chain of an audit record: each row has the digest of the line before it, which has the one
// before that. So no row can be changed, taken out or put in without every row behind it being
// written anew. The newest rows can be taken away unseen; a copy on another machine, or the log,
// shows that.

import { createHash } from 'node:crypto';
import {
  type AuditFile,
  auditFiles,
  linesBackwards,
  newline,
  parsedRow,
  readText,
  startOf,
  windowBytes,
} from './audit-files.ts';

/** SHA-256 of a row, in hexadecimal. */
export function digestOf(row: Uint8Array): string {
  return createHash('sha256').update(row).digest('hex');
}

/**
 * The digest of a line behind the one with the digest `before`. A line that a crash cut off names
 * none, so its digest is over that, too.
 */
function digestBehind(before: string | null, line: Uint8Array, isRow: boolean): string {
  return isRow ? digestOf(line) : createHash('sha256').update(`${before}`).update(line).digest('hex');
}

/** The digest of the last line; null: there is none. */
export function lastDigest(files: readonly AuditFile[]): string | null {
  const cut: Buffer[] = [];
  let digest: string | null = null;
  search: for (const lines of linesBackwards(files))
    for (const { bytes } of lines) {
      const line = bytes.at(-1) === newline ? bytes.subarray(0, -1) : bytes;
      if (parsedRow(line) !== null) {
        digest = digestOf(line);
        break search;
      }
      cut.push(line);
    }
  return cut.reduceRight((before: string | null, line) => digestBehind(before, line, false), digest);
}

export interface CheckedChain {
  readonly rows: number;
  /** Those that say what the line before them is; earlier versions wrote rows that did not. */
  readonly chained: number;
  /**
   * Where rows begin whose line before is not the one that they name, and where a part is missing.
   */
  readonly broken: readonly number[];
}

/** Reads the whole record. The line before its first one may have been dropped with its file. */
export function checkChain(path: string): CheckedChain {
  let [rows, chained] = [0, 0];
  const broken: number[] = [];
  let before: string | null = null;
  /** Behind what was dropped or is missing, the first row can't be compared. */
  let isKnown = startOf(auditFiles(path)) === 0;
  for (const { place, line } of linesOf(path)) {
    if (line === null) {
      broken.push(place);
      isKnown = false;
      continue;
    }
    const row = parsedRow<{ readonly chain?: string | null }>(line);
    if (row !== null) rows++;
    if (row?.chain !== undefined) {
      chained++;
      if (isKnown && row.chain !== before) broken.push(place);
    }
    isKnown ||= row !== null;
    before = digestBehind(before, line, row !== null);
  }
  return { rows, chained, broken };
}

interface PlacedLine {
  readonly place: number;
  /** Null: the part of the record that begins here is missing. */
  readonly line: Buffer | null;
}

function* linesOf(path: string): Generator<PlacedLine> {
  const files = auditFiles(path);
  let place = startOf(files);
  let waiting = Buffer.alloc(0);
  for (const file of files) {
    let at = place + waiting.length;
    if (file.start !== at) {
      yield { place: at, line: null };
      [place, at, waiting] = [file.start, file.start, Buffer.alloc(0)];
    }
    for (; at < file.start + file.bytes; at += windowBytes) {
      waiting = Buffer.concat([waiting, readText([file], at, windowBytes)]);
      for (let end = waiting.indexOf(newline); end >= 0; end = waiting.indexOf(newline)) {
        yield { place, line: waiting.subarray(0, end) };
        place += end + 1;
        waiting = waiting.subarray(end + 1);
      }
    }
  }
  if (waiting.length > 0) yield { place, line: waiting };
}
