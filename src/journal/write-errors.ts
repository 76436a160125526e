// What follows upon a write error inside the storage library. When the disk refuses a write, `mdb_page_flush` of lmdb 3.5.6 writes
// its message past the end of 100 bytes on the heap, which all threads of the process share. So nobody can trust the memory of
// such a process: the service ends, all shards at once, and is started again. Each of its threads that writes says so here. A
// command ends of the error by itself.

import type { JournalFailure } from './journal.ts';

let end: (failure: JournalFailure) => void = () => {};

/** `handle` hears of a write error inside the library on this thread, before anybody else. It should not return. */
export function onWriteError(handle: (failure: JournalFailure) => void): void {
  end = handle;
}

/** What LMDB answers to everything, reads too, after a commit that failed, until all have closed the environment. */
export const panicCode = -30795;

/** Whether the library has met an error of the disk: it gives the system's number for it, or says that there was one before. */
export function isWriteError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && (code > 0 || code === panicCode);
}

/** To be called with the failure that a write error is told as. */
export function tellWriteError(failure: JournalFailure): void {
  end(failure);
}
