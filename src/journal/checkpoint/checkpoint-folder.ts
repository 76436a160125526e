// Where a shard's checkpoint lies in its folder: in `state`, and after it was compacted in
// `state-2`, `state-3` and so on. A folder gets such a name when all of it is on disk, so the
// highest number is active, and a process that is killed leaves the old checkpoint or the new one.

import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dataFile } from '../../disk/environment.ts';
import { syncPath } from '../../disk/sync-path.ts';

/** The checkpoint's folder in a shard's folder. It need not exist. */
export function checkpointFolderIn(dir: string): string {
  return folderOf(dir, newestIn(dir));
}

/** A folder beside it, in which the next checkpoint is prepared. */
export function preparedFolderIn(dir: string): string {
  return `${folderOf(dir, newestIn(dir) + 1)}.prepared`;
}

/** Makes the prepared checkpoint the active one, durably. Returns its folder. */
export function activatePrepared(dir: string): string {
  const prepared = preparedFolderIn(dir);
  const folder = folderOf(dir, newestIn(dir) + 1);
  syncPath(dataFile(prepared));
  syncPath(prepared);
  renameSync(prepared, folder);
  syncPath(dir);
  return folder;
}

/** Removes checkpoints that were compacted, and those that were not completed. */
export function removeOtherCheckpoints(dir: string): void {
  const active = checkpointFolderIn(dir);
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (/^state(-\d+)?(\.\w+)*$/.test(name) && path !== active) rmSync(path, { recursive: true });
  }
}

function folderOf(dir: string, number: number): string {
  return join(dir, number === 1 ? 'state' : `state-${number}`);
}

/** The number of the newest checkpoint; 1 when there is none. */
function newestIn(dir: string): number {
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names.reduce((newest, name) => Math.max(newest, Number(/^state-(\d+)$/.exec(name)?.[1] ?? 1)), 1);
}
