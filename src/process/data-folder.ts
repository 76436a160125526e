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
import { syncPath } from '../journal/environment.ts';

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
}

const formatFile = 'format.json';
/** What may lie in a folder that is to become one, empty folders aside: an attempt to do so, and what file systems put there. */
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
export function openDataFolder(path: string, configuredShards: number, defaultShards: number): DataFolder {
  const format = readFormat(path);
  if (format === null) {
    const folder = folderOf(path, configuredShards || defaultShards, 0);
    const { shards, generation } = folder;
    for (const part of partsOf(folder)) mkdirSync(part, { recursive: true });
    writeFormat(path, { service: 'payments-service', version: 1, shards, generation });
    return folder;
  }
  if (configuredShards !== 0 && configuredShards !== format.shards) {
    throw new DataFolderError(
      `${path} is laid out for ${format.shards} shards and the configuration asks for ${configuredShards}: ` +
        `set PAYMENTS_SHARDS=${format.shards}, or move the data with "payments reshard --shards ${configuredShards}" while the service is stopped`,
    );
  }
  const folder = folderOf(path, format.shards, format.generation);
  const missing = partsOf(folder).find((part) => !existsSync(part));
  if (missing !== undefined) {
    throw new DataFolderError(`${missing} is missing: restore all of ${path} from a backup`);
  }
  removeOtherGenerations(path, format.generation);
  return folder;
}

/** What a data folder has from the start and never loses. */
function partsOf({ shards, directory, shardDir }: DataFolder): string[] {
  return [directory, ...Array.from({ length: shards }, (_, number) => shardDir(number))];
}

/** The layout of a folder that exists, whatever is configured. Throws `DataFolderError`. */
export function existingDataFolder(path: string): DataFolder {
  const format = existsSync(path) ? readFormat(path) : null;
  if (format === null) throw new DataFolderError(`${path} is no data folder of this service`);
  return openDataFolder(path, 0, format.shards);
}

/** The folder with the next generation of shards, not in force yet. */
export function nextGeneration({ path, generation }: DataFolder, shards: number): DataFolder {
  return folderOf(path, shards, generation + 1);
}

/** Puts a generation in force, durably and in one step, and removes the others. */
export function putInForce({ path, shards, generation }: DataFolder): void {
  syncPath(path);
  writeFormat(path, { service: 'payments-service', version: 1, shards, generation });
  removeOtherGenerations(path, generation);
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
    const isForeign = (name: string) =>
      !name.startsWith('operator.') && !harmless.includes(name) && !isEmptyFolder(join(path, name));
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
    throw new DataFolderError(`${file} can't be read: restore it from a backup`);
  }
  const { service, version, shards, generation = 0 } = format ?? {};
  if (service !== 'payments-service' || version !== 1 || !Number.isInteger(shards)) {
    throw new DataFolderError(`${file} was written by another program or version: use the one that wrote it`);
  }
  return { service, version, shards: shards!, generation };
}

function isEmptyFolder(path: string): boolean {
  return statSync(path).isDirectory() && readdirSync(path).length === 0;
}

function writeFormat(path: string, format: Format): void {
  const file = join(path, formatFile);
  writeFileSync(`${file}.new`, `${JSON.stringify(format)}\n`, { flush: true });
  renameSync(`${file}.new`, file);
  syncPath(path);
}
