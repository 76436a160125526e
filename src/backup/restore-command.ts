// The commands `payments restore`, which makes a data folder out of a backup, and `payments resume` for a stopped service.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config-schema.ts';
import { endPause, existingDataFolder } from '../data-folder/data-folder.ts';
import { lockDataFolder, lockExistingDataFolder } from '../data-folder/folder-lock.ts';
import { recordOffline } from '../data-folder/offline-audit.ts';
import { refuseRunning } from '../data-folder/reshard.ts';
import { CommandFailure } from '../operator/results/failures.ts';
import type {
  BackupToVerify,
  ReportProgress,
  RestoreCommand,
  Restored,
  Resumed,
  Verification,
} from '../operator/results/folder-results.ts';
import { identitiesIn } from './age-identities.ts';
import { isClear } from './backup-command.ts';
import { restore } from './restore.ts';

const warn = (message: string, fields: object) =>
  console.warn(`payments: ${message} ${JSON.stringify(fields)}`);

/** Restores into a new folder. Throws `CommandFailure`, one clear line; there is no folder then. */
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

/**
 * Verifies what a backup, and the archive where it goes on, would be restored to: it is restored into a folder beside `scratch`
 * that is removed afterwards. Throws `CommandFailure`, also when a file of it is damaged.
 */
export async function verifyBackup(
  { journal }: Config,
  { from, archive, identityFile, scratch }: BackupToVerify,
  onProgress: ReportProgress,
): Promise<Verification> {
  return clearly(async () => {
    const identities = identityFile === null ? [] : identitiesIn(identityFile);
    const parent = mkdtempSync(join(scratch, 'payments-verify-'));
    let found: Verification | null = null;
    try {
      await restore({
        from,
        archive,
        identities,
        dataDir: join(parent, 'data'),
        target: { kind: 'end' },
        segmentBytesMax: journal.segmentBytesMax,
        onProgress,
        onVerified: (verification) => {
          found = verification;
        },
      });
    } finally {
      rmSync(parent, { recursive: true, force: true });
    }
    return { ...found!, folder: archive === null ? from : `${from} and ${archive}` };
  });
}

/** Ends the pause of a folder that no service runs on. Throws `CommandFailure`. */
export async function resumeStopped({ dataDir }: Config): Promise<Resumed> {
  return clearly(async () => {
    await refuseRunning(dataDir);
    const release = await lockExistingDataFolder(dataDir);
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
    throw isClear(error) ? new CommandFailure((error as Error).message) : error;
  }
}
