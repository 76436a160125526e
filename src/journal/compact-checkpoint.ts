// Gives back the room that a checkpoint's file does not use, while nobody else has it open. The library copies what is used into
// another file, which is checked and on disk before it takes the place of the first in one step: a process that is killed on
// the way leaves the one or the other, and at most a copy that the next run removes.

import { renameSync, rmSync, statSync } from 'node:fs';
import { dataFile, guardRead, openEnvironment } from './environment.ts';
import { partOf, type ShardIdentity } from './identity.ts';
import { JournalDamaged } from './journal.ts';
import { foldersOfJournal, mapSizesOf } from './open-journal.ts';
import { fileDefect } from './page-check.ts';
import { syncPath } from './sync-path.ts';

export interface CheckpointSizes {
  readonly before: number;
  readonly after: number;
}

/** The sizes of the file, bytes. Rejects with `JournalDamaged`; the checkpoint is then as it was. */
export async function compactCheckpoint(dir: string, identity: ShardIdentity): Promise<CheckpointSizes> {
  const { checkpoint: folder } = foldersOfJournal(dir);
  const file = dataFile(folder);
  const copy = `${file}.compact`;
  rmSync(copy, { force: true });
  const part = partOf(identity, 'state');
  const environment = openEnvironment({ folder, part, mapSize: mapSizesOf({}).state, check: 'leaves' });
  try {
    await guardRead(folder, () => environment.backup(copy, true));
  } finally {
    await environment.close();
  }
  syncPath(copy);
  const defect = fileDefect(copy, 'leaves');
  if (defect !== null) throw new JournalDamaged(`${copy}, a copy of ${file}, is damaged: ${defect}`);
  const sizes = { before: statSync(file).size, after: statSync(copy).size };
  renameSync(copy, file);
  syncPath(folder);
  return sizes;
}
