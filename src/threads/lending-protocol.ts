// What the node that has the lease and one that runs partitions for it say to each other, and how
// their threads are started. All else goes over ports, as between threads of one process.

import type { NodeIdentity, ReachableNode } from '../cluster/node.ts';
import type { Config } from '../config/config-schema.ts';
import type { KeyRingChange } from '../edge/api/authenticate.ts';
import type { Moment } from '../journal/ownership.ts';
import type { ShardThreadAccount } from './directory-projections.ts';

export type FromLender =
  | { readonly type: 'lead'; readonly epoch: number; readonly node: string; readonly release: string }
  /** The answer to a beat: trust for so long from sending it. */
  | { readonly type: 'trusted'; readonly sent: Moment; readonly trustMs: number }
  /** All nodes that run something for it, told every second. */
  | { readonly type: 'hosts'; readonly hosts: readonly OtherHost[] };

/** A node that runs partitions and edges for the same one. */
export type OtherHost = Pick<ReachableNode, 'node' | 'process' | 'link'>;

export type FromHost =
  /** It can run partitions, and so many edges. */
  | { readonly type: 'ready'; readonly edges: number }
  | { readonly type: 'refused'; readonly reason: string }
  /** By this node's own clocks: it comes back as it is. */
  | { readonly type: 'beat'; readonly sent: Moment }
  /** It is linked with another host, or not any more: wires lead to that one, or don't. */
  | { readonly type: 'together' | 'apart'; readonly process: string };

/** Between two hosts. Each channel that one opens is greeted with the name of its wire. */
export type FromOtherHost = { readonly type: 'host'; readonly process: string } | { readonly type: 'here' };

/** What another node runs for the one that has the lease. */
export type Lent =
  | { readonly kind: 'shard'; readonly shard: LentShard }
  | { readonly kind: 'edge'; readonly edge: EdgeAnywhere }
  /** The thread of the node's own request logs. */
  | { readonly kind: 'request_logs' };

/** What a shard's thread is told on whichever node it runs. */
export interface ShardAnywhere {
  readonly number: number;
  /** The epoch of the lease; null where no nodes share the service. */
  readonly lease: number | null;
  /** How many shards there are. */
  readonly shards: number;
  readonly secretsKeys: readonly string[];
  readonly baseUrl: string;
  readonly accounts: readonly ShardThreadAccount[];
  /** The directory's revision that the accounts are of. */
  readonly revision: number;
}

/** What an edge's thread is told on whichever node it runs. */
export interface EdgeAnywhere {
  readonly number: number;
  readonly shards: number;
  /** How many edges share the mailboxes of the shards. */
  readonly edges: number;
  readonly baseUrl: string;
  readonly keys: readonly KeyRingChange[];
  /** The signing secrets of `listen` are derived from it. In base64. */
  readonly listenKey: string;
}

/** A shard that another node runs. */
export interface LentShard extends ShardAnywhere {
  /** For so long attempts of webhooks that another node has made may still run. */
  readonly quietMs: number;
  /** What an attempt of a webhook may last: the lender has noted it with the lease. */
  readonly attemptMs: number;
}

interface LinkThreadData {
  readonly config: Config;
  readonly identity: NodeIdentity;
  /** What both sides know each other by where no certificates are configured. */
  readonly key: Uint8Array;
}

export interface HostingThreadData extends LinkThreadData {
  /** How many edges this node can run. */
  readonly edges: number;
  /** The memory of the board that says for how long this node may speak for what it was lent. */
  readonly trust: SharedArrayBuffer;
}

export interface LendingThreadData extends LinkThreadData {
  readonly epoch: number;
  /** The memory of the ownership board. */
  readonly ownership: SharedArrayBuffer;
}
