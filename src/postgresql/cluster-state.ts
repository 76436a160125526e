// The nodes of a service as PostgreSQL knows them, for operators. Times are PostgreSQL's: nothing
// but what people read depends on them.

import type {
  ClusterNode,
  ClusterStatus,
  NodeRole,
  PostgresState,
  Replica,
  Takeover,
} from '../cluster/cluster-status.ts';
import type { LinksBy } from '../cluster/node.ts';
import { errorText } from '../core/errors.ts';
import { within } from '../core/scheduler.ts';
import { answerMs } from './database.ts';
import { isAhead } from './durability.ts';
import { type PartitionRange, textOf } from './journal-url.ts';
import { leaseColumns, leaseOf } from './lease-table.ts';
import { behindOf, type Followed, goneSeconds, wantedAt } from './node-table.ts';
import { type PartitionState, partitionsAt } from './partition-table.ts';
import { type Primary, tellNodes } from './primary.ts';
import { refusalOfListed } from './service-table.ts';

const takeoversShown = 10;

interface NodeRow {
  readonly [column: string]: unknown;
  readonly process: string;
  readonly node: string;
  readonly address: string | null;
  readonly link: string | null;
  readonly links_by: LinksBy;
  readonly release: string | null;
  readonly started: Date;
  readonly seen_seconds: number;
  readonly followed: Followed;
  readonly drained: boolean;
  readonly leaving: boolean;
  readonly damaged: number[];
}

interface TakeoverRow extends Omit<Takeover, 'epoch' | 'at'> {
  readonly [column: string]: unknown;
  readonly epoch: string;
  readonly at: Date;
}

interface ReplicaRow {
  readonly [column: string]: unknown;
  readonly name: string | null;
  readonly state: string | null;
  readonly sync: string | null;
  readonly behind: string | null;
  readonly ahead: boolean | null;
}

type LeaseRow = Parameters<typeof leaseOf>[0];

async function leaseAt(primary: Primary) {
  const [row] = await primary.query<LeaseRow>({ text: `select ${leaseColumns} from payments.lease` });
  return row === undefined ? null : leaseOf(row);
}

/** A database that has logs alone. A text says why it can't be asked. */
export interface OtherDatabase {
  readonly partitions: PartitionRange;
  readonly division: string | null;
  readonly primary: Primary | string;
}

/** `primary`: of the first database, whose tables are there. */
export async function readCluster(
  primary: Primary,
  others: readonly OtherDatabase[] = [],
): Promise<ClusterStatus> {
  const lease = await leaseAt(primary);
  const [counted] = await primary.query<{ shards: number }>({ text: 'select shards from payments.service' });
  const postgresql = await postgresAt(primary);
  const holder = lease === null || lease.isReleased ? null : lease.process;
  const [here, ...elsewhere] = await Promise.all([partitionsAt(primary), ...others.map(lookAt)]);
  const partitions = [...here, ...elsewhere.flatMap((each) => each.partitions)];
  const nodes = await nodesAt(primary, holder, postgresql.waiting_seconds, partitions);
  return {
    serving: nodes.find(({ role }) => role === 'serves')?.node ?? null,
    epoch: lease?.epoch ?? 0,
    partitions: counted?.shards ?? 0,
    nodes,
    postgresql,
    other_databases: elsewhere.map(({ told }) => told),
    takeovers: await takeoversAt(primary),
  };
}

interface SeenDatabase {
  readonly told: ClusterStatus['other_databases'][0];
  readonly partitions: readonly PartitionState[];
}

/** Operators look most of all when something is wrong with one of the databases. */
async function lookAt({ primary, ...listed }: OtherDatabase): Promise<SeenDatabase> {
  const which = { partitions: textOf(listed.partitions) };
  const failed = (trouble: string) => ({ told: { ...which, trouble, postgresql: null }, partitions: [] });
  if (typeof primary === 'string') return failed(primary);
  try {
    const found = await within(answerMs, askListed(primary, listed));
    if (found === null) return failed(`${primary.name} does not answer`);
    if (typeof found === 'string') return failed(found);
    const { postgresql, partitions } = found;
    return { told: { ...which, trouble: null, postgresql }, partitions };
  } catch (error) {
    return failed(`${primary.name}: ${errorText(error)}`);
  }
}

/** One question after the other. A text says why it is not the database that is listed. */
async function askListed(primary: Primary, listed: Omit<OtherDatabase, 'primary'>) {
  const refusal = await refusalOfListed(primary, listed);
  if (refusal !== null) return refusal;
  return { postgresql: await postgresAt(primary), partitions: await partitionsAt(primary) };
}

