// Makes files, folders and the entries of folders durable that were not written by the journal. It is called wherever a file is
// created or replaced that must exist after a crash of the machine.

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
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

/**
 * Makes a folder, and its parents, durably; only its owner can read it. One that is there may have been made by a process that was
 * killed before that was durable. Node's recursive `mkdir` never ends below /proc.
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

/** Somebody else's folder may not be open to this process, and a read-only file system takes no sync. */
function syncIfAllowed(path: string): void {
  try {
    syncPath(path);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
  }
}
