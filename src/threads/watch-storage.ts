// What a thread does about the storage library that it uses: what that prints is logged, and the
// whole process ends as soon as the thread meets a write error inside of it (see
// disk/storage-errors.ts). Nothing is closed, flushed or answered then: everything that was
// acknowledged is on the disk, and what runs longest with a damaged heap can do most harm. Whoever
// watches the service starts it again (keep-running.mjs, systemd, the container's runtime).

import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { atWriteError, panicCode } from '../disk/storage-errors.ts';
import { type Logger, logConsole } from '../telemetry/logger.ts';

const output = 1;
const complaints = 2;
/** The thread whose commit failed says why, and ends the process long before this. */
const otherThreadMs = 100;

export function watchStorage(logger: Logger): void {
  logConsole(logger);
  atWriteError.run = (failure) => {
    const { message, cause } = failure;
    const isOfAnother = cause instanceof Error && 'code' in cause && cause.code === panicCode;
    if (isOfAnother) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, otherThreadMs);
    const text = `${message}. After an error of the disk inside the storage library nobody can trust this process: it ends at once`;
    logger.fatal({ err: failure }, text);
    // Readable lines for a terminal are formatted later.
    if (isatty(output)) writeSync(complaints, `payments: ${text}\n`);
    // No handler, no destructor and no other thread can hold this up.
    process.kill(process.pid, 'SIGKILL');
  };
}
