// The row of a partition in PostgreSQL, which says who owns it and where its log ends. The
// directory and the audit record are partitions, too.

import { askPrimary } from './database.ts';
import type { OwnerOptions } from './owner-connection.ts';
import { type PostgresOptions, type Primary, tellNodes } from './primary.ts';

/** Those of the shards have their numbers. */
export const directoryPartition = -1;
export const auditPartition = -2;

export interface PartitionRow {
  readonly [column: string]: unknown;
  readonly epoch: string;
  readonly next_sequence: string;
  readonly checksum: string;
}

export type Read = <Row extends Record<string, unknown>>(text: string, values: unknown[]) => Promise<Row[]>;

/** The checksum of the batch of a log that ends with `sequence`; null when none does. */
export async function checksumAt(read: Read, partition: number, sequence: number): Promise<number | null> {
  const [row] = await read<{ last_sequence: string; checksum: string }>(
    `select last_sequence, checksum from payments.log where partition = $1 and first_sequence <= $2
     order by first_sequence desc limit 1`,
    [partition, sequence],
  );
  return Number(row?.last_sequence) === sequence ? Number(row?.checksum) : null;
}

/** The sequence that what is left of a log begins with; the one behind `end` when nothing is. */
export async function firstSequenceOf(read: Read, partition: number, end: number): Promise<number> {
  const [row] = await read<{ first_sequence: string | null }>(
    'select min(first_sequence) as first_sequence from payments.log where partition = $1',
    [partition],
  );
  return Number(row?.first_sequence ?? end + 1);
}

/**
 * Takes a partition from whoever had it, with an epoch greater than `after`; else says why not.
 * Where nodes share the service, only the holder of the lease may: a node that wakes up late must
 * not take back what another one has taken.
 */
export async function takePartition(
  primary: Primary,
  partition: number,
  after: number,
  { lease, node, first }: Pick<OwnerOptions, 'lease' | 'node' | 'first'>,
): Promise<PartitionRow | string> {
  if (first !== null) {
    const refusal = lease === null ? await refusalOfNobody(first) : null;
    if (refusal !== null) return refusal;
    await noteLease(primary, lease, node);
  }
  const [row] = await primary.query<PartitionRow>({
    text: `with lease as (select epoch, released from payments.lease for share)
           insert into payments.partitions (partition, epoch, node)
           select $1, $2::bigint + 1, $4
           where case when $3::bigint is null then not exists (select 1 from lease where not released)
             else exists (select 1 from lease where epoch = $3 and not released) end
           on conflict (partition) do update set epoch = greatest(partitions.epoch, $2::bigint) + 1, node = $4
           returning epoch, next_sequence, checksum, ${tellNodes}`,
    values: [partition, after, lease, node],
  });
  if (row !== undefined) return row;
  return lease === null ? nodesShare(primary) : `another node has taken the lease of epoch ${lease}`;
}

function nodesShare({ name }: Primary): string {
  return `nodes share the service that ${name} has the log of: set PAYMENTS_CLUSTER_NODE, or stop them all`;
}

/** Why nobody who has no lease may take a partition, as the first database says; null: one may. */
function refusalOfNobody(first: PostgresOptions): Promise<string | null> {
  return askPrimary(first, async (primary) => {
    const held = await primary.query({ text: 'select 1 from payments.lease where not released' });
    return held.length > 0 ? nodesShare(primary) : null;
  });
}

/**
 * A database that has logs alone notes the highest epoch of the lease that has taken one of them:
 * no earlier holder takes any of them back.
 */
async function noteLease(primary: Primary, lease: number | null, node: string | null): Promise<void> {
  if (lease === null) await primary.query({ text: 'update payments.lease set released = true' });
  else
    await primary.query({
      text: `insert into payments.lease (epoch, node, process) values ($1, $2, '')
             on conflict (only_row) do update set epoch = $1, node = $2, released = false
               where lease.epoch < $1::bigint or (lease.epoch = $1 and lease.released)`,
      values: [lease, node],
    });
}
