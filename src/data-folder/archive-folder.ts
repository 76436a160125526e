// Where the archive of a data folder's log keeps each part of it, and how far it has come. A part
// has its files (journal/log-files.ts) and `position.json`, which names the last sequence that is
// archived: its file is on disk, and the command that carries files away has taken it. The log
// keeps what lies after that.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../disk/sync-path.ts';

/** The shards of a generation, and the directory, whatever the generation. */
export type ArchivedPart = number | 'directory';

const positionFile = 'position.json';

export function archiveFolderOf(
  archive: string,
  { id, generation }: { readonly id: string; readonly generation: number },
  part: ArchivedPart,
): string {
  const folder = join(archive, id);
  return part === 'directory'
    ? join(folder, 'directory')
    : join(folder, `generation-${generation}`, `shard-${part}`);
}

/** The last sequence of a part that is archived; 0 when none is, or when that can't be read. */
export function archivedSequence(folder: string): number {
  try {
    const { sequence }: { sequence?: number } = JSON.parse(readFileSync(join(folder, positionFile), 'utf8'));
    return sequence !== undefined && Number.isSafeInteger(sequence) ? sequence : 0;
  } catch {
    // Nothing is dropped then, and the archive starts again.
    return 0;
  }
}

/** Notes durably what is archived. */
export function noteArchived(folder: string, sequence: number): void {
  replaceFile(join(folder, positionFile), `${JSON.stringify({ sequence })}\n`);
}
