// Compacts the checkpoint of a shard that nobody has open, as the follower of a running shard does.

import type { ShardIdentity } from '../files/identity.ts';
import type { CheckpointSizes, ReportCompaction } from '../journal.ts';
import { damagedFile, dataFile } from '../lmdb/environment.ts';
import { fileDefect } from '../lmdb/page-check.ts';
import { openCheckpoint } from '../open-journal.ts';
import type { IndexRowsOf } from './checkpoint.ts';
import { checkpointFolderIn, removeOtherCheckpoints } from './checkpoint-folder.ts';

/** The sizes of the file. Rejects with `JournalDamaged` or `JournalFailure`; the checkpoint is then as it was. */
export async function compactCheckpoint(
  dir: string,
  identity: ShardIdentity,
  indexRowsOf: IndexRowsOf,
  report: ReportCompaction,
): Promise<CheckpointSizes> {
  removeOtherCheckpoints(dir);
  const file = dataFile(checkpointFolderIn(dir));
  const defect = fileDefect(file, 'leaves');
  if (defect !== null) throw damagedFile(file, defect);
  const checkpoint = openCheckpoint({ dir, identity, indexRowsOf, isChecked: true });
  try {
    // The checkpoint does not change meanwhile.
    return await checkpoint.compact(async () => {}, report);
  } finally {
    await checkpoint.close();
  }
}
