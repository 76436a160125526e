// The command `payments backup`: makes a backup of the configured data folder. The service may run; its audit record then
// names the backup. When it is stopped the folder is locked meanwhile, so that nothing else changes it.

import type { Config } from '../config/config-schema.ts';
import { DataFolderError, lookAtDataFolder, refuseIncomplete } from '../data-folder/data-folder.ts';
import { lockDataFolder } from '../data-folder/folder-lock.ts';
import { recordOffline } from '../data-folder/offline-audit.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { CommandFailure } from '../operator/results/failures.ts';
import type { BackedUp, BackupOptions, ReportProgress } from '../operator/results/folder-results.ts';
import { callOperator, NoServer } from '../operator/socket/operator-client.ts';
import { OperatorFailure } from '../operator/socket/protocol.ts';
import type { ParamsOf } from '../operator/use-cases/commands.ts';
import { backUp } from './backup.ts';
import { filesOf, type Manifest } from './backup-manifest.ts';
import { paceOf } from './pace.ts';
import { lowerPriority } from './priority.ts';

/** Requests go first where processors are short. */
const niceness = 19;

/** Makes a backup, or goes on with one. Throws `CommandFailure`, one clear line. */
export async function backUpConfigured(
  config: Config,
  command: BackupOptions,
  onProgress: ReportProgress,
): Promise<BackedUp> {
  lowerPriority(niceness);
  const startMs = performance.now();
  const { to, recipients } = command;
  const params = { to, recipients: [...recipients] };
  try {
    const manifest = (await isRunning(config.dataDir, params))
      ? await make(config, command, onProgress)
      : await whileStopped(config, params, () => make(config, command, onProgress));
    return {
      to,
      moment: manifest.moment!,
      files: filesOf(manifest).length,
      bytes: filesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0),
      seconds: (performance.now() - startMs) / 1000,
      encrypted: manifest.encrypted,
    };
  } catch (error) {
    throw isClear(error) ? new CommandFailure((error as Error).message) : error;
  }
}

/** Errors whose message is one clear line; what the system says of a file is one, too. */
export function isClear(error: unknown): boolean {
  return (
    error instanceof DataFolderError ||
    error instanceof JournalDamaged ||
    (error as NodeJS.ErrnoException).syscall !== undefined
  );
}

/** Whether a service runs on the folder, which has then recorded the action. */
async function isRunning(dataDir: string, params: ParamsOf<'backup'>): Promise<boolean> {
  try {
    await callOperator(dataDir, 'backup', params);
    return true;
  } catch (error) {
    if (error instanceof NoServer) return false;
    throw error instanceof OperatorFailure ? new CommandFailure(error.message) : error;
  }
}

async function whileStopped<T>(config: Config, params: object, run: () => Promise<T>): Promise<T> {
  const { path } = lookAtDataFolder(config.dataDir);
  const release = await lockDataFolder(path);
  const warn = (message: string, fields: object) =>
    console.warn(`payments: ${message} ${JSON.stringify(fields)}`);
  return recordOffline(path, 'backup', params, warn, run).finally(release);
}

function make(
  { dataDir, journal }: Config,
  { to, recipients, mibPerSecond }: BackupOptions,
  onProgress: ReportProgress,
): Promise<Manifest> {
  const folder = lookAtDataFolder(dataDir);
  refuseIncomplete(folder);
  return backUp({
    folder,
    to,
    recipients,
    segmentBytesMax: journal.segmentBytesMax,
    pace: paceOf(mibPerSecond * 1024 * 1024),
    onProgress,
  });
}
