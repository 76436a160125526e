// `payments wal truncate`: gives up the damaged batch that the log of a stopped service's shard
// ends with. The audit record keeps what the batch held, as far as it could be read.

import type { Config } from '../config/config-schema.ts';
import { lastFiledIn } from '../journal/log-files.ts';
import { truncateDamagedEnd } from '../journal/stopped-journal.ts';
import { type LogTruncation, type LostBatch, lostBatchOf } from '../operator/results/log-entry.ts';
import { archiveFolderOf, positionIn } from './archive-folder.ts';
import { type DataFolder, journalOf } from './data-folder.ts';
import { DataFolderError } from './data-folder-error.ts';
import { recordOffline, whileStopped, withClearErrors } from './folder-command.ts';
import { forgetEnd } from './sequence-notes.ts';

/** The command. Throws `CommandFailure`, one clear line; the log is then as it was. */
export function truncateStopped(
  { dataDir, logArchive }: Config,
  truncation: LogTruncation,
): Promise<LostBatch> {
  return withClearErrors(() =>
    whileStopped(dataDir, (folder) => truncate(folder, logArchive.dir, truncation)),
  );
}

async function truncate(
  folder: DataFolder,
  archiveDir: string | null,
  { shard, sequence, confirm }: LogTruncation,
): Promise<LostBatch> {
  const { path, shards } = folder;
  if (shard >= shards) throw new DataFolderError(`${path} has no shard ${shard}: it has ${shards}`);
  const lost = await truncateDamagedEnd(journalOf(folder, shard), async (end, remove) => {
    const batch = lostBatchOf(shard, end);
    if (end.sequence !== sequence)
      throw new DataFolderError(
        `the damaged batch at the end of that log is ${batch.place}, not ${shard}:${sequence}`,
      );
    if (archiveDir !== null) refuseArchived(archiveFolderOf(archiveDir, folder, shard), sequence);
    await confirm(batch);
    const { entries, ...fields } = batch;
    const params = { ...fields, objects: entries.flatMap(({ objects }) => objects) };
    await recordOffline(path, 'log.truncate', params, async () => {
      // First: a note of what is given up would refuse the next start.
      forgetEnd(folder, shard);
      await remove();
    });
    return batch;
  });
  if (lost !== null) return lost;
  throw new DataFolderError(`the log of shard ${shard} in ${path} has no damaged batch at its end`);
}

/** The log would use the same sequences again, for something else than the archive has. */
function refuseArchived(archive: string, sequence: number): void {
  // Also in a file that waits to be carried away.
  if (Math.max(positionIn(archive).sequence, lastFiledIn(archive)) < sequence) return;
  throw new DataFolderError(
    `${archive} has this batch as it was written: restore a backup with this archive, and nothing is lost`,
  );
}
