// Makes files, folders and the entries of folders durable that were not written by the journal and
// must exist after a crash of the machine.

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes the content of a file, or the entries of a folder, durable. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Ends the name of a file that takes the place of another one when it is whole. */
export const newSuffix = '.new';

/** Makes or replaces a file in one durable step; only its owner can read it. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  writeFileSync(path + newSuffix, content, { flush: true, mode: 0o600 });
  renameSync(path + newSuffix, path);
  syncPath(dirname(path));
}

/**
 * Makes a folder, and its parents, durably; only its owner can read it. One that is there may have
 * been made by a process that was killed too early. Node's recursive `mkdir` never ends below
 * /proc.
 */
export function makeFolder(path: string): void {
  const parent = dirname(path);
  if (existsSync(path)) {
    syncIfAllowed(parent);
    return;
  }
  makeFolder(parent);
  mkdirSync(path, { mode: 0o700 });
  syncPath(parent);
}

/** Somebody else's folder may be closed to this process, and a read-only disk takes no sync. */
function syncIfAllowed(path: string): void {
  try {
    syncPath(path);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
  }
}
