// LMDB environments: how they are opened and written, and what their errors mean.
//
// `overlappingSync` is off: a commit that has resolved is on disk. `eventTurnBatching` is off,
// because with it a failed commit rejects a promise inside the library that nobody can handle; each
// transaction is explicit instead. Two threads may have the same environment open, each with an
// object of its own; two processes must not, or commits are lost (see environment-file.ts).

import { existsSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { type Database, type Key, open, type RootDatabase } from 'lmdb';
import { assert } from '../core/assert.ts';
import { isFullDisk } from '../core/errors.ts';
import { type CheckDepth, fileDefect } from './file-check.ts';
import { checkLabel, encodeLabel, type Part } from './identity.ts';
import { atWriteError, isWriteError, JournalDamaged, JournalFailure, panicCode } from './storage-errors.ts';
import { syncPath } from './sync-path.ts';

export type Environment = RootDatabase<Buffer, number>;
/** A named database of an environment, with keys in byte order. */
export type Table = Database<Buffer, Uint8Array>;

/** The key of an environment's label. The keys of a log, which are sequences, come after it. */
export const labelKey = 0;

interface EnvironmentOptions {
  readonly folder: string;
  readonly part: Part;
  /** Address space to reserve, bytes. LMDB enlarges it when the file outgrows it, which is slow. */
  readonly mapSize: number;
  readonly readOnly?: boolean;
  readonly check: CheckDepth;
}

/**
 * Opens an environment. What a killed process has left is seen before it is durable, so a writer
 * syncs file and folder first. Throws `JournalDamaged`, or `ForeignPart` when the folder has
 * another part.
 */
export function openEnvironment(options: EnvironmentOptions): Environment {
  const { folder, part } = options;
  const defect = fileDefect(dataFile(folder), options.check);
  if (defect !== null) throw new JournalDamaged(`${dataFile(folder)} is damaged: ${defect}`);
  const environment = guardRead(folder, () =>
    openUnchecked(folder, options.mapSize, options.readOnly ?? false),
  );
  try {
    checkLabel(
      folder,
      guardRead(folder, () => environment.get(labelKey)),
      part,
    );
  } catch (error) {
    void environment.close();
    throw error;
  }
  if (options.readOnly !== true) [dataFile(folder), folder].forEach(syncPath);
  return environment;
}

/** Creates an environment, under its name once it is on disk. Rejects with `JournalFailure`. */
export async function createEnvironment(folder: string, mapSize: number, part: Part): Promise<void> {
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const environment = guardWrite(unfinished, () => openUnchecked(unfinished, mapSize, false));
  try {
    guardWrite(unfinished, () => environment.putSync(labelKey, encodeLabel(part)));
  } finally {
    await environment.close();
  }
  syncPath(dataFile(unfinished));
  syncPath(unfinished);
  renameSync(unfinished, folder);
  syncPath(dirname(folder));
}

function openUnchecked(folder: string, mapSize: number, readOnly: boolean): Environment {
  return open<Buffer, number>({
    // The file is named, because the library remembers the last environment of each base name.
    path: dataFile(folder),
    noSubdir: true,
    mapSize,
    readOnly,
    encoding: 'binary',
    overlappingSync: false,
    eventTurnBatching: false,
    commitDelay: 0,
    maxDbs: 32,
  });
}

/** Opens a named database, which is created if the environment is not open for reading only. */
export function openTable(environment: Environment, name: string): Table {
  const options = { name, encoding: 'binary', keyEncoding: 'binary' } as const;
  return guardWrite(folderOf(environment), () => environment.openDB<Buffer, Uint8Array>(options));
}

/** The bytes of its file that an environment uses. The file may be longer. */
export function usedBytes(environment: Environment): number {
  const { lastPageNumber, pageSize } = environment.getStats() as Stats;
  return (lastPageNumber + 1) * pageSize;
}

export function rowsIn(table: Table): number {
  return (table.getStats() as Stats).entryCount;
}

export function pageBytesOf(environment: Environment): number {
  return (environment.getStats() as Stats).pageSize;
}

/** The statistics that are used here, which the library's types don't describe. */
interface Stats {
  readonly lastPageNumber: number;
  readonly pageSize: number;
  readonly entryCount: number;
}

export function dataFile(folder: string): string {
  return join(folder, 'data.mdb');
}

/** What helps where nothing but a backup has what is damaged. */
export const restoreAdvice = 'Restore the data folder from a backup, with "payments restore"';

export function damagedFile(file: string, defect: string): JournalDamaged {
  return new JournalDamaged(`${file} is damaged: ${defect}. ${restoreAdvice}`);
}

/**
 * Runs `write`, which puts and removes rows, as one transaction on this thread: it is on disk when
 * this returns. Throws `JournalFailure`; the environment must then be opened again.
 */
export function commit<K extends Key>(environment: RootDatabase<Buffer, K>, write: () => void): void {
  try {
    environment.transactionSync(write);
  } catch (error) {
    throw commitFailure(error, folderOf(environment));
  }
}

/**
 * Commits rows whose keys are greater than every existing key, in a thread of the library. They are
 * durable when this resolves. Rejects with `JournalFailure`.
 */
export async function commitAppended(
  environment: Environment,
  rows: readonly (readonly [key: number, value: Buffer])[],
): Promise<void> {
  const put = environment.put.bind(environment) as unknown as AppendingPut;
  const appended: Promise<boolean>[] = [];
  const committed = environment.batch(() => {
    for (const [key, value] of rows) {
      appended.push(put(key, value, { append: true }));
    }
  });
  try {
    const results = await Promise.all([committed, ...appended]);
    assert(
      results.every((result) => result),
      'keys of the log ascend',
    );
  } catch (error) {
    throw await asJournalFailure(error, environment);
  }
  environment.resetReadTxn();
}

/** The library's `put` takes these options, although its types have them for `putSync` only. */
type AppendingPut = (key: number, value: Buffer, options: { append: true }) => Promise<boolean>;

async function asJournalFailure(error: unknown, environment: Environment): Promise<JournalFailure> {
  // The commit's promise rejects without a cause. Another promise, `commitError`, rejects with it.
  const behind = (error as { commitError?: Promise<never> }).commitError;
  const cause = behind === undefined ? error : await behind.catch((reason: unknown) => reason);
  return commitFailure(cause, folderOf(environment));
}

/** Throws `JournalFailure` when the disk refuses what the library writes. */
function guardWrite<T>(folder: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw isWriteError(error) ? commitFailure(error, folder) : error;
  }
}

