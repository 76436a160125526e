// A checkpoint read from outside, as log-reader.ts reads the log: the file is only read, so a service that writes it
// notices nothing. Called by the log's tools.

import { metaTable, sequenceKey } from './checkpoint.ts';
import { dataFile } from './environment.ts';
import { FileDamage, LmdbFile } from './lmdb-file.ts';

/** The sequence that the checkpoint in a folder reflects; null when there is none, or it is damaged there. */
export function checkpointSequenceIn(folder: string): number | null {
  return readCheckpoint(folder, (file) => file.get(metaTable, sequenceKey)?.readDoubleLE(0) ?? 0);
}

function readCheckpoint<T>(folder: string, read: (file: LmdbFile) => T): T | null {
  try {
    const file = new LmdbFile(dataFile(folder));
    try {
      return read(file);
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof FileDamage || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
