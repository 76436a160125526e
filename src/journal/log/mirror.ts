// The log on LMDB as the mirror of one that other machines hold. It is a beginning of that log;
// what it has beyond was lost there.

import { type ShardIdentity, tagOf } from '../../disk/identity.ts';
import { JournalDamaged } from '../journal.ts';
import type { AcquiredLog } from '../remote-log.ts';
import { checkedHeader, readBatchHeader } from './codec.ts';
import type { SegmentedLog } from './log.ts';

/** Where a mirror ends; without a checksum when only the checkpoint tells. */
export interface Mirrored {
  readonly sequence: number;
  readonly checksum: number | null;
}

/** A checkpoint without its log, as a backup brings it, is a mirror, too. */
export function mirroredEnd(mirror: SegmentedLog, checkpointed: number): Mirrored {
  const end = mirror.end();
  return end.sequence < checkpointed ? { sequence: checkpointed, checksum: null } : end;
}

/**
 * Rejects with `JournalDamaged` for a mirror that is not a beginning of the log, because then
 * acknowledged data is lost, and for one that ends before what the log still has.
 */
export async function refuseDivergence(
  partition: number,
  mirrored: Mirrored,
  { end, firstSequence }: Pick<AcquiredLog, 'end' | 'firstSequence'>,
  checksumAt: (sequence: number) => Promise<number | null>,
): Promise<void> {
  const { sequence, checksum } = mirrored;
  if (sequence > end.sequence) throw divergence(partition, mirrored, end);
  // What was dropped there can't be compared any more.
  const isKnown = checksum !== null && (sequence === end.sequence || sequence >= firstSequence);
  const known = !isKnown ? checksum : sequence === end.sequence ? end.checksum : await checksumAt(sequence);
  if (known !== checksum) throw divergence(partition, mirrored, { sequence, checksum: known });
  if (sequence + 1 >= firstSequence) return;
  throw new JournalDamaged(
    `PostgreSQL has the log of partition ${partition} from sequence ${firstSequence} on, and this mirror ` +
      `ends with ${sequence}: make the folder from a backup that reaches ${firstSequence - 1}, with "payments restore --as-node"`,
  );
}

function divergence(partition: number, mirrored: Mirrored, found: Mirrored): JournalDamaged {
  if (found.sequence === 0)
    return new JournalDamaged(
      `PostgreSQL has no log of partition ${partition}, and this data folder has one that ends with sequence ` +
        `${mirrored.sequence}: give PAYMENTS_JOURNAL_URL the right database, or move the log there with "payments import --to-postgresql"`,
      { isRemote: true },
    );
  const place = ({ sequence, checksum }: Mirrored) =>
    `${sequence}, checksum ${checksum === null ? 'unknown' : checksum.toString(16)}`;
  return new JournalDamaged(
    `PostgreSQL has lost what it had acknowledged of partition ${partition}: this mirror ends with sequence ` +
      `${place(mirrored)}, and PostgreSQL has ${place(found)}. A standby was promoted that had not received everything: ` +
      'do what docs/operations.md says under "Failing over" before anything else',
    { isRemote: true },
  );
}

/** Appends a commit batch of the log to its mirror. */
export async function mirrorBatch(
  mirror: SegmentedLog,
  partition: ShardIdentity,
  bytes: Buffer,
): Promise<void> {
  const { firstSequence } = readBatchHeader(bytes);
  const header = checkedHeader(bytes, firstSequence, tagOf(partition));
  if (typeof header === 'string')
    throw new JournalDamaged(
      `The commit batch ${firstSequence} of partition ${partition.shard} in PostgreSQL is damaged: ${header}`,
    );
  await mirror.append(partition, header.epoch, firstSequence, bytes);
}
