// How a command about a data folder is carried out: a running service does it; where none runs, the
// folder is locked and the command is done here, between two rows of the audit record.

import { ConfigError } from '../config/settings.ts';
import { keepAlive } from '../core/scheduler.ts';
import { scrub } from '../core/secret-text.ts';
import { SecretUnreadable } from '../crypto/secret-box.ts';
import type { RemoteText } from '../disk/remote-text.ts';
import { JournalDamaged, JournalFailure } from '../journal/journal.ts';
import { Audit, putAsideWarning } from '../operator/audit/audit.ts';
import { asker, callOperator, NoServer } from '../operator/socket/operator-client.ts';
import { CommandFailure, OperatorFailure } from '../operator/use-cases/failures.ts';
import { type DataFolder, existingDataFolder, lookAtDataFolder } from './data-folder.ts';
import { DataFolderError } from './data-folder-error.ts';
import { lockExistingDataFolder } from './folder-lock.ts';

const clearErrors = [
  ConfigError,
  DataFolderError,
  JournalDamaged,
  JournalFailure,
  OperatorFailure,
  SecretUnreadable,
];

/** Errors whose message is one clear line; what the system says of a file is one, too. */
function isExpected(error: unknown): error is Error {
  return clearErrors.some((kind) => error instanceof kind) || (error instanceof Error && 'syscall' in error);
}

/** Runs a command. An error that is no bug becomes a `CommandFailure`: one clear line. */
export async function withClearErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw isExpected(error) ? new CommandFailure(error.message) : error;
  }
}

/** The lock shows on one machine that a service runs, the socket also between containers. */
async function refuseRunning(dataDir: string): Promise<void> {
  lookAtDataFolder(dataDir);
  const isRunning = await callOperator(dataDir, 'config', {}).then(
    () => true,
    (error) => !(error instanceof NoServer),
  );
  if (isRunning) throw new DataFolderError(`the service runs on ${dataDir}: stop it first`);
}

/** Does something with a folder that no service may run on, and that is locked meanwhile. */
export async function whileStopped<T>(dataDir: string, run: (folder: DataFolder) => Promise<T>): Promise<T> {
  await refuseRunning(dataDir);
  return whileLocked(dataDir, async () => run(await existingDataFolder(dataDir)));
}

/**
 * Carries out a command about a folder that no service may run on, with its rows in the audit
 * record. `remoteOf`: that record as other machines hold it, which is brought here first; left out:
 * the folder's own. Throws `CommandFailure`.
 */
export function commandWhileStopped<T>(
  dataDir: string,
  action: string,
  params: object,
  run: (folder: DataFolder) => Promise<T>,
  remoteOf: (folder: DataFolder) => RemoteText | null = () => null,
): Promise<T> {
  // What waits for PostgreSQL does not keep the process running.
  const carryOut = (folder: DataFolder) =>
    recordOffline(folder.path, action, params, () => run(folder), remoteOf(folder));
  return withClearErrors(() => keepAlive(() => whileStopped(dataDir, carryOut)));
}

/** Does something while this process has locked the folder, which must be there. */
export async function whileLocked<T>(dataDir: string, run: () => Promise<T>): Promise<T> {
  const release = await lockExistingDataFolder(dataDir);
  try {
    return await run();
  } finally {
    await release();
  }
}

export const warn = (message: string, fields?: object): void =>
  console.warn(`payments: ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`);

/** Carries out a command between its two rows of the audit record, with the folder locked. */
export async function recordOffline<T>(
  dataDir: string,
  action: string,
  params: object,
  run: () => Promise<T>,
  remote: RemoteText | null = null,
): Promise<T> {
  try {
    const audit = await Audit.open({
      dataDir,
      now: Date.now,
      // The service knows how long they are kept, and drops what is older.
      keptMs: Number.POSITIVE_INFINITY,
      scrub,
      onRow: () => {},
      remote,
      onPutAside: (aside) => warn(putAsideWarning, { aside }),
      onFailure: (error) => warn('the audit record could not be written', { err: String(error) }),
    });
    return await audit.record(asker(), action, params, run).finally(() => audit.close());
  } finally {
    await remote?.close();
  }
}
