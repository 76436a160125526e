// The data folder: its parts, its number of shards, and whose it is. One process at a time uses it,
// and only its owner can read it. `format.json` names the active generation of the shards' folders
// (`shard-0` …, after a reshard `generation-1/shard-0` …), and is replaced in one step; other
// generations are left over, and whoever opens the folder removes them. Beside them lie
// `directory/`, `audit/`, `sequences` (sequence-notes.ts), `lock`, and `request-logs/`, without
// which the folder is whole. The directory, logs and checkpoints have labels (disk/identity.ts).

import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { defined } from '../core/assert.ts';
import { errorCode, isFullDisk } from '../core/errors.ts';
import { Directory } from '../directory/directory.ts';
import { createDirectory, type DirectoryStoreOptions } from '../directory/directory-store.ts';
import { formatFile, type Part, type ShardIdentity } from '../disk/identity.ts';
import { partsOfRowStore } from '../disk/row-store.ts';
import { makeFolder, newSuffix, replaceFile, syncPath } from '../disk/sync-path.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import { createJournal, foldersOfJournal, layoutVersions, partsOfJournal } from '../journal/open-journal.ts';
import { shardsMax } from '../shard/shard-map.ts';
import { DataFolderError } from './data-folder-error.ts';
import { lookInto, lostAndFound, makePrivate, refuseRoot } from './folder-owner.ts';

interface Format {
  readonly service: 'payments-service';
  readonly version: 2;
  /** 32 hexadecimal digits. A copy of the folder has the same id. */
  readonly id: string;
  readonly shards: number;
  /** How often the folder was resharded. */
  readonly generation: number;
  /** Whether all parts have been made. A part that is missing after that was lost. */
  readonly complete: boolean;
  /** The newest layout of each kind of record, which an older service may not be able to read. */
  readonly layouts: Layouts;
  /** Why the folder is paused; absent in the file when it is not. */
  readonly paused: Paused | null;
}

/**
 * A folder that was restored is paused: what it holds may be in the past, so its service changes
 * nothing, sends no webhooks and calls no networks until an operator resumes it.
 */
export interface Paused {
  /** ISO 8601. */
  readonly since: string;
  readonly reason: string;
}

export type Layouts = Readonly<Record<string, number>>;

/** The file that a process locks while it uses the folder (see folder-lock.ts). */
export const lockFile = 'lock';
/** What a folder has until all of it is restored. */
const unfinishedFile = 'restore.unfinished';
/** What may be in a future data folder: from a start that was killed, or of a file system. */
const harmless = [formatFile + newSuffix, lockFile, lostAndFound];

export interface DataFolder {
  readonly path: string;
  readonly id: string;
  readonly shards: number;
  readonly generation: number;
  readonly paused: Paused | null;
  /** Organizations and keys. */
  readonly directory: string;
  /** The label that the directory must have. A reshard does not change it. */
  readonly directoryPart: Part;
  shardDir(number: number): string;
  /** The identity that a shard's parts must have. */
  shardIdentity(number: number): ShardIdentity;
}

/**
 * Makes sure that the folder exists, and that only its owner can open it and what this process
 * makes. Throws `DataFolderError`, also for a folder of something else, which stays as it is.
 */
export function prepareDataFolder(path: string): void {
  process.umask(0o077);
  makeDataFolder(path);
  readFormat(path);
  refuseRoot(path, join(path, formatFile));
  makePrivate(path);
}

/** A service whose folders lie on several machines. */
export type SharedService = Pick<Format, 'id' | 'shards' | 'generation'>;

/** Whether a data folder is at a path, or is being made there. Throws `DataFolderError`. */
export function hasDataFolder(path: string): boolean {
  return readFormat(path) !== null;
}

/**
 * Opens the folder, which this process has locked. With `configuredShards` 0 the folder keeps its
 * number of shards, and a new one gets `defaultShards`. A new one of a `shared` service becomes
 * another folder of that service. Throws `DataFolderError`.
 */
