// The directory's log of changes: a row for each, in the same commit as the change itself, with the
// rows that it wrote, its number (the directory's revision) and its time. Backups and the archive
// copy it, so that a restore has the organizations and keys of a moment and not only those of the
// last backup. Old changes are removed as new ones come.

import { pack, unpack } from 'msgpackr';
import type { Block } from '../disk/archive-file.ts';
import type { Part } from '../disk/identity.ts';
import { createRowStore, RowStore } from '../disk/row-store.ts';
import { EntriesMissing, inOrder, type LogFiles, type Sequenced } from '../journal/log-files.ts';

/** A change: the rows as they are after it. */
interface LoggedChange {
  readonly revision: number;
  /** The revision of the change before. */
  readonly after: number;
  /** Wall time. */
  readonly timeMs: number;
  /** Null for one that it removed. */
  readonly rows: readonly (readonly [row: string, content: Uint8Array | null])[];
}

const prefix = 'change/';
const digits = 16;
const keptMs = 30 * 86_400_000;
/** Each change removes some old ones. */
const removedAtOnce = 10;
const rowsAtOnce = 500;

export function changeRowOf(revision: number): string {
  return prefix + String(revision).padStart(digits, '0');
}

export function encodeChange(change: LoggedChange): Buffer {
  return pack(change);
}

/** Removals of changes that are old and that the archive has. */
export function expiredChanges(store: RowStore, nowMs: number, archivedRevision: number): [string, null][] {
  const expired: [string, null][] = [];
  for (const [row, content] of store.rowsFrom(prefix, prefix)) {
    const { revision, timeMs } = unpack(content) as LoggedChange;
    if (revision > archivedRevision || timeMs > nowMs - keptMs) break;
    expired.push([row, null]);
    if (expired.length === removedAtOnce) break;
  }
  return expired;
}

/** The changes after `revision` that are kept, as they go into a file. */
export function* changesAfter(store: RowStore, revision: number): Generator<Sequenced & LoggedChange> {
  for (const [, bytes] of store.rowsFrom(prefix, changeRowOf(revision + 1))) yield sequenced(bytes);
}

function sequenced(bytes: Uint8Array): Sequenced & LoggedChange {
  const change = unpack(bytes) as LoggedChange;
  return { ...change, firstSequence: change.after + 1, lastSequence: change.revision, bytes };
}

/** All rows of a directory but its log, as blocks of a file. */
export function* directoryBlocks(store: RowStore): Generator<Block> {
  let rows: [string, Uint8Array][] = [];
  const block = (): Block => ({ type: 'rows', bytes: pack(rows) });
  for (const row of store.rowsFrom('', '')) {
    if (row[0].startsWith(prefix)) continue;
    rows.push(row);
    if (rows.length < rowsAtOnce) continue;
    yield block();
    rows = [];
  }
  yield block();
}

interface RestoredDirectory {
  readonly folder: string;
  readonly part: Part;
  /** Which of the rows belong to the old folder alone. */
  readonly isForeign: (row: string) => boolean;
  /** Changes after this are left out, Unix milliseconds. */
  readonly toMs: number;
}

/** The changes in files after `revision`. Throws `JournalDamaged` for a gap or damage. */
export function filedChanges(changes: LogFiles, revision: number): AsyncGenerator<Sequenced & LoggedChange> {
  return inOrder(changes, (_, bytes) => sequenced(bytes), revision, revision);
}

/**
 * Makes a directory of a backup's rows and later changes. Resolves with those left out; `gap` says
 * which of them are in no file, though others follow. Throws `EntriesMissing` for a gap before.
 */
export async function restoreDirectory(
  { folder, part, isForeign, toMs }: RestoredDirectory,
  blocks: AsyncIterable<Block>,
  changes: LogFiles,
  revision: number,
): Promise<{ readonly leftOut: readonly LoggedChange[]; readonly gap: string | null }> {
  await createRowStore(folder, part);
  const store = new RowStore(folder, part);
  const leftOut: LoggedChange[] = [];
  try {
    for await (const { bytes } of blocks) {
      const rows = unpack(bytes) as [string, Uint8Array][];
      await store.write(new Map(rows.filter(([row]) => !isForeign(row))));
    }
    for await (const change of filedChanges(changes, revision)) {
      if (change.timeMs > toMs || leftOut.length > 0) leftOut.push(change);
      else await store.write(new Map(change.rows));
    }
  } catch (error) {
    if (leftOut.length === 0 || !(error instanceof EntriesMissing)) throw error;
    return { leftOut, gap: error.gap };
  } finally {
    await store.close();
  }
  return { leftOut, gap: null };
}
