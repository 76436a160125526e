// `payments cluster`: what is known of the nodes that share a service, and the moves of the lease
// and of partitions. It asks PostgreSQL, so it runs on any machine that has the configuration.

import { setTimeout as wait } from 'node:timers/promises';
import type {
  ClusterNode,
  ClusterStatus,
  DrainedNode,
  JoinedNode,
  LeftNode,
  MovedLease,
  MovedPartition,
} from '../../cluster/cluster-status.ts';
import { defined } from '../../core/assert.ts';
import { nameSuccessor, type OtherDatabase, readCluster } from '../../postgresql/cluster-state.ts';
import { type Database, hasLog } from '../../postgresql/database.ts';
import { forgetGone, setDrained, setLeaving, wantPartition } from '../../postgresql/node-table.ts';
import { findPrimary, type Primary, withPrimary } from '../../postgresql/primary.ts';
import { migrate } from '../../postgresql/schema.ts';
import { refusalOfListed } from '../../postgresql/service-table.ts';
import { CommandFailure } from './failures.ts';

const moveMsMax = 30_000;
const lookMs = 50;
const nobodyServes =
  'no node serves: "payments cluster status" shows which are there, and whether writes wait';

export type Cluster = ReturnType<typeof clusterOf>;

/** The databases of a service, as a command has connected to them. */
interface Connected {
  /** Of the first one. */
  readonly primary: Primary;
  readonly others: readonly OtherDatabase[];
  /** What is known of the nodes now. */
  readonly read: () => Promise<ClusterStatus>;
}

/** The nodes that share these databases; without any, each question is refused. */
export function clusterOf(databases: readonly Database[]) {
  const ask = <T extends object>(use: (connected: Connected) => Promise<T>) => askAbout(databases, use);
  return {
    status: () => ask(({ read }) => read()),
    moveLease: (to: string) => ask((connected) => moveLease(connected, to)),
    movePartition: (partition: number, to: string) =>
      ask((connected) => movePartition(connected, partition, to)),
    drain: (node: string) => ask((connected) => drain(connected, node)),
    leave: (node: string) => ask((connected) => leave(connected, node)),
    join: (node: string) => ask((connected) => join(connected, node)),
  };
}

/** Moves the lease to `to`, and resolves when that node has it. */
async function moveLease(connected: Connected, to: string): Promise<MovedLease> {
  const { serving, nodes } = await connected.read();
  const from = requireServing(serving);
  if (from === to) throw new CommandFailure(`node ${to} has the lease already`);
  const found = nodes.filter(({ node }) => node === to);
  if (!found.some(({ role }) => role === 'stands by'))
    throw new CommandFailure(
      `no node ${to} stands by: ${nodes.map(({ node, role }) => `${node} ${role}`).join(', ')}`,
    );
  return move(connected, from, to);
}

/** Has node `to` run a partition, and resolves when it does. */
async function movePartition(connected: Connected, partition: number, to: string): Promise<MovedPartition> {
  const before = await connected.read();
  const refusal = refusalOfMove(before, partition, to);
  if (refusal !== null) throw new CommandFailure(refusal);
  const runs = ({ nodes }: ClusterStatus) =>
    nodes.find(({ partitions }) => partitions.includes(partition))?.node ?? null;
  const fromMs = performance.now();
  const database = databaseOf(connected, partition);
  if (!(await wantPartition(connected.primary, database, partition, to)))
    throw new CommandFailure(`node ${to} has just gone`);
  await until(
    async () => runs(await connected.read()) === to,
    `node ${to} does not run partition ${partition}`,
  );
  return { partition, from: runs(before), to, milliseconds: Math.round(performance.now() - fromMs) };
}

/** The primary of the database that has the partition's log. */
function databaseOf({ primary, others }: Connected, partition: number): Primary {
  const other = others.find((each) => hasLog(each, partition));
  if (other === undefined) return primary;
  if (typeof other.primary === 'string') throw new CommandFailure(other.primary);
  return other.primary;
}

/** Why the partition can't be moved to the node; null: it can. */
export function refusalOfMove(status: ClusterStatus, partition: number, to: string): string | null {
  const there = status.nodes.filter(({ role }) => role !== 'gone');
  const serving = there.find(({ role }) => role === 'serves');
  const found = there.find(({ node }) => node === to);
  if (serving === undefined) return nobodyServes;
  if (partition >= status.partitions)
    return `there is no partition ${partition}: the service has those from 0 to ${status.partitions - 1}`;
  if (found === undefined) return notThere(to, status.nodes);
  if (found.damaged_partitions.includes(partition))
    return `node ${to} has damaged files of partition ${partition}: payments cluster status says what to do`;
  if (found === serving) return null;
  if (found.is_drained) return `node ${to} was drained: have it join first (payments cluster join ${to})`;
  if (found.is_leaving) return `node ${to} is about to leave`;
  if (found.link === null)
    return `node ${to} runs no partitions for others: set PAYMENTS_CLUSTER_LINK there, and start it again`;
  if (serving.link === null)
    return `node ${serving.node} lends no partitions: set PAYMENTS_CLUSTER_LINK there, and start it again`;
  if (found.links_by !== serving.links_by)
    return `node ${to} links by ${found.links_by}, and node ${serving.node} by ${serving.links_by}: have both link by the same`;
  if (found.release !== serving.release)
    return `node ${to} runs release ${found.release}, and node ${serving.node} lends to its own, ${serving.release}, only`;
  return null;
}

