// Where the command line finds a log: in a data folder, whether a service runs on it or not, in a
// backup, or in an archive. Nothing is locked, opened for writing or cleared away.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { elementAt } from '../core/assert.ts';
import { archiveFolderOf, positionIn } from '../data-folder/archive-folder.ts';
import {
  lookAtDataFolder,
  refuseWithoutLogs,
  shardDirsOf,
  shardNumbers,
} from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { withClearErrors } from '../data-folder/folder-command.ts';
import { filedChanges } from '../directory/change-log.ts';
import { readArchiveFile, refuseUnopened } from '../disk/archive-file.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { FiledLogReader, type LogFile, logFilesIn } from '../journal/log-files.ts';
import { type LogFolder, LogReader, type StateSource } from '../journal/log-reader.ts';
import { foldersOfJournal } from '../journal/open-journal.ts';
import {
  checkpointSequenceIn,
  newestSegmentIn,
  recordsIn,
  rowsOfBlock,
  storedState,
} from '../journal/stopped-journal.ts';
import type { LogPlaceOptions } from '../operator/results/log-entry.ts';
import { identityOf, logFilesOf, type Manifest, partsOf, readManifest } from './backup-manifest.ts';

/** Rejects with `CommandFailure`, also when the log is encrypted and no identity opens it. */
export function openLogAt({ dataDir, from, archive, identityFile }: LogPlaceOptions): Promise<LogFolder> {
  return withClearErrors(async () => {
    if (from !== null) return logOfBackup(from, archive, identitiesIn(identityFile));
    if (archive !== null) return logOfArchive(archive, identitiesIn(identityFile));
    return logOfDataFolder(dataDir());
  });
}

/** A log in files. Those that no identity opens would look damaged: one of each kind is tried. */
async function filedLog(
  folder: string,
  identity: ShardIdentity,
  sources: readonly (readonly LogFile[])[],
  identities: readonly string[],
  end = 0,
): Promise<FiledLogReader> {
  for (const [first] of sources) if (first !== undefined) await refuseUnopened(first.path, identities);
  return new FiledLogReader(folder, identity, sources.flat(), identities, end);
}

function logOfDataFolder(path: string): LogFolder {
  const folder = lookAtDataFolder(path);
  refuseWithoutLogs(folder);
  const dirs = shardDirsOf(folder).map(foldersOfJournal);
  return {
    name: path,
    shards: dirs.map(
      ({ log, checkpoint }, number) =>
        new LogReader(
          log,
          folder.shardIdentity(number),
          () => checkpointSequenceIn(checkpoint),
          () => newestSegmentIn(checkpoint),
        ),
    ),
    stateOf: (number) => storedState(elementAt(dirs, number).checkpoint),
    directoryDefect: async () => null,
  };
}

/** A backup's log, which goes on in the archive if one is named. */
async function logOfBackup(
  path: string,
  archive: string | null,
  identities: readonly string[],
): Promise<LogFolder> {
  const { folder, shards, directory } = readManifest(path);
  const archived = archive === null ? null : archivedGeneration(archive, folder.id, folder.generation);
  return {
    name: archive === null ? path : `${path} and ${archive}`,
    shards: await Promise.all(
      shards.map((entry, number) => {
        const rest = archived === null ? [] : logFilesIn(join(archived, `shard-${number}`));
        const name = join(path, `shard-${number}`);
        return filedLog(name, identityOf(folder, number), [logFilesOf(path, entry, null), rest], identities);
      }),
    ),
    stateOf: (number) =>
      backedUpState(path, elementAt(shards, number).state, partsOf(folder, number).state, identities),
    directoryDefect() {
      const rest = archive && archiveFolderOf(archive, folder, 'directory');
      return defectOfChanges(logFilesOf(path, directory, rest), folder.id, identities);
    },
  };
}

async function defectOfChanges(
  files: readonly LogFile[],
  id: string,
  identities: readonly string[],
): Promise<string | null> {
  const part = partsOf({ id, generation: 0 }, 'directory').log;
  try {
    for await (const _ of filedChanges({ files, part, identities }, (files[0]?.first ?? 1) - 1));
    return null;
  } catch (error) {
    if (error instanceof JournalDamaged) return error.message;
    throw error;
  }
}

/** The archive of the one data folder that there is in it, in its newest generation. */
async function logOfArchive(path: string, identities: readonly string[]): Promise<LogFolder> {
  const ids = existsSync(path) ? readdirSync(path).filter((name) => /^[0-9a-f]{32}$/.test(name)) : [];
  const [id] = ids;
  if (id === undefined) throw new DataFolderError(`${path} is no archive: it has no data folder's log`);
  if (ids.length > 1)
    throw new DataFolderError(
      `${path} is the archive of ${ids.length} data folders: name a backup of one of them with --from`,
    );
  const generations = readdirSync(join(path, id)).flatMap(
    (name) => /^generation-(\d+)$/.exec(name)?.[1] ?? [],
  );
  const generation = Math.max(0, ...generations.map(Number));
  const folder = archivedGeneration(path, id, generation);
  const numbers = readdirSync(folder).flatMap((name) => /^shard-(\d+)$/.exec(name)?.[1] ?? []);
  const shards = Math.max(-1, ...numbers.map(Number)) + 1;
  if (shards === 0) throw new DataFolderError(`${folder} has the log of no shard: it is no archive`);
  if (shards !== numbers.length)
    throw new DataFolderError(`${folder} lacks shards: it has ${numbers.length} of at least ${shards}`);
  return {
    name: path,
    shards: await Promise.all(
      shardNumbers({ shards }).map((number) => {
        const part = archiveFolderOf(path, { id, generation }, number);
        const files = [logFilesIn(part)];
        return filedLog(
          part,
          { folder: id, generation, shard: number },
          files,
          identities,
          positionIn(part).sequence,
        );
      }),
    ),
    stateOf: () => null,
    directoryDefect: () =>
      defectOfChanges(logFilesIn(archiveFolderOf(path, { id, generation }, 'directory')), id, identities),
  };
}

function archivedGeneration(archive: string, id: string, generation: number): string {
  const folder = join(archive, id, `generation-${generation}`);
  if (existsSync(folder)) return folder;
  throw new DataFolderError(
    `${archive} is no archive of the data folder ${id} in its generation ${generation}`,
  );
}

/** The checkpoint in a backup: it is read from its beginning to its end. */
function backedUpState(
  path: string,
  state: Manifest['shards'][number]['state'],
  part: ReturnType<typeof partsOf>['state'],
  identities: readonly string[],
): StateSource | null {
  if (state === null) return null;
  return {
    sequence: state.sequence,
    async *recordsFrom(id) {
      for await (const block of readArchiveFile(join(path, state.file), part, { identities }))
        yield* recordsIn(rowsOfBlock(block), id);
    },
  };
}

/** The secret keys of age in a file as age-keygen writes it. */
export function identitiesIn(file: string | null): string[] {
  if (file === null) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  const identities = lines.map((line) => line.trim()).filter((line) => line.startsWith('AGE-SECRET-KEY-'));
  if (identities.length > 0) return identities;
  throw new DataFolderError(`${file} has no secret key of age: it has lines that begin with AGE-SECRET-KEY-`);
}
