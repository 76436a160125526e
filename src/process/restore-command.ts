// The commands `payments restore`, which makes a data folder out of a backup, and `payments resume` for a stopped service.

import { CliFailure, type RestoreCommand, type Restored, type Resumed } from '../operator/cli/context.ts';
import type { ReportProgress } from '../operator/cli/verification.ts';
import { identitiesIn } from './age-identities.ts';
import { isClear } from './backup-command.ts';
import type { Config } from './config-schema.ts';
import { endPause, existingDataFolder, lockDataFolder } from './data-folder.ts';
import { recordOffline } from './offline-audit.ts';
import { refuseRunning } from './reshard.ts';
import { restore } from './restore.ts';

const warn = (message: string, fields: object) =>
  console.warn(`payments: ${message} ${JSON.stringify(fields)}`);

/** Restores into a new folder. Throws `CliFailure`, one clear line; there is no folder then. */
export async function restoreInto(
  { journal }: Config,
  command: RestoreCommand,
  onProgress: ReportProgress,
): Promise<Restored> {
  const { identityFile, ...options } = command;
  return clearly(async () => {
    const identities = identityFile === null ? [] : identitiesIn(identityFile);
    const { segmentBytesMax } = journal;
    const restored = await restore({ ...options, identities, segmentBytesMax, onProgress });
    const release = await lockDataFolder(restored.data);
    const { from, archive, target } = options;
    await recordOffline(restored.data, 'restore', { from, archive, ...target }, warn, async () => {}).finally(
      release,
    );
    return restored;
  });
}

/** Ends the pause of a folder that no service runs on. Throws `CliFailure`. */
export async function resumeStopped({ dataDir }: Config): Promise<Resumed> {
  return clearly(async () => {
    await refuseRunning(dataDir);
    const release = await lockDataFolder(dataDir);
    try {
      const folder = await existingDataFolder(dataDir);
      const { paused } = folder;
      if (paused !== null) await recordOffline(folder.path, 'resume', {}, warn, async () => endPause(folder));
      return { paused };
    } finally {
      await release();
    }
  });
}

async function clearly<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw isClear(error) ? new CliFailure((error as Error).message) : error;
  }
}