export async function openDataFolder(
  path: string,
  configuredShards: number,
  defaultShards: number,
  shared: SharedService | null = null,
): Promise<DataFolder> {
  const format = readFormat(path);
  const found = format ?? shared;
  if (found !== null && configuredShards !== 0 && configuredShards !== found.shards) {
    throw new DataFolderError(
      `${path} is laid out for ${found.shards} shards and the configuration asks for ${configuredShards}: ` +
        `set PAYMENTS_SHARDS=${found.shards}, or move the data with "payments reshard --shards ${configuredShards}" while the service is stopped`,
    );
  }
  if (format !== null) refuseNewer(path, format.layouts);
  const made =
    shared === null ? newFormat(configuredShards || defaultShards, null) : { ...shared, paused: null };
  const folder = folderOf(path, format ?? made);
  // A reshard that was killed may have activated its generation.
  if (format !== null) syncPath(path);
  if (format?.complete) refuseIncomplete(folder);
  else await makeParts(folder);
  removeOtherGenerations(path, folder.generation);
  return folder;
}

/** Call it before any record is written: it notes durably which layouts this version writes. */
export function noteLayouts(folder: DataFolder): void {
  const { layouts } = defined(readFormat(folder.path), 'an open folder has its format');
  if (Object.entries(layoutVersions).some(([kind, version]) => layouts[kind] !== version))
    writeFormat(folder, true);
}

/** They would otherwise be noticed when a record is read, long after the start. */
export function refuseNewer(path: string, layouts: Layouts): void {
  const newer = Object.entries(layouts).flatMap(([kind, version]) =>
    version > (layoutVersions[kind] ?? 0) ? [kind] : [],
  );
  if (newer.length === 0) return;
  throw new DataFolderError(
    `${path} was written by a newer version of the service, which has another layout of ${newer.join(', ')}: ` +
      'start that version, or restore the backup from before the upgrade',
  );
}

/** Opens the folder's directory. Throws `JournalDamaged`. */
export function openDirectory(
  { directory: folder, directoryPart: part }: DataFolder,
  options: Omit<DirectoryStoreOptions, 'folder' | 'part' | 'now'> = {},
): Directory {
  return new Directory({ folder, part, now: Date.now, ...options });
}

/** Opens the folder's directory for as long as `use` takes. */
export async function withDirectory<T>(
  folder: DataFolder,
  use: (directory: Directory) => Promise<T>,
): Promise<T> {
  const directory = openDirectory(folder);
  try {
    return await use(directory);
  } finally {
    await directory.closeStore();
  }
}

/** The journal of a shard, as it is opened. */
export function journalOf({ shardDir, shardIdentity }: DataFolder, number: number) {
  return { dir: shardDir(number), identity: shardIdentity(number), indexRowsOf };
}

export function shardNumbers({ shards }: Pick<DataFolder, 'shards'>): number[] {
  return Array.from({ length: shards }, (_, number) => number);
}

/** Makes the parts of a new folder. An earlier start may have made some of them. */
async function makeParts(folder: DataFolder): Promise<void> {
  writeFormat(folder, false);
  // One that is there may be half made, and has no organization yet.
  await emptyDirectory(folder);
  for (const number of shardNumbers(folder))
    await createJournal(folder.shardDir(number), folder.shardIdentity(number));
  writeFormat(folder, true);
}

/** Makes the directory of a folder an empty one. */
export async function emptyDirectory({ directory, directoryPart }: DataFolder): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  await createDirectory(directory, directoryPart);
}

/** Refuses a folder in which a shard has lost its folder, or its log. */
export function refuseWithoutLogs(folder: DataFolder): void {
  const logs = shardDirsOf(folder).flatMap((dir) => [dir, foldersOfJournal(dir).log]);
  refuseMissing(folder, logs);
}

