// The lock on the data folder: a lock of the kernel on the file `lock` in it. It belongs to the
// open file, so it ends with this process, however that ends, no thread and no other close of the
// file gives it up, and no child process has it, because Node closes its files in children. Only
// who can open the folder can take it, which is its owner. The file itself means nothing: a copy of
// it is not locked, and the process that it names is told to people only.

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../core/errors.ts';
import { lockFile, lookAtDataFolder, prepareDataFolder } from './data-folder.ts';
import { DataFolderError } from './data-folder-error.ts';

/** The package has no types. */
const locks: {
  /** Locks all of an open file for writing; false when somebody else has. */
  tryLock(descriptor: number): boolean;
} = createRequire(import.meta.url)('fs-native-extensions');

/**
 * Locks the folder for this process, and creates it if it does not exist. The lock ends when the
 * returned function is called, or with the process. Throws `DataFolderError` when another process
 * has the lock.
 */
export async function lockDataFolder(path: string): Promise<() => Promise<void>> {
  prepareDataFolder(path);
  const file = join(path, lockFile);
  const descriptor = locking(path, () => openLocked(file, (opened) => locks.tryLock(opened)));
  if (descriptor === null)
    throw new DataFolderError(
      `the data folder ${path} is in use by another process${holderIn(file)}: stop that one first`,
    );
  nameHolder(descriptor);
  return async () => closeSync(descriptor);
}

/** In one that is no data folder nothing is left behind. */
export async function lockExistingDataFolder(path: string): Promise<() => Promise<void>> {
  lookAtDataFolder(path);
  return lockDataFolder(path);
}

/**
 * Locks a file for this process, which makes it, and removes it when the returned function is
 * called; null when another process has it. Where a disk has no locks nobody is kept away.
 */
export function tryLock(file: string): (() => void) | null {
  const descriptor = openLocked(file, (opened) => {
    try {
      return locks.tryLock(opened);
    } catch {
      // A backup may lie on a disk of another machine.
      return true;
    }
  });
  if (descriptor === null) return null;
  return () => {
    rmSync(file, { force: true });
    closeSync(descriptor);
  };
}

/** The file, opened, made if need be, and locked by `lock`; null when another process has it. */
function openLocked(file: string, lock: (descriptor: number) => boolean): number | null {
  for (;;) {
    const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    let isKept = false;
    try {
      if (!lock(descriptor)) return null;
      // The file may have been removed meanwhile, or its folder replaced, as an import does.
      isKept = fstatSync(descriptor).ino === statSync(file, { throwIfNoEntry: false })?.ino;
      if (isKept) return descriptor;
    } finally {
      if (!isKept) closeSync(descriptor);
    }
  }
}

function locking<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    const code = errorCode(error);
    throw new DataFolderError(
      `the data folder ${path} can't be locked (${code}): choose a folder on a local disk with PAYMENTS_DATA_DIR`,
    );
  }
}

/** Nothing depends on it, so a full disk keeps nobody from starting. */
function nameHolder(descriptor: number): void {
  try {
    ftruncateSync(descriptor);
    writeSync(descriptor, `${process.pid} on ${hostname()}\n`, 0);
  } catch {}
}

function holderIn(file: string): string {
  const [holder] = /^\d{1,10} on [\w.-]{1,255}(?=\n)/.exec(readFileSync(file, 'latin1')) ?? [];
  return holder === undefined ? '' : ` (${holder})`;
}
