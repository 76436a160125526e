// Reads what is new in the logs of many partitions, for a node that owns none of them. A row that
// an owner was never told of may be seen after a crash of the primary, before it is replicated. So
// the newest row counts only when it is known to be acknowledged: another one follows it, or its
// owner has noted that.

import { elementAt } from '../core/assert.ts';
import type { AcquiredLog } from '../journal/remote-log.ts';
import { settingsColumns } from './durability.ts';
import { OwnerConnection, type OwnerOptions } from './owner-connection.ts';
import { checksumAt, firstSequenceOf, type Read } from './partitions.ts';

interface FollowedRow {
  readonly [column: string]: unknown;
  readonly partition: number;
  readonly last_sequence: string;
  readonly mirrored: string;
  readonly next_sequence: string;
  readonly bytes: Buffer;
  readonly before: string | null;
}

interface FollowedPart {
  /** Those that are acknowledged. */
  readonly batches: readonly Buffer[];
  /** The checksum of the batch that they follow; null: it is not there any more. */
  readonly before: number | null;
  /** The last sequence of the partition. */
  readonly end: number;
  /** As much was read as is read at once: there may be more. */
  readonly hasMore: boolean;
}

type PartitionEnd = Pick<AcquiredLog, 'end' | 'firstSequence'>;

const portionRows = 64;

export class LogFollower {
  readonly #connection: OwnerConnection;

  constructor(options: OwnerOptions) {
    this.#connection = new OwnerConnection(options);
  }

  /**
   * What there is of a partition's log. Asks by a write that changes nothing, because an old primary
   * that has come back would answer a read, and show less than was acknowledged. Tries again until
   * it has an answer or `close` is called.
   */
  endOf(partition: number): Promise<PartitionEnd> {
    return this.#connection.untilAnswered(async () => {
      const row = await this.#connection.change<{ next_sequence: string; checksum: string }>({
        name: 'end',
        text: `update payments.partitions set next_sequence = next_sequence
               where partition = $1 returning next_sequence, checksum, ${settingsColumns}`,
        values: [partition],
      });
      const sequence = Number(row?.next_sequence ?? 1) - 1;
      // Not with the write: that may have waited for an append, whose rows it does not see.
      const firstSequence = await firstSequenceOf(this.#readOnce, partition, sequence);
      return { end: { sequence, checksum: Number(row?.checksum ?? 0) }, firstSequence };
    });
  }

  checksumAt(partition: number, sequence: number): Promise<number | null> {
    return checksumAt(this.#read, partition, sequence);
  }

  /**
   * What follows the last sequences of partitions, some of each, and what that follows there. A
   * partition without anything new is left out.
   */
  async readAfter(sequences: ReadonlyMap<number, number>): Promise<ReadonlyMap<number, FollowedPart>> {
    const rows = await this.#read<FollowedRow>(
      `select followed.partition, log.last_sequence, log.bytes, partitions.mirrored, partitions.next_sequence,
         case when log.place = 1 then (
           select checksum from payments.log as earlier
           where earlier.partition = followed.partition and earlier.first_sequence <= followed.after
           order by earlier.first_sequence desc limit 1) end as before
       from unnest($1::integer[], $2::bigint[]) as followed (partition, after)
       join payments.partitions using (partition)
       cross join lateral (
         select last_sequence, bytes, row_number() over (order by first_sequence) as place from payments.log
         where log.partition = followed.partition and first_sequence > followed.after
         order by first_sequence limit ${portionRows}) as log
       order by followed.partition, log.last_sequence`,
      [[...sequences.keys()], [...sequences.values()]],
    );
    const parts = new Map<number, FollowedPart>();
    for (const [partition, found] of Map.groupBy(rows, (row) => row.partition)) {
      const { before } = elementAt(found, 0);
      const newest = elementAt(found, found.length - 1);
      const isAcknowledged = Number(newest.last_sequence) <= Number(newest.mirrored);
      parts.set(partition, {
        batches: (isAcknowledged ? found : found.slice(0, -1)).map(({ bytes }) => bytes),
        before: before === null ? null : Number(before),
        end: Number(newest.next_sequence) - 1,
        hasMore: found.length === portionRows,
      });
    }
    return parts;
  }

  readonly #readOnce: Read = (text, values) => this.#connection.read(text, values);

  readonly #read: Read = (text, values) => this.#connection.connected(() => this.#readOnce(text, values));

  close(): void {
    this.#connection.close();
  }
}
