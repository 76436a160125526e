// Copies a checkpoint, as of one moment and row by row, into a new file beside the old one, while the follower goes on writing the
// old one. The copy has no unused pages.

import { rmSync } from 'node:fs';
import { elementAt } from '../../core/assert.ts';
import {
  createEnvironment,
  damagedFile,
  dataFile,
  type Environment,
  openEnvironment,
} from '../../disk/environment.ts';
import type { Part } from '../../disk/identity.ts';
import { JournalDamaged, type ReportCompaction } from '../journal.ts';
import { preparedFolderIn } from './checkpoint-folder.ts';
import { RowsOfMoment, RowWriter, rowDefect } from './checkpoint-rows.ts';

/** So much is written at once: few milliseconds of a disk, so that the log's commits don't wait for long. */
const commitBytes = 2 << 20;

export interface CheckpointToCopy {
  /** The shard's folder. */
  readonly dir: string;
  readonly part: Part;
  readonly mapSize: number;
  /** The checkpoint's folder, and its environment. */
  readonly folder: string;
  readonly environment: Environment;
}

/**
 * Copies the rows of a checkpoint into the prepared folder, and returns that. Rejects with `JournalDamaged` when a row is damaged,
 * with `JournalFailure` when the disk does not take the copy.
 */
export async function copyCheckpoint(from: CheckpointToCopy, report: ReportCompaction): Promise<string> {
  const { dir, part, mapSize } = from;
  const folder = preparedFolderIn(dir);
  rmSync(folder, { recursive: true, force: true });
  await createEnvironment(folder, mapSize, part);
  const environment = openEnvironment({ folder, part, mapSize, check: 'none' });
  const rowsOfMoment = new RowsOfMoment(from.folder, from.environment);
  try {
    await copyRows(dataFile(from.folder), rowsOfMoment, environment, report);
  } finally {
    rowsOfMoment.close();
    await environment.close();
  }
  return folder;
}

async function copyRows(
  file: string,
  rowsOfMoment: RowsOfMoment,
  to: Environment,
  report: ReportCompaction,
): Promise<void> {
  const writer = new RowWriter(to, commitBytes);
  const total = rowsOfMoment.count;
  for (const { table, rows } of rowsOfMoment.all()) {
    refuseDamaged(file, table, rows);
    const bytes = writer.add({ table, rows });
    if (bytes > 0) await report({ step: 'copying', rows: writer.count, total, bytes });
  }
  await report({ step: 'copying', rows: writer.count, total, bytes: writer.flush() });
  const { stored, count } = writer;
  if (stored !== count) throw new JournalDamaged(`A copy of ${file} has ${stored} rows and not ${count}`);
}

function refuseDamaged(file: string, table: string, rows: readonly Buffer[]): void {
  for (let i = 0; i < rows.length; i += 2) {
    const defect = rowDefect(table, elementAt(rows, i), elementAt(rows, i + 1));
    if (defect !== null) throw damagedFile(file, defect);
  }
}
