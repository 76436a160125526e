// Copies a checkpoint, as of one moment, into a new file beside the old one, while the follower
// goes on writing that. The copy has no unused pages.

import { rmSync } from 'node:fs';
import { pieceSize } from '../../core/piece-size.ts';
import { createEnvironment, type Environment, openEnvironment } from '../../disk/environment.ts';
import type { Part } from '../../disk/identity.ts';
import { JournalDamaged, type ReportCompaction } from '../journal.ts';
import { preparedFolderIn } from './checkpoint-folder.ts';
import { CheckpointMoment, RowWriter } from './checkpoint-rows.ts';
import { rowsOfBlock } from './row-blocks.ts';

/** So much is written at once: few milliseconds of a disk, for which the log's commits wait. */
const commitBytes = pieceSize(2 << 20);

interface CheckpointToCopy {
  readonly dir: string;
  readonly part: Part;
  readonly mapSize: number;
  /** The checkpoint's folder, and its environment. */
  readonly folder: string;
  readonly environment: Environment;
}

/**
 * Copies the rows of a checkpoint into the prepared folder, and returns that. Rejects with
 * `JournalDamaged` at a damaged row, with `JournalFailure` when the disk does not take the copy.
 */
export async function copyCheckpoint(from: CheckpointToCopy, report: ReportCompaction): Promise<string> {
  const { dir, part, mapSize } = from;
  const folder = preparedFolderIn(dir);
  rmSync(folder, { recursive: true, force: true });
  await createEnvironment(folder, mapSize, part);
  const environment = openEnvironment({ folder, part, mapSize, check: 'none' });
  const moment = new CheckpointMoment(from.folder, from.environment);
  try {
    const writer = new RowWriter(environment, commitBytes);
    const { count: total } = moment;
    for await (const { type, bytes } of moment.rows()) {
      // The next block uses the same memory.
      const written = writer.add(rowsOfBlock({ type, bytes: Buffer.from(bytes) }));
      if (written > 0) await report({ step: 'copying', rows: writer.count, total, bytes: written });
    }
    await report({ step: 'copying', rows: writer.count, total, bytes: writer.flush() });
    const { stored, count } = writer;
    if (stored !== count)
      throw new JournalDamaged(`A copy of ${from.folder} has ${stored} rows and not ${count}`);
  } finally {
    moment.close();
    await environment.close();
  }
  return folder;
}
