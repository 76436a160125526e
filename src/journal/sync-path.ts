// Makes files and the entries of folders durable that were not written by the journal. It is called wherever a file is
// created or replaced that must exist after a crash of the machine.

import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes the content of a file, or the entries of a folder, durable. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
