// The target of a restore. An operator names a moment, an entry of one shard's log, or a request to
// undo. Each becomes a wall time for all shards and the directory, so that they are from one
// moment, and, if an entry or a request was named, an entry for its shard.

import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { entriesOf, type FiledBatch, followFiles, type LogFiles } from '../journal/log-files.ts';
import type { RestoreTarget } from '../operator/results/folder-results.ts';

/** Where the logs are cut. */
export interface Cut {
  /** Batches with a later wall time are left out, and what comes after them in their log. */
  readonly toMs: number;
  /** The last entry to keep in one shard, whatever its time. */
  readonly entry: { readonly shard: number; readonly sequence: number } | null;
}

/** A shard's log, as it can be read from its backup and the archive. */
export interface ShardLog {
  readonly shard: number;
  readonly files: LogFiles;
  readonly tag: Buffer;
  /** The sequence that the checkpoint reflects, before which the restore can't go. */
  readonly state: number;
}

/** Finds where to cut. Throws `DataFolderError` when the named entry or request is not there. */
export async function cutFor(target: RestoreTarget, logs: readonly ShardLog[]): Promise<Cut> {
  switch (target.kind) {
    case 'end':
      return { toMs: Number.POSITIVE_INFINITY, entry: null };
    case 'time':
      return { toMs: target.ms, entry: null };
    case 'sequence':
      return cutAtSequence(target, logs);
    case 'before_request':
      return cutBeforeRequest(target.requestId, logs);
  }
}

async function cutAtSequence(
  { shard, sequence }: { readonly shard: number; readonly sequence: number },
  logs: readonly ShardLog[],
): Promise<Cut> {
  const log = logs[shard];
  if (log === undefined)
    throw new DataFolderError(`there is no shard ${shard}: the backup has shards 0 to ${logs.length - 1}`);
  if (sequence < log.state) throw beforeCheckpoint(log, 'the backup');
  let last = log.state;
  for await (const { wallMs, lastSequence } of batchesOf(log, Math.min(sequence - 1, log.state))) {
    if (lastSequence >= sequence) return { toMs: wallMs, entry: { shard, sequence } };
    last = lastSequence;
  }
  throw new DataFolderError(
    `the log of shard ${shard} ends with sequence ${last}, in the backup and the archive: ${sequence} is not in it`,
  );
}

/** The checkpoint that `backup` has can't go back. */
export function beforeCheckpoint({ shard, state }: ShardLog, backup: string): DataFolderError {
  return new DataFolderError(
    `this is before the checkpoint of shard ${shard} in ${backup}, which is as of sequence ${state}: ` +
      'restore an earlier backup, with the archive, up to this moment',
  );
}

async function cutBeforeRequest(requestId: string, logs: readonly ShardLog[]): Promise<Cut> {
  for (const log of logs) {
    for await (const batch of batchesOf(log, 0)) {
      const found = entriesOf(batch, 0).find((entry) => entry.requestId === requestId);
      if (found !== undefined)
        return { toMs: batch.wallMs, entry: { shard: log.shard, sequence: found.sequence - 1 } };
    }
  }
  throw new DataFolderError(
    `no entry of the log, in the backup and the archive, was caused by the request ${requestId}`,
  );
}

/** The batches of a shard's log after a sequence. */
export function batchesOf({ files, tag, state }: ShardLog, after: number): AsyncGenerator<FiledBatch> {
  return followFiles(files, tag, after, state);
}

/** The last entry of a batch that a cut keeps: one before the first when it keeps nothing. */
export function keptOf(batch: FiledBatch, shard: number, { toMs, entry }: Cut): number {
  if (entry?.shard === shard) return Math.min(batch.lastSequence, entry.sequence);
  return batch.wallMs <= toMs ? batch.lastSequence : batch.firstSequence - 1;
}
