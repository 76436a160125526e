// The exit code of a run of tests.

import type { run } from 'node:test';

/** Sets the process's exit code: 0 when the run has come to its end and nothing in it failed. */
export function setExitCode(events: ReturnType<typeof run>): void {
  process.exitCode = 1;
  // Of a suite with a hook that fails, or a file that can't be loaded, no test needs to fail.
  let failed = false;
  events.on('test:fail', () => {
    failed = true;
  });
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined && success && !failed) process.exitCode = 0;
  });
}
