// The nodes of a service in PostgreSQL: each notes every second that it is there and how far it
// follows the partitions, and operators note what they want of it.

import type { NodeAddresses, NodeIdentity, ReachableNode } from '../cluster/node.ts';
import { OwnerConnection, type OwnerOptions } from './owner-connection.ts';
import type { PartitionState } from './partition-table.ts';
import { type Primary, tellNodes } from './primary.ts';

/** A node that was not heard of for so long is gone. */
export const goneSeconds = 5;
/** One that was not heard of for so long is lent nothing. */
const reachableSeconds = 3;

/** The sequence up to which a node follows each partition, as it is stored. */
export type Followed = Readonly<Record<string, number>> | null;

/** How many entries a node is known to lack of each partition that others own. */
export function behindOf(
  node: string,
  followed: Followed,
  partitions: readonly PartitionState[],
): readonly number[] {
  return partitions
    .filter((partition) => partition.node !== node)
    .map(({ partition, end }) => Math.max(0, (end ?? 0) - (followed?.[partition] ?? 0)));
}

/** The partitions that operators want the process to run. */
export function wantedAt(process: string, partitions: readonly PartitionState[]): readonly number[] {
  return partitions.filter(({ wanted }) => wanted === process).map(({ partition }) => partition);
}

function withoutThose(
  partitions: readonly PartitionState[],
  numbers: readonly number[],
): readonly PartitionState[] {
  return partitions.filter(({ partition }) => !numbers.includes(partition));
}

/** What operators want of a node that has noted that it is there. */
interface Wished {
  /** It is to run nothing for others. */
  readonly drained: boolean;
  /** It is to stop for good once others run what it runs. */
  readonly leaving: boolean;
}

interface ReachableRow extends Omit<ReachableNode, 'wanted' | 'behind'> {
  readonly followed: Followed;
}

export class PostgresNodes {
  readonly #identity: NodeIdentity;
  readonly #connection: OwnerConnection;

  constructor(options: OwnerOptions, identity: NodeIdentity) {
    this.#identity = identity;
    this.#connection = new OwnerConnection(options);
  }

  /**
   * Says that this node is there, how far it follows the partitions, and which it can't run because
   * its files of them are damaged.
   */
  async note(
    { address, link, linksBy }: NodeAddresses,
    followed: Readonly<Record<string, number>>,
    damaged: readonly number[],
  ): Promise<Wished | null> {
    const { node, process, release } = this.#identity;
    const [wished] = await this.#connection.run<Wished>(
      'note-node',
      `insert into payments.nodes (process, node, address, followed, release, link, links_by, damaged)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (process) do update set address = $3, followed = $4, damaged = $8, seen_at = now()
       returning drained, leaving`,
      [process, node, address, JSON.stringify(followed), release, link, linksBy, damaged],
    );
    return wished ?? null;
  }

  /** The nodes that were heard of lately and may run some of the partitions, this one among them. */
  async reachable(partitions: readonly PartitionState[]): Promise<ReachableNode[]> {
    const text = `select node, process, link, links_by as "linksBy", drained, leaving, damaged, followed
      from payments.nodes where link is not null and seen_at > now() - interval '${reachableSeconds} seconds'`;
    const rows = await this.#connection.run<ReachableRow>('reachable-nodes', text, []);
    return rows.map(({ followed, ...node }) => ({
      ...node,
      wanted: wantedAt(node.process, partitions),
      behind: Math.max(0, ...behindOf(node.node, followed, withoutThose(partitions, node.damaged))),
    }));
  }

  /** This node leaves, and those are forgotten that were not seen for an hour. */
  async forget(): Promise<void> {
    await this.#connection.run(
      'forget-node',
      "delete from payments.nodes where process = $1 or seen_at < now() - interval '1 hour'",
      [this.#identity.process],
    );
  }

  close(): void {
    this.#connection.close();
  }
}

/**
 * The node is to run nothing for others any more; or it may again, and need not leave. False: it is
 * not there.
 */
export async function setDrained(primary: Primary, node: string, isDrained: boolean): Promise<boolean> {
  const rows = await primary.query({
    text: `update payments.nodes set drained = $2, leaving = leaving and $2
           where node = $1 and seen_at > now() - interval '${goneSeconds} seconds' returning ${tellNodes}`,
    values: [node, isDrained],
  });
  return rows.length > 0;
}

/** The node is to stop for good once others run what it runs. */
export async function setLeaving(primary: Primary, node: string): Promise<void> {
  await primary.query({
    text: `update payments.nodes set leaving = true where node = $1 returning ${tellNodes}`,
    values: [node],
  });
}

/** Forgets the node, and processes of it that had ended before. */
export async function forgetGone(primary: Primary, node: string): Promise<void> {
  await primary.query({
    text: `delete from payments.nodes where node = $1 and seen_at <= now() - interval '${goneSeconds} seconds'`,
    values: [node],
  });
}

/**
 * Operators want a node to run the partition, whose log `database` has. False: nobody has run it
 * yet, or the node is not there, or is to run none.
 */
export async function wantPartition(
  first: Primary,
  database: Primary,
  partition: number,
  node: string,
): Promise<boolean> {
  const [newest] = await first.query<{ process: string }>({
    text: `select process from payments.nodes
           where node = $1 and not drained and not leaving and seen_at > now() - interval '${goneSeconds} seconds'
           order by started_at desc limit 1`,
    values: [node],
  });
  if (newest === undefined) return false;
  const rows = await database.query({
    text: 'update payments.partitions set wanted = $2 where partition = $1 returning partition',
    values: [partition, newest.process],
  });
  await first.query({ text: `select ${tellNodes}` });
  return rows.length > 0;
}
