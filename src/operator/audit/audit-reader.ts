// Reads the actions that concern one organization, newest first. Each row has the place of the
// organization's row before it, so the rows of others are not read. Where a row lacks that, and for
// the newest row after a start, the files are searched backwards. These functions block: the
// service runs them in a thread of its pool.

import {
  type AuditLine,
  auditFiles,
  linesBackwards,
  newline,
  parsedRow,
  readText,
  rowBytesMax,
} from './audit-files.ts';
import type { OperatorRow, PlacedRow } from './audit-row.ts';

/** The rows of an organization in the record at a path. */
export interface RowsOfOrganization {
  readonly path: string;
  readonly org: string;
}

export interface ActionsAsked extends RowsOfOrganization {
  /** The place of its newest row; null: it has none. */
  readonly newest: number | null;
  /** The actions before the row at this place; null: from the newest on. */
  readonly before: number | null;
}

/** A part of the actions, newest first. */
export interface Actions {
  readonly found: readonly PlacedRow[];
  /** Before this row there may be more; null: there are none. */
  readonly last: number | null;
}

/** So many rows are looked at for one part. */
const rowsPerPart = 200;
/** The outcome of an action is looked for so far behind the row that asked for it. */
const outcomeBytesMax = 1024 * 1024;

/** The place of the organization's newest row; null when it has none. */
export function newestRow(rows: RowsOfOrganization): number | null {
  return lastBefore(rows, Number.POSITIVE_INFINITY);
}

/** A part of the organization's actions, with their outcomes. */
export function actionsBefore({ newest, before, ...rows }: ActionsAsked): Actions {
  const seen = new Set<string>();
  const found: PlacedRow[] = [];
  const start = before === null ? null : rowAt(rows, before);
  let place = start === null ? newest : previousOf(rows, start);
  for (let count = 1; place !== null; count++) {
    const placed = rowAt(rows, place);
    if (placed === null) {
      place = lastBefore(rows, place);
      continue;
    }
    const { row } = placed;
    const isNew = !seen.has(row.id) && (row.outcome !== 'asked' || !hasOutcome(rows, placed));
    seen.add(row.id);
    if (isNew) found.push(placed);
    if (count >= rowsPerPart) return { found, last: place };
    place = previousOf(rows, placed);
  }
  return { found, last: null };
}

function previousOf(rows: RowsOfOrganization, { place, row }: PlacedRow): number | null {
  const { previous } = row;
  // A place behind the row itself is one from before somebody took files away.
  const isKnown = previous === null || (previous !== undefined && previous < place);
  return isKnown ? previous : lastBefore(rows, place);
}

/** The row of the organization that begins at a place; null when none does. */
function rowAt({ path, org }: RowsOfOrganization, place: number): PlacedRow | null {
  const files = auditFiles(path);
  const [before] = place === 0 ? [newline] : readText(files, place - 1, 1);
  // The row before the oldest one was dropped with its file.
  if (before !== newline && files[0]?.start !== place) return null;
  const bytes = readText(files, place, rowBytesMax);
  return rowIn({ place, bytes: bytes.subarray(0, bytes.indexOf(newline) + 1) }, org);
}

/** Whether the outcome of an action follows: then it was met before, in a part of newer ones. */
function hasOutcome({ path }: RowsOfOrganization, { place, row: { id } }: PlacedRow): boolean {
  const bytes = readText(auditFiles(path), place, outcomeBytesMax);
  return bytes.indexOf(`"id":"${id}"`, bytes.indexOf(newline) + 1) > 0;
}

/** The place of the organization's last row that begins before `end`. */
function lastBefore({ path, org }: RowsOfOrganization, end: number): number | null {
  const name = `"organization":"${org}"`;
  for (const lines of linesBackwards(auditFiles(path), end)) {
    const found = lines.find((line) => line.bytes.includes(name) && rowIn(line, org) !== null);
    if (found !== undefined) return found.place;
  }
  return null;
}

/** The row in a line, if it is the organization's. */
function rowIn({ place, bytes }: AuditLine, org: string): PlacedRow | null {
  const row = parsedRow<OperatorRow>(bytes);
  return row !== null && organizationOf(row) === org ? { place, row } : null;
}

/** Rows of version 0.1.0 name the organization of members only. */
function organizationOf({ organization, by }: OperatorRow): string | null {
  return organization ?? (by !== null && 'member' in by ? by.organization : null);
}
