// What a reader must show of a log: its batches, and in the place of those that are damaged or gone what is lost there.

import type { FoundBatch, LogDefect, LogRange } from '../../../src/journal/log-reader.ts';
import type { BatchOnDisk } from './stored-log.ts';

export type Shown = FoundBatch | LogDefect;

/** Something that befell one batch, or a segment whose batches are these. */
export interface Harm {
  readonly how: 'turned' | 'gone' | 'file gone';
  /** The batches from here on, and how many. */
  readonly at: number;
  readonly count: number;
}

export function foundBatch(batch: BatchOnDisk, shard: number): FoundBatch {
  const { segment, file, row, firstSequence, lastSequence, timeMs, wallMs, epoch, bytes } = batch;
  return { shard, file, segment, byte: row, firstSequence, lastSequence, timeMs, wallMs, epoch, bytes };
}

/**
 * What the log shows in a range. The harmed batches lie in it, and the one that holds what comes first in it is sound, or the range
 * begins with its first entry. `start`: the first sequence of the log.
 */
export function expectedLog(
  batches: readonly BatchOnDisk[],
  { how, at, count }: Harm,
  { after = 0, upTo = Number.POSITIVE_INFINITY, reverse = false }: LogRange,
  shard: number,
): Shown[] {
  const harmed = batches.slice(at, at + count);
  const shown = (batch: BatchOnDisk) => batch.lastSequence > after && batch.firstSequence <= upTo;
  const found = (some: readonly BatchOnDisk[]) => some.filter(shown).map((batch) => foundBatch(batch, shard));
  const next = batches.slice(at + count).find(shown);
  const [first] = harmed;
  const all: Shown[] = found(batches.slice(0, at));
  if (first !== undefined) {
    const toSequence = next === undefined || reverse ? null : next.firstSequence - 1;
    const { segment, file, row } = first;
    const fromSequence = how === 'file gone' ? segment : first.firstSequence;
    const lost = { shard, file, segment, fromSequence, toSequence };
    const from = Math.max(fromSequence, after + 1);
    if (how === 'turned') {
      const defect = `the batch that begins with ${fromSequence}: its checksum does not match`;
      all.push({ ...lost, byte: row, defect });
    } else if (how === 'file gone') all.push({ ...lost, byte: 0, defect: 'the file is missing' });
    else if (next !== undefined && !reverse) {
      const defect = `there is no batch with the entries ${from} to ${toSequence}`;
      const place = { shard, file: next.file, segment: next.segment, byte: null };
      all.push({ ...place, defect, fromSequence: from, toSequence, isGap: true });
    }
  }
  all.push(...found(batches.slice(at + count)));
  return reverse ? all.reverse() : all;
}
