// The directory's rows as the mirror of those that other machines hold (disk/remote-rows.ts). The
// mirror is never ahead; it is when it has what the others have lost. A row of its own says how far
// it has come.

import { pack, unpack } from 'msgpackr';
import type { RemoteRows, RowChanges, RowsEnd } from '../disk/remote-rows.ts';
import type { RowStore } from '../disk/row-store.ts';
import { JournalDamaged } from '../disk/storage-errors.ts';

const endRow = 'mirrored';

/** How far the store mirrors remote rows; null: it holds its rows alone. */
export function mirroredEnd(store: Pick<RowStore, 'get'>): RowsEnd | null {
  const bytes = store.get(endRow);
  return bytes === undefined ? null : (unpack(bytes) as RowsEnd);
}

/** The rows of a write, together with the end that it leads to. */
export function mirroredRows(rows: RowChanges, end: RowsEnd): RowChanges {
  return new Map([...rows, [endRow, pack(end)]]);
}

/** The store alone holds its rows from now on. */
export function endMirror(store: RowStore): Promise<void> {
  return store.write(new Map([[endRow, null]]));
}

/**
 * Whether a directory that the store has alone may become the remote one: `never` unless it is
 * empty; `first`: when there is no other yet; `always`: also in the place of another.
 */
export type Giving = 'never' | 'first' | 'always';

/**
 * Takes the remote rows, and brings the store up to date with them, or gives them what the store
 * has. Rejects with `JournalDamaged` when the store is no beginning of them.
 */
export async function openMirror(remote: RemoteRows, store: RowStore, giving: Giving): Promise<void> {
  const end = await remote.acquire();
  const mirrored = mirroredEnd(store);
  const known = mirrored === null ? null : await remote.checksumAt(mirrored.sequence);
  const refusal = mirrored === null ? refusalOfOwn(store, end, giving) : divergenceOf(mirrored, end, known);
  if (refusal !== null && giving !== 'always') throw new JournalDamaged(refusal);
  if (refusal !== null || (mirrored === null && end.sequence === 0)) return giveRows(remote, store);
  // Without the checksum it is not known what was removed since, and everything has to be read.
  await catchUp(remote, store, known === null ? null : (mirrored?.sequence ?? null), end);
}

/** Why a store that is no mirror can't become one; null: it can. */
function refusalOfOwn(store: RowStore, end: RowsEnd, giving: Giving): string | null {
  const isFirst = end.sequence === 0;
  if (isNew(store) || (isFirst && giving === 'first')) return null;
  const found = isFirst
    ? 'no directory, and this data folder has one'
    : 'a directory, and this data folder has one that is not its mirror';
  return (
    `PostgreSQL has ${found}: give PAYMENTS_JOURNAL_URL the right database, or have PostgreSQL take this directory with ` +
    '"payments import --to-postgresql"'
  );
}

/** What the remote rows have lost of the mirror; null: nothing. */
function divergenceOf(mirrored: RowsEnd | null, end: RowsEnd, known: number | null): string | null {
  if (mirrored === null) return null;
  const isBeginning = mirrored.sequence <= end.sequence && (known ?? mirrored.checksum) === mirrored.checksum;
  if (isBeginning) return null;
  return (
    `PostgreSQL has lost what it had acknowledged of the directory: this mirror ends with write ${mirrored.sequence}, checksum ` +
    `${mirrored.checksum.toString(16)}, and PostgreSQL has ${end.sequence}, checksum ${(known ?? end.checksum).toString(16)}. ` +
    'A standby was promoted that had not received everything: do what docs/operations.md says under "Failing over" before ' +
    'anything else'
  );
}

/** A directory that was just made has its format, and nothing else. */
function isNew(store: RowStore): boolean {
  const [, second] = store.rowsFrom('', '');
  return second === undefined;
}

/** Makes what the store has the remote rows, in the place of all that are there. */
async function giveRows(remote: RemoteRows, store: RowStore): Promise<void> {
  const rows = new Map([...store.rowsFrom('', '')].filter(([row]) => row !== endRow));
  const end = await remote.replace(rows);
  await store.write(mirroredRows(new Map(), end));
}

/** Writes all of it in one commit: half of it would be no directory. */
async function catchUp(remote: RemoteRows, store: RowStore, from: number | null, end: RowsEnd) {
  if (from === end.sequence) return;
  const changes = new Map<string, Uint8Array | null>();
  if (from === null) for (const [row] of store.rowsFrom('', '')) changes.set(row, null);
  for await (const rows of remote.readAfter(from ?? 0))
    for (const [row, content] of rows) changes.set(row, content);
  await store.write(mirroredRows(changes, end));
}
