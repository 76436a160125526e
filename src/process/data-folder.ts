// The data folder: what is in it, whose it is, and how many shards it was laid out for. One process at a time uses
// it; the operators' socket in it tells whether one does.

import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is wrong with the data folder, in one line. */
export class DataFolderError extends Error {
  override name = 'DataFolderError';
}

interface Format {
  readonly service: 'payments-service';
  readonly version: 1;
  readonly shards: number;
}

const formatFile = 'format.json';

export interface DataFolder {
  readonly path: string;
  readonly shards: number;
  /** It was made just now. */
  readonly isNew: boolean;
  shardDir(number: number): string;
}

/**
 * Opens the folder, making it if need be. `configuredShards` 0 takes what the folder was made with, or `defaultShards`
 * for a new one. Throws `DataFolderError`.
 */
export function openDataFolder(path: string, configuredShards: number, defaultShards: number): DataFolder {
  makeFolder(path);
  const format = readFormat(path);
  const shardDir = (number: number) => join(path, `shard-${number}`);
  if (format === null) {
    const shards = configuredShards || defaultShards;
    writeFormat(path, { service: 'payments-service', version: 1, shards });
    return { path, shards, isNew: true, shardDir };
  }
  if (configuredShards !== 0 && configuredShards !== format.shards) {
    throw new DataFolderError(
      `${path} was laid out for ${format.shards} shards and the configuration asks for ${configuredShards}: ` +
        `set PAYMENTS_SHARDS=${format.shards}, or move the data with "payments reshard --shards ${configuredShards}" while the service is stopped`,
    );
  }
  return { path, shards: format.shards, isNew: false, shardDir };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : `can't be written (${code})`;
    throw new DataFolderError(`the data folder ${path} ${reason}: choose another with PAYMENTS_DATA_DIR`);
  }
}

function readFormat(path: string): Format | null {
  const file = join(path, formatFile);
  if (!existsSync(file)) {
    const foreign = readdirSync(path).filter((name) => !name.startsWith('operator.'));
    if (foreign.length === 0) return null;
    throw new DataFolderError(
      `${path} holds ${foreign[0]} and no ${formatFile}: it is not a data folder of this service. Choose an empty one with PAYMENTS_DATA_DIR`,
    );
  }
  let format: Partial<Format>;
  try {
    format = JSON.parse(readFileSync(file, 'utf8')) as Partial<Format>;
  } catch {
    throw new DataFolderError(`${file} can't be read: restore it from a backup`);
  }
  const { service, version, shards } = format;
  if (service !== 'payments-service' || version !== 1 || !Number.isInteger(shards)) {
    throw new DataFolderError(`${file} was written by another program or version: use the one that wrote it`);
  }
  return format as Format;
}

function writeFormat(path: string, format: Format): void {
  const file = join(path, formatFile);
  writeFileSync(`${file}.new`, `${JSON.stringify(format)}\n`, { flush: true });
  renameSync(`${file}.new`, file);
}
