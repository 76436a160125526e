// A look at a shard's journal before the service starts on it: whether every part of it belongs there and is whole, how far
// it has come, and of whom its records are. Nothing is recovered and nothing is replayed. The files' structure is checked
// here, once: the threads that open the journal afterwards need not do so again.

import { join } from 'node:path';
import type { LmdbCheckpoint } from './checkpoint/checkpoint.ts';
import { ForeignPart } from './files/identity.ts';
import { JournalDamaged } from './journal.ts';
import { decodeTurn, turnDefect } from './log/codec.ts';
import { checksumAt, endOf, Segments } from './log/segments.ts';
import {
  acceptMissingSegment,
  type JournalOptions,
  mapSizesOf,
  openCheckpoint,
  refuseMissingSegment,
} from './open-journal.ts';

/** A journal as it lies on the disk; good while it is looked at. */
export interface InspectedJournal {
  readonly checkpoint: Pick<LmdbCheckpoint, 'sequence' | 'getSmallValue' | 'listAfter'>;
  /** The sequence that the log ends with, 0 when it is empty. */
  readonly logEnd: number;
  /** See `checksumAt` of the segments. */
  checksumAt(sequence: number): number | null | undefined;
  /** The structure of every file is whole, so that the journal can be opened with `isChecked`. */
  readonly isWhole: boolean;
  /** Throws `JournalDamaged` when the log's newest segment is gone. */
  refuseMissingSegment(): void;
  /** Gives up a newest segment that is gone, and returns its folder; null when it is there. */
  acceptMissingSegment(): string | null;
  /** The organizations with records in the log beyond the checkpoint. */
  organizationsInLog(): Set<string>;
}

/**
 * Opens a journal, has `look` look at it, and closes it. Rejects with `ForeignPart` when a part of it belongs
 * elsewhere, and with `JournalDamaged` when it is damaged where it was looked at.
 */
export async function inspectJournal<T>(
  options: JournalOptions,
  look: (journal: InspectedJournal) => T,
): Promise<T> {
  const { dir, identity } = options;
  const checkpoint = openCheckpoint(options);
  const segments = new Segments(join(dir, 'log'), mapSizesOf(options).log, identity);
  try {
    const isWhole = checkSegments(segments, checkpoint.sequence);
    return look({
      checkpoint,
      logEnd: endOf(segments),
      checksumAt: (sequence) => checksumAt(segments, sequence),
      isWhole,
      refuseMissingSegment: () => refuseMissingSegment(segments, checkpoint),
      acceptMissingSegment: () => acceptMissingSegment(segments, checkpoint),
      organizationsInLog: () => organizationsAfter(segments, checkpoint.sequence),
    });
  } finally {
    await Promise.all([segments.close(), checkpoint.close()]);
  }
}

/**
 * Opens every segment; those that are replayed after `sequence` are checked to the last page. Returns whether all of them
 * are whole: one that is not is found again by whoever needs it. Throws `ForeignPart`.
 */
function checkSegments(segments: Segments, sequence: number): boolean {
  const first = segments.holding(sequence + 1)?.firstSequence ?? 0;
  let isWhole = true;
  for (const segment of segments.list) {
    try {
      segments.open(segment, segment.firstSequence < first ? 'branches' : 'leaves');
    } catch (error) {
      if (error instanceof ForeignPart || !(error instanceof JournalDamaged)) throw error;
      isWhole = false;
    }
  }
  return isWhole;
}

function organizationsAfter(segments: Segments, sequence: number): Set<string> {
  const found = new Set<string>();
  const start = segments.list.findLastIndex(({ firstSequence }) => firstSequence <= sequence + 1);
  for (const segment of segments.list.slice(Math.max(0, start))) {
    for (const { key, value } of segments.open(segment).getRange({ start: 1 })) {
      if (turnDefect(value, key, segments.tag) !== null) continue;
      for (const entry of decodeTurn(value))
        if (entry.sequence > sequence) for (const { org } of entry.changes) found.add(org);
    }
  }
  return found;
}
