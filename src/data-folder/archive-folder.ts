// Where the archive of a data folder's log keeps each part of it, and how far it has come. A part
// has its files (journal/log-files.ts) and `position.json`, which names the last sequence that is
// archived: its file is on disk, and the command that carries files away has taken it. The log
// keeps what lies after that.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShardIdentity } from '../disk/identity.ts';
import { replaceFile } from '../disk/sync-path.ts';
import type { NotedEnd } from './sequence-notes.ts';

/** The shards of a generation, and the directory, whatever the generation. */
export type ArchivedPart = number | 'directory';

/** How far the archive of a part has come. */
export interface ArchivePosition {
  /** The last sequence that is archived. */
  readonly sequence: number;
  /** The end of the last file. Releases up to 0.1.0 did not note it. */
  readonly end?: NotedEnd | undefined;
  /** All that was acknowledged before that is archived, Unix milliseconds. Absent: not known. */
  readonly untilMs?: number | undefined;
  /** The log is known to be no continuation of what is archived. */
  readonly isOfOtherLog?: true;
}

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

/** Sequence 0 when nothing is archived, or when that can't be read: the archive starts again. */
export function positionIn(folder: string): ArchivePosition {
  try {
    const position: Partial<ArchivePosition> = JSON.parse(readFileSync(join(folder, positionFile), 'utf8'));
    const { sequence } = position;
    if (sequence !== undefined && Number.isSafeInteger(sequence)) return { ...position, sequence };
  } catch {
    // Nothing is dropped then.
  }
  return { sequence: 0 };
}

/** The last sequence of a part that its log need not keep: 0 when the archive is of another log. */
export function archivedSequence(folder: string): number {
  const { sequence, isOfOtherLog } = positionIn(folder);
  return isOfOtherLog ? 0 : sequence;
}

/** The same for a shard. */
export function archivedOfShard(archive: string, { folder: id, generation, shard }: ShardIdentity): number {
  return archivedSequence(archiveFolderOf(archive, { id, generation }, shard));
}

/** Notes durably what is archived. */
export function notePosition(folder: string, position: ArchivePosition): void {
  replaceFile(join(folder, positionFile), `${JSON.stringify(position)}\n`);
}
