// `payments compact` gives back disk space that the checkpoints no longer use, for example after
// retention has removed events. A running service does it itself and goes on serving; for a stopped
// one, this process does. One shard follows the other, because each needs room for its copy.

import { statSync } from 'node:fs';
import { defined } from '../core/assert.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import type { CheckpointSizes, Compacting } from '../journal/journal.ts';
import { partsOfJournal } from '../journal/open-journal.ts';
import { compactCheckpoint } from '../journal/stopped-journal.ts';
import type { Compacted, ReportProgress } from '../operator/results/folder-results.ts';
import { callOperator, ifNoServer } from '../operator/socket/operator-client.ts';
import type { CompactItem } from '../operator/use-cases/services.ts';
import { type DataFolder, existingDataFolder } from './data-folder.ts';
import { refuseWithoutRoom } from './disk-space.ts';
import { recordOffline, whileLocked, withClearErrors } from './folder-command.ts';

/** Throws `CommandFailure`; shards that were not compacted are as they were. */
export function compactDataFolder(dataDir: string, onProgress: ReportProgress): Promise<Compacted> {
  return withClearErrors(() =>
    compactRunning(dataDir, onProgress).catch(
      ifNoServer(() => whileLocked(dataDir, () => compactStopped(dataDir, onProgress))),
    ),
  );
}

async function compactRunning(dataDir: string, onProgress: ReportProgress): Promise<Compacted> {
  let compacted: Compacted | null = null;
  const onItem = ({ progress, result }: CompactItem) => {
    if (progress !== null) onProgress(...progressInWords(progress));
    compacted = result;
  };
  await callOperator(dataDir, 'compact', {}, { onItem });
  return defined<Compacted>(compacted, 'the last item has the result');
}

function progressInWords({ shard, shards, rows, total }: NonNullable<CompactItem['progress']>) {
  return [`compacting shard ${shard} of ${shards}`, rows, total] as const;
}

async function compactStopped(dataDir: string, onProgress: ReportProgress): Promise<Compacted> {
  const folder = await existingDataFolder(dataDir);
  const compact: CompactShard = (shard, report) =>
    compactCheckpoint(folder.shardDir(shard), folder.shardIdentity(shard), indexRowsOf, report);
  return recordOffline(folder.path, 'compact', {}, async () => {
    let compacted: Compacted | null = null;
    for await (const { progress, result } of compactShards(folder, compact)) {
      if (progress !== null) onProgress(...progressInWords(progress));
      compacted = result;
    }
    return defined<Compacted>(compacted, 'the last item has the result');
  });
}

export type CompactShard = (
  shard: number,
  report: (progress: Compacting) => void,
) => Promise<CheckpointSizes>;

/** Compacts one shard after the other: items with the progress, and one with the result. */
export async function* compactShards(folder: DataFolder, compact: CompactShard): AsyncGenerator<CompactItem> {
  const { path, shards } = folder;
  let [before, after] = [0, 0];
  for (let shard = 0; shard < shards; shard++) {
    const dir = folder.shardDir(shard);
    const checkpoint = defined(partsOfJournal(dir).at(-1), 'a journal has a checkpoint');
    // The copy may be as large as what it is made of.
    refuseWithoutRoom(`compacting ${checkpoint}`, dir, statSync(checkpoint).size);
    let news = Promise.withResolvers<Compacting | null>();
    const sizes = compact(shard, (progress) => news.resolve(progress));
    void sizes.catch(() => {}).then(() => news.resolve(null));
    for (let progress = await news.promise; progress !== null; progress = await news.promise) {
      news = Promise.withResolvers();
      yield { progress: { shard, shards, rows: progress.rows, total: progress.total }, result: null };
    }
    before += (await sizes).before;
    after += (await sizes).after;
  }
  yield { progress: null, result: { folder: path, shards, bytes_before: before, bytes_after: after } };
}
