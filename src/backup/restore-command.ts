// The commands `payments restore`, which makes a data folder out of a backup, and `payments resume`
// for a stopped service.

import { join } from 'node:path';
import type { Config } from '../config/config-schema.ts';
import { defined } from '../core/assert.ts';
import { setPause } from '../data-folder/data-folder.ts';
import { recordOffline, whileLocked, whileStopped, withClearErrors } from '../data-folder/folder-command.ts';
import type {
  BackupToVerify,
  ReportProgress,
  RestoreCommand,
  Restored,
  Resumed,
  Verification,
} from '../operator/results/folder-results.ts';
import { identitiesIn } from './log-folders.ts';
import { restore } from './restore.ts';
import { withScratchFolder } from './scratch-folder.ts';

/** Restores into a new folder. Throws `CommandFailure`, one clear line; there is no folder then. */
export async function restoreInto(
  { journal }: Config,
  command: RestoreCommand,
  onProgress: ReportProgress,
): Promise<Restored> {
  const { identityFile, ...options } = command;
  return withClearErrors(async () => {
    const identities = identitiesIn(identityFile);
    const { segmentBytesMax } = journal;
    const restored = await restore({ ...options, identities, segmentBytesMax, onProgress });
    const { from, archive, target } = options;
    await whileLocked(restored.data, () =>
      recordOffline(restored.data, 'restore', { from, archive, ...target }, async () => {}),
    );
    return restored;
  });
}

/**
 * Verifies what a backup, and the archive where it goes on, would be restored to: it is restored
 * into a folder beside `scratch` that is removed afterwards. Throws `CommandFailure`, also when a
 * file of it is damaged.
 */
export async function verifyBackup(
  { journal }: Config,
  { from, archive, identityFile, scratch }: BackupToVerify,
  onProgress: ReportProgress,
): Promise<Verification> {
  return withClearErrors(async () => {
    const identities = identitiesIn(identityFile);
    let found: Verification | null = null;
    await withScratchFolder(scratch, 'payments-verify-', (parent) =>
      restore({
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
      }),
    );
    return {
      ...defined<Verification>(found, 'a restored folder is verified'),
      folder: archive === null ? from : `${from} and ${archive}`,
    };
  });
}

/** Ends the pause of a folder that no service runs on. Throws `CommandFailure`. */
export function resumeStopped({ dataDir }: Config): Promise<Resumed> {
  return withClearErrors(() =>
    whileStopped(dataDir, async (folder) => {
      const { path, paused } = folder;
      if (paused !== null) await recordOffline(path, 'resume', {}, async () => setPause(folder, null));
      return { paused };
    }),
  );
}
