// Opens the directory, and checks that all parts of the data folder belong together.

import type { Config } from '../config/config-schema.ts';
import { errorText } from '../core/errors.ts';
import { systemTimers } from '../core/scheduler.ts';
import { archivedSequence, archiveFolderOf } from '../data-folder/archive-folder.ts';
import { type DataFolder, noteLayouts, openDirectory } from '../data-folder/data-folder.ts';
import { DiskRoom } from '../data-folder/disk-space.ts';
import { checkFolder } from '../data-folder/folder-check.ts';
import { SequenceNotes } from '../data-folder/sequence-notes.ts';
import type { Owned } from '../node/own.ts';
import { type Owning, tellUnwritten } from '../node/owning.ts';
import { ServiceCrash } from '../operator/use-cases/failures.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { SupervisorMetrics } from '../telemetry/supervisor-metrics.ts';

interface Opening extends Pick<Owning, 'config' | 'ending' | 'closers' | 'logger'> {
  readonly owned: Pick<Owned, 'folder' | 'whole' | 'remote'>;
  readonly acceptLoss: boolean;
  readonly metrics: SupervisorMetrics;
}

/** The directory, the shards whose files are whole, and what notes how far the shards have come. */
export async function openParts(opening: Opening) {
  const { owned, acceptLoss, closers, logger } = opening;
  const { folder, whole } = owned;
  const directory = openDirectory(folder, directoryOptions(opening));
  closers.push(() => directory.closeStore());
  const warn = (text: string) => logger.warn(text);
  const check = { folder, directory, acceptLoss, checked: whole, warn };
  const { whole: checked, ends } = await checkFolder(check);
  noteLayouts(folder);
  const onFailure = (error: unknown) =>
    logger.error({ err: error }, 'it could not be noted how far the shards have come');
  const notes = new SequenceNotes({ folder, ends, timers: systemTimers, onFailure });
  closers.push(() => notes.close());
  return { directory, checked, notes };
}

function directoryOptions({ config, owned: { folder, remote }, ending, logger, metrics }: Opening) {
  const tell = tellUnwritten(logger, 'a change of the directory');
  const onFailure = (error: unknown, fatal: boolean) => {
    metrics.directoryFailed();
    if (!fatal) return;
    // A change is lost, and the service ends: no key could be revoked any more.
    tell(error);
    ending.reject(new ServiceCrash(`the directory can't be used any more: ${errorText(error)}`));
  };
  const options = { onFailure, isDiskFull: isFullOf(folder, logger), remote };
  return { ...options, ...archivedIn(config, folder) };
}

/** Where the log is archived, the directory keeps the changes that the archive does not have. */
function archivedIn({ logArchive: { dir } }: Config, folder: DataFolder) {
  if (dir === null) return {};
  return { archivedRevision: () => archivedSequence(archiveFolderOf(dir, folder, 'directory')) };
}

/** Whether the directory's disk is full; the log says when it becomes so. */
function isFullOf({ directory }: DataFolder, logger: Logger): () => boolean {
  const room = new DiskRoom(directory, (isFull) => {
    if (isFull) logger.error('the disk is full: changes of organizations, keys and members are refused');
    else logger.warn('the disk has room again: organizations, keys and members can be changed');
  });
  return () => room.isFull();
}
