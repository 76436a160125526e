// The data folder: what is in it, whose it is, and how many shards it is laid out for. One process at a time uses it.
//
//   format.json   whose folder it is; names the number of shards and the generation of their folders
//   directory/    organizations and keys
//   shard-0 …     the shards' folders; after a reshard they lie in a folder of their own, `generation-1/shard-0` …
//
// Which generation is in force changes with format.json, which is replaced in one step: whatever generation it does
// not name is unfinished or left over, and removed by the next process that opens the folder.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Directory } from '../directory/directory.ts';
import { dataFile, syncPath } from '../journal/environment.ts';
import { createJournal } from '../journal/open-journal.ts';

/** What is wrong with the data folder, in one line. */
export class DataFolderError extends Error {
  override name = 'DataFolderError';
}

interface Format {
  readonly service: 'payments-service';
  readonly version: 1;
  readonly shards: number;
  /** How often the folder was resharded. */
  readonly generation: number;
  /** False until all parts have been made: from then on one that is missing was lost. */
  readonly complete: boolean;
}

const formatFile = 'format.json';
/** What may lie in a folder that is to become one: an attempt to do so, and what file systems put there. */
const harmless = ['format.json.new', 'lost+found'];

export interface DataFolder {
  readonly path: string;
  readonly shards: number;
  readonly generation: number;
  /** Organizations and keys. */
  readonly directory: string;
  shardDir(number: number): string;
}

/**
 * Takes the folder for this process, making it if need be, until the returned function is called or the process ends,
 * however it does. Throws `DataFolderError` when another process has it.
 */
export async function lockDataFolder(path: string): Promise<() => Promise<void>> {
  makeFolder(path);
  if (process.platform !== 'linux') return async () => {};
  // A name in Linux's abstract namespace: taken by one process at a time, free again the moment that it ends. The
  // operators' socket also tells whether a server runs, on every system, but two that start at once may both miss it.
  const { dev, ino } = statSync(path);
  const server = createServer().unref();
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject).listen(`\0payments-service-${dev}-${ino}`, listening.resolve);
  try {
    await listening.promise;
  } catch {
    throw new DataFolderError(`the data folder ${path} is in use by another process: stop that one first`);
  }
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/**
 * Opens the folder that this process has taken. `configuredShards` 0 takes what the folder is laid out for, or
 * `defaultShards` for a new one. Throws `DataFolderError`.
 */
export async function openDataFolder(
  path: string,
  configuredShards: number,
  defaultShards: number,
): Promise<DataFolder> {
  const format = readFormat(path);
  if (format !== null && configuredShards !== 0 && configuredShards !== format.shards) {
    throw new DataFolderError(
      `${path} is laid out for ${format.shards} shards and the configuration asks for ${configuredShards}: ` +
        `set PAYMENTS_SHARDS=${format.shards}, or move the data with "payments reshard --shards ${configuredShards}" while the service is stopped`,
    );
  }
  const shards = format?.shards ?? (configuredShards || defaultShards);
  const folder = folderOf(path, shards, format?.generation ?? 0);
  if (format?.complete) refuseIncomplete(folder);
  else await makeParts(folder);
  removeOtherGenerations(path, folder.generation);
  return folder;
}

/** Makes all parts, or those that an earlier start had no time to make. */
async function makeParts(folder: DataFolder): Promise<void> {
  writeFormat(folder, false);
  await new Directory(folder.directory, Date.now).closeStore();
  syncPath(folder.directory);
  for (const dir of shardDirsOf(folder)) await createJournal(dir);
  writeFormat(folder, true);
}

/** Nothing is put in the place of what was lost: an empty directory would lock all merchants out, an empty shard forget. */
function refuseIncomplete(folder: DataFolder): void {
  const { path, directory, shards, shardDir } = folder;
  if (existsSync(shardDir(shards))) {
    throw new DataFolderError(
      `${join(path, formatFile)} names ${shards} shards and there is ${shardDir(shards)}: restore all of ${path} from a backup`,
    );
  }
  const parts = [directory, dataFile(directory)];
  for (const dir of shardDirsOf(folder)) {
    const state = join(dir, 'state');
    parts.push(dir, join(dir, 'log'), state, dataFile(state));
  }
  const missing = parts.find((part) => !existsSync(part));
  if (missing !== undefined) {
    throw new DataFolderError(`${missing} is missing: restore all of ${path} from a backup`);
  }
}