/** It ends the service when the disk is at fault (see storage-errors.ts). */
function commitFailure(cause: unknown, folder: string): JournalFailure {
  const failure = journalFailure(cause, folder);
  if (isWriteError(cause)) atWriteError.run(failure);
  return failure;
}

function folderOf(environment: object): string {
  return dirname((environment as { path: string }).path);
}

export function journalFailure(cause: unknown, folder: string): JournalFailure {
  const diskFull = isDiskFull(cause, folder);
  const reason = diskFull ? 'the disk is full' : (cause as Error).message;
  // Nobody knows what is on a disk that has refused a write.
  return new JournalFailure(`Could not write to ${folder}: ${reason}`, {
    diskFull,
    outcome: 'unknown',
    cause,
  });
}

const { ENOSPC, EDQUOT, EFBIG, EIO } = constants.errno;
const mapFull = -30792;
/** With less free space the disk counts as full: one transaction may need more. */
const roomBytesMin = 16 << 20;

function isDiskFull(cause: unknown, folder: string): boolean {
  if (isFullDisk(cause)) return true;
  const { code, errno } = cause as { code?: unknown; errno?: unknown };
  const number = typeof code === 'number' ? code : Math.abs(Number(errno));
  if (number === ENOSPC || number === EDQUOT || number === mapFull) return true;
  if (number !== EIO && number !== EFBIG) return false;
  // LMDB reports a short write, which found too little space, as an I/O error. A folder that could
  // not be made does not exist, but the one above it does.
  const { bavail, bsize } = statfsSync(existsSync(folder) ? folder : dirname(folder));
  return bavail * bsize < roomBytesMin;
}

const damageCodes = new Map([
  [-30797, 'MDB_PAGE_NOTFOUND'],
  [-30796, 'MDB_CORRUPTED'],
  [-30794, 'MDB_VERSION_MISMATCH'],
  [-30793, 'MDB_INVALID'],
  [-30784, 'MDB_INCOMPATIBLE'],
  [-30782, 'MDB_BAD_TXN'],
]);

/**
 * Runs a read of the environment in `folder`. What LMDB finds damaged, or a key that can't be
 * decoded, is thrown as `JournalDamaged`; a read that LMDB refuses after a failed commit, of any
 * thread, as `JournalFailure`.
 */
export function guardRead<T>(folder: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code } = error as { code: number };
    if (code === panicCode) throw commitFailure(error, folder);
    const name = damageCodes.get(code) ?? (error instanceof RangeError ? error.message : undefined);
    if (name === undefined) throw error;
    throw new JournalDamaged(`${dataFile(folder)} is damaged: ${name}`, { cause: error });
  }
}
