// A look at a shard's journal before the service starts on it: whether every part of it belongs there, how far it has
// come, and of whom its records are. Nothing is recovered and nothing replayed.

import { join } from 'node:path';
import type { LmdbCheckpoint } from './checkpoint.ts';
import { decodeTurn, turnDefect } from './codec.ts';
import { ForeignPart } from './identity.ts';
import { JournalDamaged } from './journal.ts';
import { type JournalOptions, mapSizesOf, openCheckpoint } from './open-journal.ts';
import { endOf, Segments } from './segments.ts';

/** A journal as it lies on the disk; good while it is looked at. */
export interface InspectedJournal {
  readonly checkpoint: Pick<LmdbCheckpoint, 'sequence' | 'getSmallValue' | 'listAfter'>;
  /** The sequence that the log ends with, 0 when it is empty. */
  readonly logEnd: number;
  /** The organizations with records in the log beyond the checkpoint. */
  organizationsInLog(): Set<string>;
}

type Options = Omit<JournalOptions, 'warn'>;

/**
 * Opens a journal, has `look` look at it, and closes it. Rejects with `ForeignPart` when a part of it belongs
 * elsewhere, and with `JournalDamaged` when it is damaged where it was looked at.
 */
export async function inspectJournal<T>(
  options: Options,
  look: (journal: InspectedJournal) => T,
): Promise<T> {
  const { dir, identity, indexRowsOf } = options;
  const mapSizes = mapSizesOf(options);
  const checkpoint = openCheckpoint(dir, identity, mapSizes.state, indexRowsOf);
  const segments = new Segments(join(dir, 'log'), mapSizes.log, identity);
  try {
    checkLabels(segments);
    return look({
      checkpoint,
      logEnd: endOf(segments),
      organizationsInLog: () => organizationsAfter(segments, checkpoint.sequence),
    });
  } finally {
    await Promise.all([segments.close(), checkpoint.close()]);
  }
}

/** Throws `ForeignPart`. A segment that is damaged says nothing; whoever needs it finds out. */
function checkLabels(segments: Segments): void {
  for (const segment of segments.list) {
    try {
      segments.open(segment);
    } catch (error) {
      if (error instanceof ForeignPart || !(error instanceof JournalDamaged)) throw error;
    }
  }
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
