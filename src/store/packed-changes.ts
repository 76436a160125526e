// The changes of a log batch as the bytes that the log took. Memory holds them so until the checkpoint has them: some kilobytes
// in one piece outside of the collector's sight, where objects would be copied and marked by it again and again.

import type { Change } from '../domain/record.ts';

export interface PackedChanges {
  /** What it takes in memory. */
  readonly bytes: number;
  /** The change with this number, counted from 0 over all entries of the batch, decoded anew. */
  read(number: number): Change;
}
