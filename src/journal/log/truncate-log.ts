// Gives up the damaged batch that a log ends with, of a shard that no service runs. Recovery never
// does so by itself, because the batch was acknowledged: an operator decides, who is shown what can
// be read of it.

import { join } from 'node:path';
import { elementAt } from '../../core/assert.ts';
import { commit } from '../../disk/environment.ts';
import type { FoundEntry } from '../log-reader.ts';
import { type JournalOptions, mapSizesOf, openCheckpoint } from '../open-journal.ts';
import { readRecord } from '../records/record-bytes.ts';
import { readBatchHeader, readEntries, readResponse, type StoredEntry } from './codec.ts';
import { DamagedLog, readLog } from './follow.ts';
import { Segments } from './segments.ts';

export interface DamagedEnd {
  readonly segment: string;
  /** The sequence of its first entry. */
  readonly sequence: number;
  readonly bytes: number;
  readonly defect: string;
  /** What can be read of it, without the records that are damaged. */
  readonly entries: readonly FoundEntry[];
  /** Damaged records in entries that can be read. */
  readonly damagedRecords: number;
}

/**
 * Hands the damaged end of a log to `giveUp`, which may remove it; null: the end is sound. When the
 * checkpoint has it, the log goes on behind the checkpoint. Rejects with `JournalDamaged` when the
 * log is damaged elsewhere.
 */
export async function truncateDamagedEnd<T>(
  options: JournalOptions,
  giveUp: (end: DamagedEnd, remove: () => Promise<void>) => Promise<T>,
): Promise<T | null> {
  const checkpoint = openCheckpoint(options);
  const { sequence } = checkpoint;
  await checkpoint.close();
  const { dir, identity } = options;
  const segments = new Segments(join(dir, 'log'), mapSizesOf(options).log, identity);
  try {
    const end = await damagedEndOf(segments, sequence);
    if (end === null) return null;
    const environment = segments.open(newestOf(segments));
    return await giveUp(end, async () => {
      // First: without it, what is left would look older than the checkpoint.
      if (end.sequence <= sequence) await segments.create(sequence + 1);
      commit(environment, () => environment.removeSync(end.sequence));
    });
  } finally {
    await segments.close();
  }
}

async function damagedEndOf(segments: Segments, afterSequence: number): Promise<DamagedEnd | null> {
  try {
    for await (const _ of readLog(segments, afterSequence));
    return null;
  } catch (error) {
    if (!(error instanceof DamagedLog) || error.tail === null) throw error;
    const { sequence, defect } = error.tail;
    const newest = newestOf(segments);
    const bytes = Buffer.from(segments.open(newest).get(sequence) ?? Buffer.alloc(0));
    return {
      segment: newest.folder,
      sequence,
      bytes: bytes.length,
      defect,
      ...readableIn(bytes, segments.shard, sequence),
    };
  }
}

function newestOf({ list }: Segments) {
  return elementAt(list, list.length - 1);
}

function readableIn(bytes: Buffer, shard: number, firstSequence: number) {
  const stored: StoredEntry[] = [];
  let wallMs = 0;
  try {
    ({ wallMs } = readBatchHeader(bytes));
    for (const entry of readEntries(bytes)) stored.push(entry);
  } catch {
    // What comes behind the damaged place can't be found.
  }
  let damagedRecords = 0;
  const entries = stored.map(({ records, cause, timeMs, idempotency }, i): FoundEntry => {
    const changes = records.map(readRecord).filter((record) => record !== null);
    damagedRecords += records.length - changes.length;
    const response = idempotency && readResponse(bytes, idempotency.location.offset, idempotency.keyDigest);
    return { shard, sequence: firstSequence + i, timeMs, wallMs, cause, changes, idempotency, response };
  });
  return { entries, damagedRecords };
}