async function postgresAt(primary: Primary): Promise<PostgresState> {
  return {
    primary: primary.name,
    timeline: primary.timeline,
    waiting_seconds: await waitingAt(primary),
    standbys: await replicasOf(primary),
  };
}

/** For how long the oldest commit of the service has waited for a standby. */
async function waitingAt(primary: Primary): Promise<number> {
  const [row] = await primary.query<{ waiting: number }>({
    text: `select coalesce(extract(epoch from max(clock_timestamp() - query_start)), 0)::float8 as waiting
           from pg_stat_activity where wait_event = 'SyncRep' and usename = current_user`,
  });
  return Math.floor(row?.waiting ?? 0);
}

/** The role of a node that was heard of so long ago, when no node could be for `muteSeconds`. */
function roleOf(seenSeconds: number, muteSeconds: number, serves: boolean): NodeRole {
  if (seenSeconds - muteSeconds > goneSeconds) return 'gone';
  if (seenSeconds > goneSeconds) return 'unheard of';
  return serves ? 'serves' : 'stands by';
}

async function nodesAt(
  primary: Primary,
  holder: string | null,
  waitingSeconds: number,
  partitions: readonly PartitionState[],
): Promise<ClusterNode[]> {
  const rows = await primary.query<NodeRow>({
    text: `select process, node, address, link, links_by, release, drained, leaving, damaged, followed,
             started_at as started, extract(epoch from now() - seen_at)::float8 as seen_seconds
           from payments.nodes order by node, started_at`,
  });
  const takenBy = (name: string) =>
    partitions.filter(({ node }) => node === name).map(({ partition }) => partition);
  // Before writes waited there may have been no primary: no node was heard of then either.
  const quietSeconds = Math.min(...rows.map(({ seen_seconds }) => seen_seconds));
  const muteSeconds = waitingSeconds === 0 ? 0 : Math.max(waitingSeconds, quietSeconds);
  const nodes = rows.map(
    ({
      process,
      node,
      address,
      link,
      links_by,
      release,
      drained,
      leaving,
      started,
      seen_seconds,
      followed,
      damaged,
    }): ClusterNode => {
      const serves = process === holder;
      const role = roleOf(seen_seconds, muteSeconds, serves);
      const isGone = role === 'gone';
      return {
        node,
        role,
        address,
        link,
        links_by: link === null ? null : links_by,
        release,
        started: started.toISOString(),
        seen_seconds: Math.max(0, Math.round(seen_seconds * 10) / 10),
        partitions: isGone ? [] : takenBy(node),
        wanted_partitions: isGone || drained || leaving ? [] : wantedAt(process, partitions),
        damaged_partitions: isGone ? [] : damaged,
        is_drained: drained,
        is_leaving: leaving,
        behind_entries: serves ? null : sum(behindOf(node, followed, partitions)),
      };
    },
  );
  return withoutFormer(nodes);
}

/** Without processes that are gone of nodes that were started again. `nodes`: the oldest first. */
export function withoutFormer(nodes: readonly ClusterNode[]): ClusterNode[] {
  return nodes.filter(
    ({ node, role }, i) =>
      role !== 'gone' || !nodes.some((other, j) => other.node === node && (other.role !== 'gone' || j > i)),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

async function takeoversAt(primary: Primary): Promise<Takeover[]> {
  const rows = await primary.query<TakeoverRow>({
    text: `select at, epoch, node, previous, reason from payments.takeovers order by epoch desc limit ${takeoversShown}`,
  });
  return rows.map(({ at, epoch, ...takeover }) => ({
    at: at.toISOString(),
    epoch: Number(epoch),
    node: takeover.node,
    previous: takeover.previous,
    reason: takeover.reason,
  }));
}

async function replicasOf(primary: Primary): Promise<Replica[]> {
  const rows = await primary.query<ReplicaRow>({
    text: `select application_name as name, state, sync_state as sync,
             pg_wal_lsn_diff(sent_lsn, flush_lsn) as behind, ${isAhead} as ahead
           from pg_stat_replication order by application_name`,
  });
  return rows.map(({ name, state, sync, behind, ahead }) => ({
    name: name ?? '-',
    state,
    sync,
    behind_bytes: behind === null ? null : Number(behind),
    is_ahead: ahead ?? false,
  }));
}

/** The holder of the lease leaves it to a node. False: nobody has the lease now. */
export async function nameSuccessor(primary: Primary, node: string): Promise<boolean> {
  const rows = await primary.query({
    text: `update payments.lease set successor = $1 where not released returning ${tellNodes}`,
    values: [node],
  });
  return rows.length > 0;
}
