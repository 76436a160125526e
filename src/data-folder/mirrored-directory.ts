// The directory of a data folder whose log other machines hold, too: they hold the directory as
// well, and the folder has its mirror.

import { endMirror, mirroredEnd, openMirror } from '../directory/directory-mirror.ts';
import type { RemoteRows } from '../disk/remote-rows.ts';
import { RowStore } from '../disk/row-store.ts';
import { isMirror } from '../journal/open-journal.ts';
import { type DataFolder, shardDirsOf } from './data-folder.ts';
import { DataFolderError } from './data-folder-error.ts';

/** Takes the directory, and brings the mirror up to date. Rejects with `JournalDamaged`. */
export function mirrorDirectory(remote: RemoteRows, folder: DataFolder): Promise<void> {
  // Earlier versions had the log there, and the directory in the folder alone.
  const giving = shardDirsOf(folder).some(isMirror) ? 'first' : 'never';
  return withRows(folder, (rows) => openMirror(remote, rows, giving));
}

/** Has the others hold the directory, in the place of one that is not its beginning. */
export function giveDirectory(remote: RemoteRows, folder: DataFolder): Promise<void> {
  return withRows(folder, (rows) => openMirror(remote, rows, 'always'));
}

/** Brings the directory up to date, and has the folder alone hold it. */
export function takeDirectoryBack(remote: RemoteRows, folder: DataFolder): Promise<void> {
  return withRows(folder, async (rows) => {
    await openMirror(remote, rows, 'first');
    await endMirror(rows);
  });
}

const remedies = {
  start:
    ': set PAYMENTS_JOURNAL_URL, or have the folder hold the log alone with "payments export --from-postgresql"',
  /** No setting lets it write to a mirror. */
  command:
    ', and this command writes to a folder that holds the log alone: ' +
    'run "payments export --from-postgresql" first ("Moving there and back" in docs/operations.md)',
} as const;

/** Throws `DataFolderError`: a change that the folder alone has would be lost. */
export async function refuseMirror(folder: DataFolder, what: keyof typeof remedies): Promise<void> {
  if (await isMirrored(folder))
    throw new DataFolderError(`${folder.path} is the mirror of a log in PostgreSQL${remedies[what]}`);
}

async function isMirrored(folder: DataFolder): Promise<boolean> {
  if (shardDirsOf(folder).some(isMirror)) return true;
  return withRows(folder, async (rows) => mirroredEnd(rows) !== null);
}

async function withRows<T>(
  { directory, directoryPart }: DataFolder,
  use: (rows: RowStore) => Promise<T>,
): Promise<T> {
  const rows = new RowStore(directory, directoryPart);
  try {
    return await use(rows);
  } finally {
    await rows.close();
  }
}
