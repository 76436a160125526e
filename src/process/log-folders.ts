// Where the command line finds a log: in a data folder, whether a service runs on it or not. Nothing is locked, opened for
// writing or cleared away.

import { checkpointSequenceIn } from '../journal/checkpoint-reader.ts';
import { type LogFolder, LogReader } from '../journal/log-reader.ts';
import { foldersOfJournal } from '../journal/open-journal.ts';
import { CliFailure } from '../operator/cli/context.ts';
import { DataFolderError, lookAtDataFolder } from './data-folder.ts';

/** The log of a data folder. Throws `CliFailure`. */
export function logOfDataFolder(path: string): LogFolder {
  try {
    const folder = lookAtDataFolder(path);
    const shards = Array.from({ length: folder.shards }, (_, number) => {
      const { log, checkpoint } = foldersOfJournal(folder.shardDir(number));
      return new LogReader(log, folder.shardIdentity(number), () => checkpointSequenceIn(checkpoint));
    });
    return { name: path, shards };
  } catch (error) {
    throw error instanceof DataFolderError ? new CliFailure(error.message) : error;
  }
}