/** Refuses a folder that lacks a part: an empty one would forget payments or lock merchants out. */
export function refuseIncomplete(folder: DataFolder): void {
  const { path, directory, shards, shardDir } = folder;
  if (existsSync(shardDir(shards))) {
    throw new DataFolderError(
      `${join(path, formatFile)} names ${shards} shards, but ${shardDir(shards)} exists: restore all of ${path} from a backup`,
    );
  }
  const parts = [...partsOfRowStore(directory), ...shardDirsOf(folder).flatMap(partsOfJournal)];
  refuseMissing(folder, parts);
}

function refuseMissing({ path }: DataFolder, parts: readonly string[]): void {
  const missing = parts.find((part) => !existsSync(part));
  if (missing !== undefined)
    throw new DataFolderError(`${missing} is missing: restore all of ${path} from a backup`);
}

export function shardDirsOf(folder: DataFolder): string[] {
  return shardNumbers(folder).map(folder.shardDir);
}

/** Opens a folder that must exist, with its own number of shards. Throws `DataFolderError`. */
export async function existingDataFolder(path: string): Promise<DataFolder> {
  return openDataFolder(path, 0, lookAtDataFolder(path).shards);
}

/** What to do about a folder of something else. */
const remedies = {
  start: '. Choose an empty one with PAYMENTS_DATA_DIR',
  command: ': name that with --data-dir, and a backup with --from',
} as const;

/** Null when there is none. Throws `DataFolderError`. */
export function folderIdOf(path: string): string | null {
  return existsSync(path) ? (readFormat(path)?.id ?? null) : null;
}

/** The folder with its next generation of shards, which is not active yet. */
export function nextGeneration({ path, id, generation, paused }: DataFolder, shards: number): DataFolder {
  return folderOf(path, { id, shards, generation: generation + 1, paused });
}

/** Activates a generation in one durable step, and removes the others. */
export function activate(folder: DataFolder): void {
  syncPath(folder.path);
  writeFormat(folder, true);
  rmSync(join(folder.path, unfinishedFile), { force: true });
  removeOtherGenerations(folder.path, folder.generation);
}

/** A folder to be, paused once it is active. Throws `DataFolderError` when something is there. */
export function newDataFolder(path: string, shards: number, paused: Paused): DataFolder {
  makeEmptyFolder(path);
  return folderOf(path, newFormat(shards, paused));
}

/** A folder to be of a shared service. Throws `DataFolderError` when something lies there. */
export function anotherDataFolder(path: string, service: SharedService): DataFolder {
  makeEmptyFolder(path);
  return folderOf(path, { ...service, paused: null });
}

function makeEmptyFolder(path: string): void {
  refuseUnfinished(path);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder && readdirSync(path).some((name) => !harmless.includes(name)))
    throw new DataFolderError(`${path} is not empty: name a folder that does not exist yet`);
  prepareDataFolder(path);
  writeFileSync(join(path, unfinishedFile), '', { flush: true, mode: 0o600 });
}

function refuseUnfinished(path: string): void {
  // A crash behind the last step of a restore leaves the mark in a folder that is whole.
  if (!existsSync(join(path, unfinishedFile)) || existsSync(join(path, formatFile))) return;
  throw new DataFolderError(
    `${path} holds a restore that was ended in the middle, or is still under way: ` +
      'if no process is at it any more, remove all that is in the folder, and restore again',
  );
}

/** Removes all of a folder that was to be one. */
export function emptyFolder(path: string): void {
  for (const name of readdirSync(path))
    if (!harmless.includes(name)) rmSync(join(path, name), { recursive: true, force: true });
}

/** The active layout of a folder, for a look that changes nothing. Throws `DataFolderError`. */
export function lookAtDataFolder(path: string): DataFolder {
  const format = existsSync(path) ? readFormat(path, 'command') : null;
  if (format === null) throw new DataFolderError(`there is no data folder ${path}: name it with --data-dir`);
  return folderOf(path, format);
}

