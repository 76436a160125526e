// A folder that mirrors the log of other machines has a mark, so that nobody appends to the mirror
// alone: it would have what the log does not.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile, syncPath } from '../../disk/sync-path.ts';
import { JournalDamaged } from '../journal.ts';

const markIn = (dir: string) => join(dir, 'mirror');

/** `dir` is the shard's folder. */
export function isMirror(dir: string): boolean {
  return existsSync(markIn(dir));
}

export function markMirror(dir: string): void {
  if (!isMirror(dir)) replaceFile(markIn(dir), 'postgresql\n');
}

/** The folder alone holds the log from now on. */
export function unmarkMirror(dir: string): void {
  rmSync(markIn(dir), { force: true });
  syncPath(dir);
}

/** Throws `JournalDamaged`. */
export function refuseMirror(dir: string): void {
  if (!isMirror(dir)) return;
  throw new JournalDamaged(
    `${dir} is the mirror of a log in PostgreSQL: set PAYMENTS_JOURNAL_URL, or have the folder hold the log alone with ` +
      '"payments export --from-postgresql"',
  );
}
