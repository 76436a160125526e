// The command `payments backup`: makes a backup of the configured data folder. The service may run;
// its audit record then names the backup. When it is stopped the folder is locked meanwhile, so
// that nothing else changes it.

import { join } from 'node:path';
import type { Config } from '../config/config-schema.ts';
import { defined } from '../core/assert.ts';
import { errorCode, errorText, isFullDisk } from '../core/errors.ts';
import { lookAtDataFolder, refuseIncomplete } from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { recordOffline, whileLocked, withClearErrors } from '../data-folder/folder-command.ts';
import { tryLock } from '../data-folder/folder-lock.ts';
import { checkRecipient } from '../disk/age-recipient.ts';
import { isWithin } from '../disk/is-within.ts';
import { makeFolder } from '../disk/sync-path.ts';
import type { BackedUp, BackupOptions, ReportProgress } from '../operator/results/folder-results.ts';
import { callOperator, ifNoServer } from '../operator/socket/operator-client.ts';
import { OperatorFailure } from '../operator/use-cases/failures.ts';
import { backUp, type HoldCheckpoint } from './backup.ts';
import { backupLock, filesOf, type Manifest } from './backup-manifest.ts';
import { lowerPriority, paceOf } from './pace.ts';

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
  const { dataDir } = config;
  const params = { to, recipients: [...recipients] };
  return withClearErrors(async () => {
    // A running service has recorded the action when it has answered.
    const isRunning = await callOperator(dataDir, 'backup', params).then(
      () => true,
      ifNoServer(() => false),
    );
    const run = (hold?: HoldCheckpoint) => make(config, command, hold, onProgress);
    const manifest = isRunning
      ? await run((shard) => holdServed(dataDir, shard))
      : await whileLocked(dataDir, () => recordOffline(dataDir, 'backup', params, () => run()));
    const files = filesOf(manifest);
    return {
      to,
      moment: defined(manifest.moment, 'a complete backup has its moment'),
      files: files.length,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      seconds: (performance.now() - startMs) / 1000,
      encrypted: manifest.encrypted,
    };
  });
}

async function make(
  { dataDir, journal }: Config,
  { to, recipients, mibPerSecond }: BackupOptions,
  hold: HoldCheckpoint | undefined,
  onProgress: ReportProgress,
): Promise<Manifest> {
  const folder = lookAtDataFolder(dataDir);
  refuseIncomplete(folder);
  if (isWithin(dataDir, to))
    throw new DataFolderError(
      `${to} is in the data folder, with which the backup would be lost: name a folder elsewhere`,
    );
  refuseNoRecipients(recipients);
  return alone(to, () =>
    backUp({
      folder,
      to,
      recipients,
      segmentBytesMax: journal.segmentBytesMax,
      hold,
      pace: paceOf(mibPerSecond * 1024 * 1024),
      onProgress,
    }).catch((error) => {
      throw isFullDisk(error) ? fullDiskOf(to) : error;
    }),
  );
}

/**
 * Has the service keep a checkpoint as it is. Nothing writes to one whose shard does not serve;
 * should it begin meanwhile, reading fails.
 */
async function holdServed(dataDir: string, shard: number): ReturnType<HoldCheckpoint> {
  const done = new AbortController();
  const held = Promise.withResolvers<string | null>();
  let hasEnded = false;
  const onItem = ({ folder }: { readonly folder: string }) => held.resolve(folder);
  callOperator(dataDir, 'checkpoint.hold', { shard }, { onItem, signal: done.signal }).catch((error) => {
    hasEnded = !done.signal.aborted;
    if (error instanceof OperatorFailure && error.kind === 'refused') held.resolve(null);
    else held.reject(error);
  });
  const folder = await held.promise;
  return {
    folder,
    get isLost() {
      return folder !== null && hasEnded;
    },
    release: () => done.abort(),
  };
}

function fullDiskOf(to: string): DataFolderError {
  return new DataFolderError(
    `the disk of ${to} is full: make room, and run the same command again, which goes on with the backup`,
  );
}

function refuseNoRecipients(recipients: readonly string[]): void {
  for (const recipient of recipients) {
    try {
      checkRecipient(recipient);
    } catch (error) {
      throw new DataFolderError(`${recipient} is no recipient of age: ${errorText(error)}`);
    }
  }
}

function lockOf(to: string): (() => void) | null {
  try {
    makeFolder(to);
    return tryLock(join(to, backupLock));
  } catch (error) {
    if (isFullDisk(error)) throw fullDiskOf(to);
    throw new DataFolderError(
      `no backup can be made in ${to} (${errorCode(error)}): name a folder that can be written`,
    );
  }
}

/** Two backups into one folder would write over each other's files. */
async function alone<T>(to: string, run: () => Promise<T>): Promise<T> {
  const release = lockOf(to);
  if (release === null)
    throw new DataFolderError(`another process makes a backup in ${to}: wait for it, or name another folder`);
  try {
    return await run();
  } finally {
    release();
  }
}
