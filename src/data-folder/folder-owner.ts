// Whose a data folder is. One user has all of it, and nobody else can read it. What another user
// makes in it, as root can, the service of its owner could not open.

import { chmodSync, closeSync, type Dirent, openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../core/errors.ts';
import { DataFolderError } from './data-folder-error.ts';

/** What a file system has in its top folder, where a disk is a data folder: for root alone. */
export const lostAndFound = 'lost+found';

const closed = ['EACCES', 'EPERM'];

function isClosed(error: unknown): boolean {
  return closed.includes(errorCode(error) ?? '');
}

/** Has `look` read a folder, or a file. Throws `DataFolderError` where this user may not. */
export function lookInto<T>(path: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (!isClosed(error)) throw error;
    const remedy = isOwn(path)
      ? `give its owner the permission again, with "chmod u+rwX ${path}"`
      : 'run the command as the user to whom it belongs';
    throw new DataFolderError(`${path} can't be opened by this user (${errorCode(error)}): ${remedy}`);
  }
}

/** False also for what lies in a folder that is closed to this user. */
function isOwn(path: string): boolean {
  try {
    return statSync(path).uid === process.geteuid?.();
  } catch {
    return false;
  }
}

/** `file` is of the folder's owner. Throws `DataFolderError` for root, if that is somebody else. */
export function refuseRoot(folder: string, file: string): void {
  const uid = statSync(file, { throwIfNoEntry: false })?.uid ?? 0;
  if (process.geteuid?.() !== 0 || uid === 0) return;
  throw new DataFolderError(
    `${folder} belongs to the user ${uid}, who could not open what root makes in it: run the command as that user, with "sudo -u"`,
  );
}

/**
 * Gives the owner the permissions that the service needs, and nobody else any, whatever those are
 * that a copy has brought back. Throws `DataFolderError` at what another user has made, and this
 * one can't open.
 */
export function makePrivate(folder: string): void {
  const own = process.geteuid?.();
  for (const [path, stats] of contentOf(folder)) {
    if (stats.uid !== own && own !== undefined && !isOpenTo(path, stats)) throw ofOther(path, stats, folder);
    const wanted = (stats.mode & 0o700) | (stats.isDirectory() ? 0o700 : 0o600);
    if ((stats.mode & 0o777) === wanted) continue;
    try {
      // A folder comes before what is in it, which only then can be looked at.
      chmodSync(path, wanted);
    } catch {
      // Only a file's owner can do this, and the process may be able to use it in any case.
    }
  }
}

/** A folder and all of the service below it, but for what is removed meanwhile. */
function* contentOf(folder: string): Generator<[path: string, stats: Stats]> {
  const ofFolder = statSync(folder, { throwIfNoEntry: false });
  if (ofFolder === undefined) return;
  yield [folder, ofFolder];
  for (const entry of entriesOf(folder)) {
    if (entry.name === lostAndFound) continue;
    const path = join(folder, entry.name);
    // A folder to which a link leads is not looked into.
    if (entry.isDirectory()) {
      yield* contentOf(path);
      continue;
    }
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined) yield [path, stats];
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function isOpenTo(path: string, stats: Stats): boolean {
  try {
    if (stats.isDirectory()) readdirSync(path);
    else closeSync(openSync(path, 'r+'));
    return true;
  } catch (error) {
    return !isClosed(error);
  }
}

function ofOther(path: string, { uid }: Stats, folder: string): DataFolderError {
  return new DataFolderError(
    `${path} belongs to the user ${uid}, and this is the user ${process.geteuid?.()}: give this user all of ${folder}, with "chown -R"`,
  );
}