function shardDirsOf({ shards, shardDir }: DataFolder): string[] {
  return Array.from({ length: shards }, (_, number) => shardDir(number));
}

/** The layout of a folder that exists, whatever is configured. Throws `DataFolderError`. */
export async function existingDataFolder(path: string): Promise<DataFolder> {
  const format = existsSync(path) ? readFormat(path) : null;
  if (format === null) throw new DataFolderError(`${path} is no data folder of this service`);
  return openDataFolder(path, 0, format.shards);
}

/** The folder with the next generation of shards, not in force yet. */
export function nextGeneration({ path, generation }: DataFolder, shards: number): DataFolder {
  return folderOf(path, shards, generation + 1);
}

/** Puts a generation in force, durably and in one step, and removes the others. */
export function putInForce(folder: DataFolder): void {
  syncPath(folder.path);
  writeFormat(folder, true);
  removeOtherGenerations(folder.path, folder.generation);
}

function folderOf(path: string, shards: number, generation: number): DataFolder {
  const parent = generation === 0 ? path : join(path, `generation-${generation}`);
  const shardDir = (number: number) => join(parent, `shard-${number}`);
  return { path, shards, generation, directory: join(path, 'directory'), shardDir };
}

function removeOtherGenerations(path: string, current: number): void {
  for (const name of readdirSync(path)) {
    const [, generation, shard] = /^(?:generation-(\d+)|shard-(\d+))$/.exec(name) ?? [];
    const isOther =
      shard !== undefined ? current > 0 : generation !== undefined && Number(generation) !== current;
    if (isOther) rmSync(join(path, name), { recursive: true });
  }
}

function makeFolder(path: string): void {
  try {
    make(path);
    // Fails with ENOTDIR for what is no folder.
    readdirSync(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOTDIR' ? 'is not a folder' : `can't be written (${code})`;
    throw new DataFolderError(`the data folder ${path} ${reason}: choose another with PAYMENTS_DATA_DIR`);
  }
}

/** Makes the folder and those above it, durably. Node's own way to do that never ends below /proc. */
function make(path: string): void {
  if (existsSync(path)) return;
  make(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  syncPath(dirname(path));
}

function readFormat(path: string): Format | null {
  const file = join(path, formatFile);
  if (!existsSync(file)) {
    const isForeign = (name: string) => !name.startsWith('operator.') && !harmless.includes(name);
    const foreign = readdirSync(path).find(isForeign);
    if (foreign === undefined) return null;
    throw new DataFolderError(
      `${path} holds ${foreign} and no ${formatFile}: it is not a data folder of this service. Choose an empty one with PAYMENTS_DATA_DIR`,
    );
  }
  let format: Partial<Format> | null;
  try {
    format = JSON.parse(readFileSync(file, 'utf8')) as Partial<Format> | null;
  } catch {
    throw new DataFolderError(`${file} can't be read: restore all of ${path} from a backup`);
  }
  const { service, version, shards, generation = 0, complete = true } = format ?? {};
  if (service !== 'payments-service' || version !== 1 || !Number.isInteger(shards)) {
    throw new DataFolderError(`${file} was written by another program or version: use the one that wrote it`);
  }
  return { service, version, shards: shards!, generation, complete };
}

function writeFormat({ path, shards, generation }: DataFolder, complete: boolean): void {
  const format: Format = { service: 'payments-service', version: 1, shards, generation, complete };
  const file = join(path, formatFile);
  writeFileSync(`${file}.new`, `${JSON.stringify(format)}\n`, { flush: true });
  renameSync(`${file}.new`, file);
  syncPath(path);
}
