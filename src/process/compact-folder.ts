// `payments compact`: gives disk space back that the checkpoints of a stopped service do not use any more, for example after
// events have left by retention. One shard after the other: each needs the room of its copy meanwhile.

import { statSync } from 'node:fs';
import { compactCheckpoint } from '../journal/compact-checkpoint.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { partsOfJournal } from '../journal/open-journal.ts';
import { CliFailure } from '../operator/cli/context.ts';
import type { Compacted } from '../operator/cli/transferred.ts';
import type { ReportProgress } from '../operator/cli/verification.ts';
import { type DataFolder, DataFolderError, existingDataFolder, lockDataFolder } from './data-folder.ts';
import { freeBytesIn, freeBytesMin } from './disk-space.ts';
import { recordOffline } from './offline-audit.ts';
import { refuseRunning } from './reshard.ts';

const warn = (message: string, fields: object = {}) =>
  console.warn(`payments: ${message} ${JSON.stringify(fields)}`);

/** The command. Throws `CliFailure`, one clear line; shards that were not compacted are as they were. */
export async function compactDataFolder(dataDir: string, onProgress: ReportProgress): Promise<Compacted> {
  try {
    await refuseRunning(dataDir);
    const release = await lockDataFolder(dataDir);
    try {
      const folder = await existingDataFolder(dataDir);
      return await recordOffline(folder.path, 'compact', {}, warn, () => compact(folder, onProgress));
    } finally {
      await release();
    }
  } catch (error) {
    const isClear = error instanceof DataFolderError || error instanceof JournalDamaged;
    throw isClear ? new CliFailure(error.message) : error;
  }
}

async function compact(folder: DataFolder, onProgress: ReportProgress): Promise<Compacted> {
  let [before, after] = [0, 0];
  for (let number = 0; number < folder.shards; number++) {
    onProgress('compacting, shards', number, folder.shards);
    refuseWithoutRoom(folder.shardDir(number));
    const sizes = await compactCheckpoint(folder.shardDir(number), folder.shardIdentity(number));
    before += sizes.before;
    after += sizes.after;
  }
  return { folder: folder.path, shards: folder.shards, bytes_before: before, bytes_after: after };
}

/** The copy may be as large as what it is made of. */
function refuseWithoutRoom(shardDir: string): void {
  const checkpoint = partsOfJournal(shardDir).at(-1)!;
  const needed = statSync(checkpoint).size + freeBytesMin;
  const free = freeBytesIn(shardDir);
  if (free >= needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
  throw new DataFolderError(
    `compacting ${checkpoint} may need ${megabytes(needed)} and there are ${megabytes(free)}: make room first`,
  );
}
