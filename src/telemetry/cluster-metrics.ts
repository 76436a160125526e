// The metrics of a node among those that share a service.

import type { Registry } from 'prom-client';
import { metricsIn } from './metrics-in.ts';

/**
 * The node that has the lease serves for as long as it is trusted; of the others each is 0.
 * `damaged`: the partitions of which this node's files are damaged.
 */
export function createLeaseMetrics(
  registry: Registry,
  node: string,
  { isTrusted, damaged }: { readonly isTrusted: () => boolean; readonly damaged: () => readonly number[] },
) {
  const { gauge } = metricsIn(registry);
  let held = 0;
  const help = '1 at the node that has the lease of the service and may answer, 0 at all others';
  gauge('payments_node_serves', help, ['node'], () => [[{ node }, held > 0 && isTrusted() ? 1 : 0]]);
  gauge('payments_lease_epoch', 'Which lease this node has, counted; 0: none', [], () => held);
  gauge(
    'payments_partition_damaged',
    "1 for a partition of which this node's files are damaged: others are to run it",
    ['shard', 'node'],
    () => damaged().map((shard) => [{ shard, node }, 1] as const),
  );
  return {
    taken(epoch: number) {
      held = epoch;
    },
    lost() {
      held = 0;
    },
  };
}

export function createStandbyMetrics(registry: Registry) {
  const behind = metricsIn(registry).gauge(
    'payments_standby_behind_entries',
    'Entries of a partition that this node, which stands by, does not have yet',
    ['shard'],
  );
  return {
    behind: (shard: number, entries: number) => behind.set({ shard: String(shard) }, entries),
    /** It is not followed any more: other nodes are asked how far they are. */
    leave: (shard: number) => behind.remove({ shard: String(shard) }),
  };
}

/** Of a node whose links go by certificates. */
export function createCertificateMetric(registry: Registry, leftMs: () => number) {
  const help = "Time until this node's certificate for links ends";
  metricsIn(registry).gauge('payments_link_certificate_left_seconds', help, [], () => leftMs() / 1_000);
}

/** Of the node that has others run partitions. `runs`: the name of the node that runs each. */
export function createLendingMetrics(
  registry: Registry,
  { runs, links }: { readonly runs: () => readonly string[]; readonly links: () => number },
) {
  const { gauge, counter } = metricsIn(registry);
  const help = '1 for the node that runs the partition, or has it start';
  gauge('payments_partition_runs', help, ['shard', 'node'], () =>
    runs().map((node, shard) => [{ shard, node }, 1] as const),
  );
  gauge(
    'payments_links',
    'Nodes that this one is connected to, so that they run partitions for it',
    [],
    links,
  );
  const lost = counter('payments_links_lost_total', 'Links to other nodes that were lost');
  const moves = counter('payments_partition_moves_total', 'Times that a partition began on another node');
  return { linkLost: () => lost.inc(), moved: () => moves.inc() };
}