/**
 * Has other nodes do what `node` does. The lease, if it has that, moves to the node that stands by
 * and lacks the least. Otherwise it is lent no partitions any more.
 */
async function drain(connected: Connected, node: string): Promise<MovedLease | DrainedNode> {
  const { serving, nodes } = await connected.read();
  if (requireServing(serving) !== node) return takeBack(connected, node, nodes);
  return move(connected, node, successorOf(node, nodes).node);
}

/** The node that takes the lease when `node` gives it back: the one that lacks the least. */
function successorOf(node: string, nodes: readonly ClusterNode[]): ClusterNode {
  const behind = (each: ClusterNode) => each.behind_entries ?? Number.POSITIVE_INFINITY;
  const [best] = nodes
    .filter((each) => each.role === 'stands by' && each.node !== node && !each.is_drained && !each.is_leaving)
    .toSorted((a, b) => behind(a) - behind(b));
  if (best === undefined) throw new CommandFailure('no other node stands by: start one first');
  return best;
}

/**
 * Has other nodes do what `node` does, and has it stop then. Resolves when it has stopped and is
 * forgotten. One that is gone already is only forgotten.
 */
async function leave({ primary, read }: Connected, node: string): Promise<LeftNode> {
  const { serving, nodes } = await read();
  const before = nodes.find((each) => each.node === node);
  if (before === undefined) throw new CommandFailure(notThere(node, nodes));
  if (serving === node) successorOf(node, nodes);
  const fromMs = performance.now();
  await setLeaving(primary, node);
  await until(async () => {
    const now = await read();
    return now.nodes.every((each) => each.node !== node || each.role === 'gone');
  }, `node ${node} has not stopped`);
  await forgetGone(primary, node);
  const { partitions, role } = before;
  const milliseconds = Math.round(performance.now() - fromMs);
  return { node, was_gone: role === 'gone', partitions, milliseconds };
}

async function takeBack(
  { primary, read }: Connected,
  node: string,
  nodes: readonly ClusterNode[],
): Promise<DrainedNode> {
  const partitionsOf = (all: readonly ClusterNode[]) =>
    all.find((each) => each.node === node)?.partitions ?? [];
  const fromMs = performance.now();
  if (!(await setDrained(primary, node, true))) throw new CommandFailure(notThere(node, nodes));
  await until(async () => {
    const now = await read();
    return (
      partitionsOf(now.nodes).length === 0 && now.other_databases.every(({ trouble }) => trouble === null)
    );
  }, `node ${node} may still run partitions`);
  return { node, partitions: partitionsOf(nodes), milliseconds: Math.round(performance.now() - fromMs) };
}

/** Has a node that was drained, or was to leave, be given partitions and edges again. */
async function join({ primary, read }: Connected, node: string): Promise<JoinedNode> {
  const { nodes } = await read();
  const was_drained = nodes.some((each) => each.node === node && (each.is_drained || each.is_leaving));
  if (!(await setDrained(primary, node, false))) throw new CommandFailure(notThere(node, nodes));
  return { node, was_drained };
}

export function notThere(name: string, nodes: readonly ClusterNode[]): string {
  const there = nodes.filter(({ role }) => role !== 'gone').map(({ node }) => node);
  return `no node ${name} is there${there.length === 0 ? ', and no other one' : `: ${there.join(', ')}`}`;
}

function requireServing(serving: string | null): string {
  if (serving === null) throw new CommandFailure(nobodyServes);
  return serving;
}

async function move({ primary, read }: Connected, from: string, to: string): Promise<MovedLease> {
  const fromMs = performance.now();
  if (!(await nameSuccessor(primary, to)))
    throw new CommandFailure(`node ${from} has just given the lease back`);
  await until(async () => {
    const { serving } = await read();
    return serving === to;
  }, `node ${to} has not taken the lease`);
  return { from, to, milliseconds: Math.round(performance.now() - fromMs) };
}

async function until(isDone: () => Promise<boolean>, otherwise: string): Promise<void> {
  const fromMs = performance.now();
  while (!(await isDone())) {
    if (performance.now() - fromMs > moveMsMax)
      throw new CommandFailure(`${otherwise} after ${moveMsMax / 1000} s: look at "payments cluster status"`);
    await wait(lookMs);
  }
}

async function askAbout<T extends object>(
  [first, ...rest]: readonly Database[],
  use: (connected: Connected) => Promise<T>,
): Promise<T> {
  if (first === undefined)
    throw new CommandFailure(
      'PAYMENTS_JOURNAL_URL is not set: it names the PostgreSQL servers that nodes share',
    );
  const others = await Promise.all(
    rest.map(async (database) => ({
      partitions: defined(database.partitions, 'each of several has some'),
      division: database.division,
      primary: await findPrimary(database),
    })),
  );
  try {
    const found = await withPrimary(first, async (primary) => {
      await migrate(primary.client);
      const refusal = await refusalOfListed(primary, first);
      if (refusal !== null) throw new CommandFailure(refusal);
      return use({ primary, others, read: () => readCluster(primary, others) });
    });
    if (typeof found === 'string') throw new CommandFailure(found);
    return found;
  } finally {
    for (const { primary } of others) if (typeof primary !== 'string') primary.close();
  }
}
