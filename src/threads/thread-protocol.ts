// The messages between the main thread and its threads. Requests go over the ports that connect
// edges and shards directly. What is asked is a table of questions (rpc/questions.ts).

import type { MessagePort } from 'node:worker_threads';
import type { TakenLease } from '../cluster/lease-keeper.ts';
import type { NodeIdentity, ReachableNode, ServiceIdentity } from '../cluster/node.ts';
import type { Config } from '../config/config-schema.ts';
import type { NotedEnd } from '../data-folder/sequence-notes.ts';
import type { Part, ShardIdentity } from '../disk/identity.ts';
import type { KeyRingChange } from '../edge/api/authenticate.ts';
import type { RefusedKeyNote } from '../edge/api/refused-keys.ts';
import type { UsedKey } from '../edge/api/used-keys.ts';
import type { CheckpointSizes, Compacting } from '../journal/journal.ts';
import type { Answer, Question } from '../rpc/questions.ts';
import type { ShardThreadAccount } from './directory-projections.ts';
import type { EdgeAnywhere, Lent, ShardAnywhere } from './lending-protocol.ts';
import type { FollowedShard } from './standby-partitions.ts';

/** What a port leads to. */
export type Connection =
  /** A shard gets the port of a peer; an edge and a webhook thread get that of shard `number`. */
  | { readonly type: 'connect'; readonly number: number }
  /** An edge and the thread of the request logs each get an end of the channel between them. */
  | { readonly type: 'connect_request_logs' }
  /** So do the threads of the request logs of two nodes; `node`: the name of the other one. */
  | { readonly type: 'connect_other_logs'; readonly node: string }
  /** An edge passes visits of the dashboard to the main thread. */
  | { readonly type: 'dashboard' }
  /** The lending thread has a node run something: that node's thread gets the port. */
  | { readonly type: 'lend'; readonly process: string; readonly lent: Lent };

/** A thread is connected. `count`: so many times until now. */
export type Connected = Connection & { readonly count: number; readonly port: MessagePort };

/** From the main thread. */
export type Instruction = Connected | Question<ThreadQuestions>;

/** What the main thread asks its threads. */
export interface ThreadQuestions {
  /** An organization changed: apply the change. */
  account: { asks: { readonly account: ShardThreadAccount } };
  /** A shard notes how many changes the directory has seen, whatever they were of. */
  directory: { asks: { readonly revision: number } };
  keys: { asks: { readonly change: KeyRingChange } };
  /** So many edges share the mailboxes of the shards. */
  edges: { asks: { readonly edges: number } };
  /** The configuration changed: apply what can change. Answers the failure, or null. */
  reread: { asks: { readonly config: Config }; answers: string | null };
  /** The data folder is not paused any more: do what was held back. */
  resume: { asks: object };
  /** A shard gives back the room that its checkpoint does not use, and reports its progress. */
  compact: { asks: object; answers: CompactAnswer; reports: Compacting };
  /**
   * Keeps the checkpoint of a partition as it is for a reader in another process, and reports the
   * folder. Answers when it is released.
   */
  hold_checkpoint: {
    asks: { readonly hold: number; readonly partition: number };
    reports: { readonly folder: string };
  };
  release_checkpoint: { asks: { readonly hold: number } };
  /** Connects to the nodes that may run partitions. */
  lead: { asks: { readonly nodes: readonly ReachableNode[] } };
  /** Ends the link to a node that does not do what it is told. */
  unlink: { asks: { readonly process: string; readonly linkNumber: number } };
  /** Follows a partition that nobody on this node owns. */
  follow: { asks: { readonly shard: FollowedShard } };
  /** Lets a partition go that is followed. */
  release: { asks: { readonly partition: number } };
  /** The thread's metrics, as prom-client's JSON. */
  metrics: { asks: object; answers: object };
  /**
   * The service is to stop soon: an edge serves on, tells load balancers, and each answer is the
   * last one on its connection; a node that stands by leaves the lease to others.
   */
  announce_stop: { asks: object };
  /**
   * Finish the requests that were taken, and close; at once: an edge refuses what waits for shards.
   * The thread ends when it has answered.
   */
  stop: { asks: { readonly atOnce?: boolean } };
}

