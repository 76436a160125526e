// A log of small segments on a real disk, without a checkpoint, and batches to be appended to it.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import { EpochFile } from '../../src/journal/log/epoch-file.ts';
import { type LogOptions, SegmentedLog } from '../../src/journal/log/log.ts';
import { Segments } from '../../src/journal/log/segments.ts';
import { identity, startMs, tag, turnAt } from './journal-fixtures.ts';

export function smallLog(dir: string, options: Partial<LogOptions> = {}) {
  const folder = join(dir, 'log');
  mkdirSync(folder, { recursive: true });
  const segments = new Segments(folder, 1 << 20, identity);
  const engine = new SegmentedLog({
    segments,
    epochFile: new EpochFile(dir),
    onSegment: async () => {},
    movedResponse: () => undefined,
    segmentBytesMax: 1 << 20,
    segmentAgeMaxMs: 1e9,
    ...options,
  });
  return { engine, segments };
}

/** The bytes of a turn, as the owner with this epoch writes them. */
export function bytesOf(firstSequence: number, entries: number, epoch = 1, timeMs = startMs): Buffer {
  return encodeBatch(turnAt(firstSequence, entries, timeMs), tag, epoch).bytes;
}
