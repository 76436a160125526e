// What `payments cluster` tells of the nodes that share a service.

import type { LinksBy } from './node.ts';

/** Unheard of: while writes wait for a standby of PostgreSQL, no node can say that it is there. */
export type NodeRole = 'serves' | 'stands by' | 'unheard of' | 'gone';

export interface ClusterNode {
  readonly node: string;
  readonly role: NodeRole;
  /** As host:port; null: the other nodes can't pass requests on to it. */
  readonly address: string | null;
  /** As host:port, where it is lent partitions; null: it runs none for others, and lends none. */
  readonly link: string | null;
  /** Nodes link with those alone that link by the same; null: without a link. */
  readonly links_by: LinksBy | null;
  /** The version of the service that it runs; null: one that did not say so. */
  readonly release: string | null;
  /** ISO 8601. */
  readonly started: string;
  /** How long ago it was heard of. */
  readonly seen_seconds: number;
  /** Those that it runs. */
  readonly partitions: readonly number[];
  /** Those that operators have moved to it: it keeps them until it is drained or gone. */
  readonly wanted_partitions: readonly number[];
  /** Those that it can't run, because its files of them are damaged. */
  readonly damaged_partitions: readonly number[];
  /** It is to run none, until it is started again. */
  readonly is_drained: boolean;
  /** It is to stop for good once others run what it runs. */
  readonly is_leaving: boolean;
  /** Entries that it does not have yet, of what others run; null at the node that serves. */
  readonly behind_entries: number | null;
}

export interface Takeover {
  readonly at: string;
  readonly epoch: number;
  readonly node: string;
  /** Who had the lease before; null: nobody. */
  readonly previous: string | null;
  readonly reason: string;
}

/** A standby of PostgreSQL. What is null the role may not see, which needs `pg_monitor` for it. */
export interface Replica {
  readonly name: string;
  readonly state: string | null;
  /** As PostgreSQL says it: sync, quorum, potential or async. */
  readonly sync: string | null;
  readonly behind_bytes: number | null;
  /** It has received what this primary never had: it should have been promoted instead. */
  readonly is_ahead: boolean;
}

/** What to do where standbys have received more than the server that was promoted. */
export const promoteInstead = (primary: string, ahead: string) =>
  `${ahead} has received what ${primary} never had, and can't follow it: promote that one instead (docs/operations.md, Failing over)`;

export interface PostgresState {
  readonly primary: string;
  readonly timeline: number;
  /** For how long writes have waited for a standby; 0: they don't. */
  readonly waiting_seconds: number;
  readonly standbys: readonly Replica[];
}

export interface ClusterStatus {
  /** The node that has the lease; null: none has, or it is not known to be there. */
  readonly serving: string | null;
  readonly epoch: number;
  readonly partitions: number;
  readonly nodes: readonly ClusterNode[];
  /** The first database, which has the lease and the directory. */
  readonly postgresql: PostgresState;
  /** Those that have the logs of the other partitions. */
  readonly other_databases: readonly {
    /** As they are configured, such as 16-31. */
    readonly partitions: string;
    /** Why it can't be asked; null: it can. */
    readonly trouble: string | null;
    /** Null: it can't be asked. */
    readonly postgresql: PostgresState | null;
  }[];
  /** The newest first. */
  readonly takeovers: readonly Takeover[];
}

/** What a node ran is run by others. */
export interface DrainedNode {
  readonly node: string;
  readonly partitions: readonly number[];
  readonly milliseconds: number;
}

/** A node has stopped, and nothing tells of it any more. */
export interface LeftNode {
  readonly node: string;
  /** It had stopped before, perhaps not in order. */
  readonly was_gone: boolean;
  /** Those that it ran. */
  readonly partitions: readonly number[];
  readonly milliseconds: number;
}

export interface JoinedNode {
  readonly node: string;
  /** It was drained, or had been told to leave. */
  readonly was_drained: boolean;
}

export interface MovedPartition {
  readonly partition: number;
  /** Who ran it; null: nobody. */
  readonly from: string | null;
  readonly to: string;
  readonly milliseconds: number;
}

export interface MovedLease {
  readonly from: string;
  readonly to: string;
  readonly milliseconds: number;
}
