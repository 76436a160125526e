// Makes durable what was written without the journal: files, and the entries of folders. Called wherever a file is created
// or replaced that has to be there after a crash of the machine.

import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes what a file holds, or which entries a folder has, durable. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
