// A folder for a while, with what a backup holds: everything of everybody, and not encrypted. So it
// is removed also when this process is ended in the middle, which no handler of a signal can do: a
// process of its own waits for the end of a pipe, which comes with this one's.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Has `use` use a new folder below `parent`, whose name begins with `prefix`, and removes it. */
export async function withScratchFolder<T>(
  parent: string,
  prefix: string,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(parent, prefix));
  // The keys of a terminal that interrupt this process do not reach it.
  const remover = spawn('/bin/sh', ['-c', 'cat; rm -rf -- "$0"', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Where there is none, the folder is removed all the same if this process is not ended.
  remover.on('error', () => {}).unref();
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    remover.stdin.destroy();
  }
}
