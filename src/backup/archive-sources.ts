// What the archive is made of (archiver.ts): a shard's log, and the changes of the directory, as they are read beside a
// service that goes on writing them.

import { changesAfter } from '../directory/change-log.ts';
import { revisionOf } from '../directory/directory-store.ts';
import type { RowStore } from '../disk/row-store.ts';
import type { JournalCopy } from '../journal/stopped-journal.ts';
import type { ArchiveSource } from './archiver.ts';

export function shardSource(copy: JournalCopy): ArchiveSource {
  return {
    ends: () => ({ last: copy.logEnd, first: copy.logStart }),
    finished: () => copy.finishedEnd,
    timeAfter: (sequence) => copy.timeAfter(sequence),
    read: (after, upTo) => copy.batches(after, upTo),
  };
}

export function directorySource(directory: RowStore): ArchiveSource {
  return {
    ends() {
      const last = revisionOf(directory);
      const [oldest] = changesAfter(directory, 0);
      return { first: oldest?.firstSequence ?? last + 1, last };
    },
    finished: () => 0,
    timeAfter: async (revision) => changesAfter(directory, revision).next().value?.timeMs ?? null,
    async *read(after, upTo) {
      const changes = [...changesAfter(directory, after)];
      yield* changes.filter(({ lastSequence }) => lastSequence <= upTo);
    },
  };
}