/** Pauses a folder, or ends its pause, durably. */
export function setPause(folder: DataFolder, paused: Paused | null): void {
  writeFormat({ ...folder, paused }, true);
}

function folderOf(
  path: string,
  format: Pick<DataFolder, 'id' | 'shards' | 'generation' | 'paused'>,
): DataFolder {
  const { id, shards, generation, paused } = format;
  const parent = generation === 0 ? path : join(path, `generation-${generation}`);
  const shardDir = (number: number) => join(parent, `shard-${number}`);
  return {
    path,
    id,
    shards,
    generation,
    paused,
    directory: join(path, 'directory'),
    directoryPart: { folder: id, generation: 0, part: 'directory' },
    shardDir,
    shardIdentity: (shard) => ({ folder: id, generation, shard }),
  };
}

function removeOtherGenerations(path: string, current: number): void {
  for (const name of readdirSync(path)) {
    const [, generation, shard] = /^(?:generation-(\d+)|shard-(\d+))$/.exec(name) ?? [];
    const isOther =
      shard !== undefined ? current > 0 : generation !== undefined && Number(generation) !== current;
    if (isOther) rmSync(join(path, name), { recursive: true });
  }
}

function makeDataFolder(path: string): void {
  try {
    makeFolder(path);
    // Fails with ENOTDIR for what is no folder.
    lookInto(path, () => readdirSync(path));
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    const code = errorCode(error);
    const reason = code === 'ENOTDIR' ? 'is not a folder' : `can't be written (${code})`;
    const another = `${isFullDisk(error) ? 'make room, or ' : ''}choose another with PAYMENTS_DATA_DIR`;
    const again =
      'see what its disk and its permissions say (dmesg, mount), and start on it again: it has all that was acknowledged';
    const remedy = existsSync(join(path, formatFile)) ? again : another;
    throw new DataFolderError(`the data folder ${path} ${reason}: ${remedy}`);
  }
}

function readFormat(path: string, what: keyof typeof remedies = 'start'): Format | null {
  const file = join(path, formatFile);
  const names = lookInto(path, () => readdirSync(path));
  if (!names.includes(formatFile)) {
    refuseUnfinished(path);
    const isForeign = (name: string) => !name.startsWith('operator.') && !harmless.includes(name);
    const foreign = names.find(isForeign);
    if (foreign === undefined) return null;
    throw new DataFolderError(
      `${path} has ${foreign} and no ${formatFile}: it is not a data folder of this service${remedies[what]}`,
    );
  }
  let format: Partial<Format> | null;
  try {
    format = JSON.parse(lookInto(file, () => readFileSync(file, 'utf8')));
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    throw new DataFolderError(`${file} can't be read: restore all of ${path} from a backup`);
  }
  const { service, version, id, shards, generation = 0, complete = true } = format ?? {};
  if (service !== 'payments-service' || version !== 2 || !isWhole(shards) || !isId(id)) {
    throw new DataFolderError(`${file} was written by another program or version: use the one that wrote it`);
  }
  if (shards < 1 || shards > shardsMax || !isWhole(generation) || generation < 0)
    throw new DataFolderError(
      `${file} is damaged: it names ${shards} shards, of 1 to ${shardsMax}, in generation ${generation}. ` +
        `Restore all of ${path} from a backup`,
    );
  const { layouts = {}, paused = null } = format ?? {};
  return { service, version, id, shards, generation, complete, layouts, paused };
}

function newFormat(shards: number, paused: Paused | null) {
  return { id: randomBytes(16).toString('hex'), shards, generation: 0, paused };
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{32}$/.test(id);
}

function writeFormat({ path, id, shards, generation, paused }: DataFolder, complete: boolean): void {
  const service = { service: 'payments-service', version: 2 } satisfies Partial<Format>;
  const layout = { id, shards, generation, complete, layouts: layoutVersions };
  const format = { ...service, ...layout, ...(paused !== null && { paused }) };
  replaceFile(join(path, formatFile), `${JSON.stringify(format)}\n`);
}
