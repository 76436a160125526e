// Looks for entries in the request logs. The files are only read, so it works beside the thread
// that writes them, in another process, too. One search looks at a bounded number of entries,
// newest first, and says where the next one goes on.

import type { LoggedRequest } from '../contract/routes/logged-request.ts';
import { routeTable } from '../contract/routes/table.ts';
import { type Mode, modes } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import { timeOfId } from '../core/ids.ts';
import { EntryReader, entryBytesMax, entryFlags, tagOfId, tagOfKey } from './entry.ts';
import { type Gap, gapOf, loggedRequestOf } from './logged-request.ts';
import { foldersIn, type LogScope } from './request-logs.ts';
import { isEntryOf } from './scope-log.ts';
import {
  entriesFile,
  indexedRows,
  readIndex,
  readPart,
  type SegmentIndex,
  scopeFolderOf,
  segmentsIn,
  timeOfSegment,
  timesIn,
} from './segment.ts';

/** What an entry must have; a filter that is absent lets all pass. */
export interface LogFilter {
  /** Unix milliseconds, both inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly status?: StatusRange | undefined;
  /** The beginning of the path. */
  readonly path?: string | undefined;
  /** A path whose requests are left out. */
  readonly exceptPath?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** An object that the path names, or that the answer is. */
  readonly object?: string | undefined;
}

export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

export interface LogPage {
  /** Newest first. */
  readonly found: readonly (LoggedRequest | Gap)[];
  /** The place of each, before which a search finds what is older. */
  readonly places: readonly string[];
  /** Where older ones follow; null when there are none. */
  readonly older: string | null;
  /** What is older was not looked at yet: it is of this time or before. In Unix milliseconds. */
  readonly reachedMs: number;
  /** The place of the newest entry that there is, after which `entriesAfter` goes on. */
  readonly newest: string;
}

export interface LogStep {
  /** Oldest first. */
  readonly found: readonly (LoggedRequest | Gap)[];
  readonly newest: string;
}

/** Rows of indexes, and entries, that one search looks at. */
const rowsMax = 2_000_000;
const readsMax = 5_000;
/** And those of one part of it, which take a millisecond or two. */
const partRows = 50_000;
const partReads = 50;
/** Clocks step, and entries are written when they were answered: this far from their times. */
const disorderMs = 3_600_000;
/** Before all entries. */
export const noPlace = '0-0';

/** An exact status, or a class of them such as `5xx`; null for any other text. */
export function statusRangeOf(text: string): StatusRange | null {
  if (/^[1-5]xx$/.test(text)) return { from: Number(text[0]) * 100, to: Number(text[0]) * 100 + 99 };
  return /^[1-5]\d\d$/.test(text) ? { from: Number(text), to: Number(text) } : null;
}

/** A place in a log: a segment, and a row of its index. */
interface Place {
  readonly name: string;
  readonly row: number;
}

function placeOf(text: string): Place | null {
  const [, name, row] = /^(\d{1,15})-(\d{1,9})$/.exec(text) ?? [];
  return name === undefined ? null : { name: name.padStart(15, '0'), row: Number(row) };
}

const textOf = ({ name, row }: Place) => `${Number(name)}-${row}`;

export function isPlace(text: string): boolean {
  return placeOf(text) !== null;
}

/** A search whose caller can do something else between its parts. */
export type InParts<R> = Generator<void, R>;

