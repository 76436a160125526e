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

/** Makes a folder, and its parents, durably; only its owner can read it. Node's recursive `mkdir` never ends below /proc. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  syncPath(dirname(path));
}