/** To the main thread. */
export type Notice =
  | { readonly type: 'ready' }
  /** Its start waits for other machines, nobody knows for how long. */
  | { readonly type: 'waits' }
  | Answer
  /** Everything in a shard's log up to this end is durable. */
  | { readonly type: 'durable'; readonly end: NotedEnd }
  /** API keys that an edge refused, for the audit record. */
  | { readonly type: 'refused_keys'; readonly refused: readonly RefusedKeyNote[] }
  /** API keys that were used at an edge. */
  | { readonly type: 'used_keys'; readonly used: readonly UsedKey[] }
  /** A node that stands by has found the files of a shard whole. */
  | { readonly type: 'whole'; readonly shard: number }
  /** The files of a shard are damaged on this node, which does not follow it any more. */
  | { readonly type: 'damaged'; readonly shard: number; readonly message: string }
  /** The node has the lease now. */
  | ({ readonly type: 'lease_taken' } & TakenLease)
  | { readonly type: 'lease_lost' }
  /** Where the node is that has the lease. */
  | { readonly type: 'lease_holder'; readonly address: string | null }
  /** The lease is to move to another node. */
  | { readonly type: 'lease_wanted'; readonly successor: string }
  /** The node is to stop for good. */
  | { readonly type: 'leaves' }
  /** The nodes that may run partitions, the one that has the lease among them. */
  | {
      readonly type: 'nodes';
      readonly nodes: readonly ReachableNode[];
      /** The partitions whose database does not answer. */
      readonly silent: readonly number[];
    }
  /** The node with that process can be given partitions, and so many edges, or not any more. */
  | {
      readonly type: 'linked';
      readonly node: string;
      readonly process: string;
      /** No other link has it. */
      readonly linkNumber: number;
      readonly edges: number;
    }
  | { readonly type: 'unlinked'; readonly process: string }
  /** Two other nodes are linked with each other, or not any more. */
  | { readonly type: 'together' | 'apart'; readonly process: string; readonly other: string }
  /** The node that has the lease wants this one to run something; the port leads to that node. */
  | { readonly type: 'lent'; readonly lent: Lent; readonly term: number; readonly port: MessagePort }
  /**
   * The thread has failed and will end. `fatal`: another start can't help. `isRemote`: other
   * machines have failed, not the node that it runs on.
   */
  | {
      readonly type: 'failed';
      readonly message: string;
      readonly fatal: boolean;
      readonly isRemote?: boolean;
    };

/** The sizes of the checkpoint's file, or why it is as it was. */
type CompactAnswer = CheckpointSizes | { readonly failure: string };

/** Messages that a thread sends without being asked. */
export type News = Exclude<Notice, Answer | { readonly type: 'ready' | 'waits' | 'failed' }>;

/** How a shard thread is started. */
export interface ShardThreadData extends ShardAnywhere {
  readonly dir: string;
  readonly identity: ShardIdentity;
  /** The memory of the ownership board. */
  readonly ownership: SharedArrayBuffer;
  /** The term of trust in which the shard is run: 0 on the node that has the lease. */
  readonly term: number;
  /** This process has just checked the journal's files. */
  readonly isChecked: boolean;
  readonly config: Config;
  /**
   * Whether the data folder is paused: the shard then reads, changes nothing and calls no networks.
   */
  readonly paused: boolean;
}

/** How a webhook thread is started. */
export interface WebhookThreadData {
  readonly number: number;
  /** The memory of the ownership board. */
  readonly ownership: SharedArrayBuffer;
  /** How long to wait before the first attempt, at least: those of another node may still run. */
  readonly quietMs: number;
  readonly config: Config;
  readonly secretsKeys: readonly string[];
  /** Whether the data folder is paused: no attempt is made then. */
  readonly paused: boolean;
}

/** How the thread that keeps the node's lease is started. */
export interface LeaseThreadData {
  readonly config: Config;
  readonly service: ServiceIdentity;
  readonly identity: NodeIdentity;
  /** The memory of the ownership board. */
  readonly ownership: SharedArrayBuffer;
  /** The memory that says how far this node follows the partitions. */
  readonly progress: SharedArrayBuffer;
}

/** How the thread that follows the partitions is started. */
export interface StandbyThreadData {
  readonly config: Config;
  readonly service: ServiceIdentity;
  readonly shards: readonly FollowedShard[];
  /**
   * This node has the lease, and follows what it lends: it drops nothing that it has not archived,
   * where that is configured, and the audit record is its own. One that stands by follows that, too.
   */
  readonly isLending: boolean;
  /** The memory that says how far this node follows the partitions. */
  readonly progress: SharedArrayBuffer;
}

/** How the thread of the request logs is started. */
export interface RequestLogThreadData {
  readonly config: Config;
  /** A node whose log can't be asked yet; null: none. */
  readonly missing: string | null;
}

/** How the archive's process is started. */
export interface ArchiveProcessData {
  readonly config: Config;
  readonly folder: { readonly id: string; readonly generation: number };
  readonly shardDirs: readonly string[];
  readonly directory: string;
  readonly directoryPart: Part;
}

/** How an edge thread is started. */
export interface EdgeThreadData extends EdgeAnywhere {
  readonly config: Config;
  readonly port: number;
  /** The memory of the ownership board. */
  readonly ownership: SharedArrayBuffer;
  /** The term of trust in which the edge is told of keys: 0 on the node that has the lease. */
  readonly term: number;
  /** How many connections all edges of this node have. */
  readonly connections: SharedArrayBuffer;
  /** Whether the data folder is paused, which `/readyz` tells. */
  readonly paused: boolean;
}