function whole<R>(parts: InParts<R>): R {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

/** The entries of a log, newest first, from the place `before` down. */
export function searchLog(...search: Parameters<typeof searchInParts>): LogPage {
  return whole(searchInParts(...search));
}

export function* searchInParts(
  folder: string,
  { org, mode }: LogScope,
  filter: LogFilter,
  limit: number,
  before: string | null = null,
): InParts<LogPage> {
  const log = scopeFolderOf(folder, org, mode);
  const start = before === null ? null : placeOf(before);
  const { since = Number.NEGATIVE_INFINITY } = filter;
  const isWanted = rowFilterOf(filter);
  const isFound = entryFilterOf(filter);
  const found: (LoggedRequest | Gap)[] = [];
  const places: string[] = [];
  const names = segmentsIn(log);
  let newest = noPlace;
  let [rows, reads] = [rowsMax, readsMax];
  for (const [i, name] of [...names.entries()].reverse()) {
    if (start !== null && name > start.name) continue;
    // All entries of this segment are older than the next one's first.
    const next = names[i + 1];
    if (next !== undefined && timeOfSegment(next) < since - disorderMs) break;
    const index = readIndex(log, name);
    if (newest === noPlace && index.count > 0) newest = textOf({ name, row: index.count });
    const from = start !== null && name === start.name ? Math.min(start.row, index.count) : index.count;
    for (let row = from - 1; row >= 0; row--) {
      if (found.length === limit || rows-- === 0 || reads === 0)
        return { found, places, older: textOf({ name, row: row + 1 }), reachedMs: index.atMs(row), newest };
      if (rows % partRows === 0) yield;
      if (!isWanted(index, row)) continue;
      if (reads-- % partReads === 0) yield;
      const entry = entryAt(log, name, index, row);
      if (entry === null || !isFound(entry)) continue;
      found.push(entry);
      places.push(textOf({ name, row }));
    }
  }
  return { found, places, older: null, reachedMs: Number.NEGATIVE_INFINITY, newest };
}

/** The entries behind the place `after`, oldest first, and the place behind them. */
export function entriesAfter(...search: Parameters<typeof entriesAfterInParts>): LogStep {
  return whole(entriesAfterInParts(...search));
}

export function* entriesAfterInParts(
  folder: string,
  { org, mode }: LogScope,
  filter: LogFilter,
  limit: number,
  after: string,
): InParts<LogStep> {
  const log = scopeFolderOf(folder, org, mode);
  const start = defined(placeOf(after), 'the place is one of the log');
  const isWanted = rowFilterOf(filter);
  const isFound = entryFilterOf(filter);
  const found: (LoggedRequest | Gap)[] = [];
  let place = after;
  let [rows, reads] = [rowsMax, readsMax];
  for (const name of segmentsIn(log)) {
    if (name < start.name) continue;
    // Whoever follows looks again and again, mostly at the end.
    const first = name === start.name ? start.row : 0;
    const index = readIndex(log, name, first);
    for (let row = first; row < index.count; row++) {
      if (found.length === limit || rows-- === 0 || reads === 0) return { found, newest: place };
      if (rows % partRows === 0) yield;
      place = textOf({ name, row: row + 1 });
      if (!isWanted(index, row)) continue;
      if (reads-- % partReads === 0) yield;
      const entry = entryAt(log, name, index, row);
      if (entry !== null && isFound(entry)) found.push(entry);
    }
  }
  return { found, newest: place };
}

export function newestPlace(folder: string, { org, mode }: LogScope): string {
  const log = scopeFolderOf(folder, org, mode);
  const name = segmentsIn(log).at(-1);
  return name === undefined ? noPlace : textOf({ name, row: indexedRows(log, name) });
}

export function* findInParts(
  folder: string,
  scope: LogScope,
  request: string,
): InParts<LoggedRequest | null> {
  return (
    (yield* findAmong(folder, scope, request, true)) ?? (yield* findAmong(folder, scope, request, false))
  );
}

/**
 * Looks in the segments of the time in the request's id, or in the others: ids ascend also when a
 * clock is set back, so their times can be ahead of it.
 */
function* findAmong(
  folder: string,
  { org, mode }: LogScope,
  request: string,
  isOfTime: boolean,
): InParts<LoggedRequest | null> {
  const atMs = timeOfId(request);
  if (atMs < 0) return null;
  const log = scopeFolderOf(folder, org, mode);
  const tag = tagOfId(request);
  for (const name of segmentsIn(log)) {
    const { fromMs, toMs } = timesIn(log, name);
    if ((atMs >= fromMs - disorderMs && atMs <= toMs + disorderMs) !== isOfTime) continue;
    const index = readIndex(log, name);
    for (let row = 0; row < index.count; row++) {
      if (row % partRows === 0) yield;
      if (index.requestTag(row) !== tag) continue;
      const entry = entryAt(log, name, index, row);
      if (entry !== null && 'request' in entry && entry.request === request) return entry;
    }
  }
  return null;
}

/** A request whose organization is not known; null when no log has it. */
export function findRequestAnywhere(
  folder: string,
  request: string,
): { readonly scope: LogScope; readonly entry: LoggedRequest } | null {
  for (const isOfTime of [true, false]) {
    for (const scope of scopesIn(folder)) {
      const entry = whole(findAmong(folder, scope, request, isOfTime));
      if (entry !== null) return { scope, entry };
    }
  }
  return null;
}

/** Every organization and mode that may have a log. */
function scopesIn(folder: string): LogScope[] {
  return foldersIn(folder).flatMap((org) => modes.map((mode: Mode) => ({ org, mode })));
}

/** The routes whose paths may begin like this. A path without a route may, too. */
function routesBelow(pathStart: string): (route: number) => boolean {
  const may = routeTable.map(({ path }) => {
    const fixed = path.slice(0, path.includes('{') ? path.indexOf('{') : path.length);
    return path.includes('{')
      ? fixed.startsWith(pathStart) || pathStart.startsWith(fixed)
      : path.startsWith(pathStart);
  });
  return (route) => may[route] ?? true;
}

/** Passes the rows whose entries may match, so that few entries have to be read. */
function rowFilterOf(filter: LogFilter): (index: SegmentIndex, row: number) => boolean {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, status, path, object } = filter;
  const key = filter.idempotencyKey === undefined ? null : tagOfKey(filter.idempotencyKey);
  const objectTag = object === undefined ? null : tagOfId(object);
  const isRoute = path === undefined ? null : routesBelow(path);
  const isNarrow = status !== undefined || key !== null || objectTag !== null || isRoute !== null;
  return (index, row) => {
    const ms = index.atMs(row);
    if (ms < since || ms > until) return false;
    // What is missing may have been anything.
    if ((index.flags(row) & entryFlags.gap) !== 0) return !isNarrow;
    if (status !== undefined) {
      const is = index.status(row);
      if (is < status.from || is > status.to) return false;
    }
    if (key !== null && index.keyTag(row) !== key) return false;
    if (objectTag !== null && index.objectTag(row) !== objectTag) return false;
    return isRoute === null || isRoute(index.route(row));
  };
}

function entryFilterOf({ path, exceptPath, object, idempotencyKey }: LogFilter) {
  return (entry: LoggedRequest | Gap): boolean =>
    'missing' in entry ||
    (entry.path !== exceptPath &&
      (path === undefined || entry.path.startsWith(path)) &&
      (object === undefined || entry.object === object) &&
      (idempotencyKey === undefined || entry.idempotency_key === idempotencyKey));
}

/** The entry of a row; null when its segment was dropped meanwhile, or when it is damaged. */
function entryAt(log: string, name: string, index: SegmentIndex, row: number): LoggedRequest | Gap | null {
  const length = index.bytes(row);
  if (length > entryBytesMax) return null;
  const bytes = readPart(entriesFile(log, name), index.offset(row), length);
  if (bytes === null) return null;
  const entry = new EntryReader(bytes);
  if (!isEntryOf(entry, index, row)) return null;
  return entry.isGap ? gapOf(entry) : loggedRequestOf(entry);
}
