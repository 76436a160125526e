// `payments cluster`: what is known of the nodes that share a service, and the move of the lease to
// another one. It asks PostgreSQL, so it can be run on any machine that has the configuration.

import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterNode, ClusterStatus, MovedLease } from '../cluster/cluster-status.ts';
import type { Config } from '../config/config-schema.ts';
import { postgresOf } from '../config/remote-log.ts';
import { CommandFailure } from '../operator/use-cases/failures.ts';
import { nameSuccessor, readCluster } from '../postgresql/cluster-state.ts';
import { findPrimary, type Primary } from '../postgresql/primary.ts';

const moveMsMax = 30_000;
const lookMs = 50;

export function clusterStatus(config: Config): Promise<ClusterStatus> {
  return withPrimary(config, readCluster);
}

/** Moves the lease to `to`, and resolves when that node has it. */
export function moveLease(config: Config, to: string): Promise<MovedLease> {
  return withPrimary(config, async (primary) => {
    const { serving, nodes } = await readCluster(primary);
    const from = requireServing(serving);
    if (from === to) throw new CommandFailure(`node ${to} has the lease already`);
    const found = nodes.filter(({ node }) => node === to);
    if (!found.some(({ role }) => role === 'stands by'))
      throw new CommandFailure(
        `no node ${to} stands by: ${nodes.map(({ node, role }) => `${node} ${role}`).join(', ')}`,
      );
    return move(primary, from, to);
  });
}

/** Moves the lease away from `node`, to the node that stands by and has most of it. */
export function drainNode(config: Config, node: string): Promise<MovedLease> {
  return withPrimary(config, async (primary) => {
    const { serving, nodes } = await readCluster(primary);
    if (requireServing(serving) !== node)
      throw new CommandFailure(
        `node ${node} does not have the lease, so nothing has to be moved away from it`,
      );
    const behind = (each: ClusterNode) => each.behind_entries ?? Number.POSITIVE_INFINITY;
    const [best] = nodes
      .filter((each) => each.role === 'stands by' && each.node !== node)
      .toSorted((a, b) => behind(a) - behind(b));
    if (best === undefined) throw new CommandFailure('no other node stands by: start one first');
    return move(primary, node, best.node);
  });
}

function requireServing(serving: string | null): string {
  if (serving === null)
    throw new CommandFailure('no node has the lease: start one with PAYMENTS_CLUSTER_NODE');
  return serving;
}

async function move(primary: Primary, from: string, to: string): Promise<MovedLease> {
  const fromMs = performance.now();
  if (!(await nameSuccessor(primary, to)))
    throw new CommandFailure(`node ${from} has just given the lease back`);
  while (performance.now() - fromMs < moveMsMax) {
    const { serving } = await readCluster(primary);
    if (serving === to) return { from, to, milliseconds: Math.round(performance.now() - fromMs) };
    await wait(lookMs);
  }
  throw new CommandFailure(
    `node ${to} has not taken the lease within ${moveMsMax / 1000} s: look at "payments cluster status"`,
  );
}

async function withPrimary<T>(config: Config, use: (primary: Primary) => Promise<T>): Promise<T> {
  const options = postgresOf(config);
  if (options === null)
    throw new CommandFailure(
      'PAYMENTS_JOURNAL_URL is not set: it names the PostgreSQL servers that nodes share',
    );
  const primary = await findPrimary(options);
  if (typeof primary === 'string') throw new CommandFailure(`no PostgreSQL takes writes: ${primary}`);
  try {
    return await use(primary);
  } finally {
    primary.destroy(new Error('the command is done'));
  }
}
