// The nodes of a service in PostgreSQL: each notes every second that it is there and how far it
// follows the partitions, and operators note what they want of it.

import type { NodeAddresses, NodeIdentity, ReachableNode } from '../cluster/node.ts';
import { OwnerConnection, type OwnerOptions } from './owner-connection.ts';
import { type Primary, tellNodes } from './primary.ts';

/** A node that was not heard of for so long is gone. */
export const goneSeconds = 5;
/** One that was not heard of for so long is lent nothing. */
const reachableSeconds = 3;

/**
 * A column, `behind`, of a row of nodes: how many entries that one lacks of the partitions that
 * others own; of all together, or of the one that it is furthest behind in. `which`: of those alone
 * that fulfil a condition.
 */
export function behindBy(how: 'sum' | 'max', which = 'true'): string {
  return `(select coalesce(${how}(greatest(next_sequence - 1 - coalesce((followed ->> partition::text)::bigint, 0), 0)), 0)
     from payments.partitions
     where partition >= 0 and partitions.node is distinct from nodes.node and ${which}) as behind`;
}

/** What operators want of a node that has noted that it is there. */
interface Wished {
  /** It is to run nothing for others. */
  readonly drained: boolean;
  /** It is to stop for good once others run what it runs. */
  readonly leaving: boolean;
  /** It has taken partitions that no other node has taken since. */
  readonly runs: boolean;
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
       returning drained, leaving, exists (select from payments.partitions where partition >= 0 and node = $2) as runs`,
      [process, node, address, JSON.stringify(followed), release, link, linksBy, damaged],
    );
    return wished ?? null;
  }

  /** The nodes that were heard of lately and may run partitions, this one among them. */
  async reachable(): Promise<ReachableNode[]> {
    const text = `select node, process, link, links_by as "linksBy", drained, leaving, damaged,
        array(select partition from payments.partitions where wanted = nodes.process) as wanted,
        ${behindBy('max', 'partition <> all (damaged)')}
      from payments.nodes where link is not null and seen_at > now() - interval '${reachableSeconds} seconds'`;
    const rows = await this.#connection.run<ReachableNode & { readonly behind: unknown }>(
      'reachable-nodes',
      text,
      [],
    );
    return rows.map((row) => ({ ...row, behind: Number(row.behind) }));
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

/** Operators want a node to run the partition. False: it is not there, or is to run none. */
export async function wantPartition(primary: Primary, partition: number, node: string): Promise<boolean> {
  const rows = await primary.query({
    text: `update payments.partitions set wanted = process
           from (select process from payments.nodes
             where node = $2 and not drained and not leaving and seen_at > now() - interval '${goneSeconds} seconds'
             order by started_at desc limit 1) as newest
           where partition = $1 returning ${tellNodes}`,
    values: [partition, node],
  });
  return rows.length > 0;
}
