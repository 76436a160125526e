// `payments cluster`: the nodes that share a service.

import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import {
  type ClusterNode,
  type ClusterStatus,
  type DrainedNode,
  type JoinedNode,
  type LeftNode,
  type MovedLease,
  type MovedPartition,
  type PostgresState,
  promoteInstead,
  type Replica,
  type Takeover,
} from '../../cluster/cluster-status.ts';
import type { CertifiedNode } from '../use-cases/certify-node.ts';
import { CommandFailure } from '../use-cases/failures.ts';
import { addCommand, type CliContext } from './context.ts';
import { formatFields, tableOf } from './table.ts';

export function addClusterCommands(program: Command, context: CliContext): void {
  const { host, options, print } = context;
  const nodes = () => host.cluster(options().dataDir);
  const cluster = addCommand(
    program,
    'cluster',
    'the nodes that share the service over PAYMENTS_JOURNAL_URL',
  );
  addCommand(cluster, 'status', 'show the nodes; exits with 1 when none serves').action(async () => {
    const status = await (await nodes()).status();
    print(status, screen);
    if (status.serving === null) throw new CommandFailure('no node serves');
  });
  addCommand(cluster, 'move', 'have a node serve, or run a partition until it is drained or stopped')
    .argument('<what>', 'lease, or the number of a partition', leaseOrPartition)
    .argument('<node>', 'the node that is to have it')
    .action(async (what: 'lease' | number, node: string) => {
      const { moveLease, movePartition } = await nodes();
      if (what === 'lease') print(await moveLease(node), moved);
      else print(await movePartition(what, node), movedPartition);
    });
  addCommand(cluster, 'drain', 'have other nodes do all that this one does, so that it can be stopped')
    .argument('<node>', 'the node that is to serve no longer')
    .action(async (node) => print(await (await nodes()).drain(node), drained));
  addCommand(cluster, 'leave', 'have other nodes do all that this one does, stop it for good, and forget it')
    .argument('<node>', 'the node that is to leave, or has gone')
    .action(async (node) => print(await (await nodes()).leave(node), left));
  addCommand(cluster, 'join', 'have a node that was drained work again')
    .argument('<node>', 'the node that is to run partitions and take requests')
    .action(async (node) => print(await (await nodes()).join(node), joined));
  addCommand(cluster, 'certificate', 'make a certificate for the links of a node, and its authority at first')
    .argument('<node>', 'the node that it names')
    .requiredOption('--to <folder>', 'folder of the authority and of what it signs')
    .action(async (node, { to }) => print(await host.certifyNode(resolve(to), node), certified));
}

function moved({ from, to, milliseconds }: MovedLease): string {
  return `Node ${to} has the lease that node ${from} had, after ${milliseconds} ms.`;
}

function leaseOrPartition(text: string): 'lease' | number {
  if (text === 'lease') return text;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be "lease" or the number of a partition.');
}

function movedPartition({ partition, from, to, milliseconds }: MovedPartition): string {
  if (from === to) return `Node ${to} runs partition ${partition}, and keeps it.`;
  const before = from === null ? 'nobody' : `node ${from}`;
  return `Node ${to} runs partition ${partition}, which ${before} ran, after ${milliseconds} ms.`;
}

function drained(done: MovedLease | DrainedNode): string {
  if ('to' in done) return moved(done);
  const { node, partitions, milliseconds } = done;
  return `Node ${node} ran ${inWords(partitions)}, and runs none any more, after ${milliseconds} ms.`;
}

function inWords(partitions: readonly number[]): string {
  if (partitions.length === 0) return 'no partition';
  return `partition${partitions.length === 1 ? '' : 's'} ${partitions.join(', ')}`;
}

function left({ node, was_gone, partitions, milliseconds }: LeftNode): string {
  if (was_gone) return `Node ${node} was gone, and is forgotten.`;
  return `Node ${node} ran ${inWords(partitions)}, and has left, after ${milliseconds} ms.`;
}

function joined({ node, was_drained }: JoinedNode): string {
  return was_drained
    ? `Node ${node} is given partitions again within seconds.`
    : `Node ${node} was not drained: it is given partitions where it has a link.`;
}

function certified({ ends, authority_ends, is_new_authority, ...files }: CertifiedNode): string {
  const authority = `${files.authority}, ${is_new_authority ? 'made now, ' : ''}good until ${authority_ends}`;
  return formatFields({ ...files, certificate: `${files.certificate}, good until ${ends}`, authority });
}

function screen({
  serving,
  epoch,
  partitions,
  nodes,
  postgresql,
  other_databases: others,
  takeovers,
}: ClusterStatus): string {
  const fields = {
    serving: serving ?? 'NO NODE',
    lease: `epoch ${epoch}, of ${partitions} partitions and the directory`,
    postgresql: primaryOf(postgresql),
    ...Object.fromEntries(
      others.map(({ partitions, trouble, postgresql }) => [
        `of partitions ${partitions}`,
        postgresql === null ? `CAN'T BE ASKED: ${trouble}` : primaryOf(postgresql),
      ]),
    ),
  };
  const asked = [postgresql, ...others.map((other) => other.postgresql).filter((each) => each !== null)];
  return [
    formatFields(fields),
    withDamage(withMismatch(nodeTable(nodes), nodes), nodes),
    ...asked.map(standbysOf),
    takeoverTable(takeovers),
  ].join('\n\n');
}

function primaryOf({ primary, timeline, waiting_seconds: seconds }: PostgresState): string {
  return `${primary}, timeline ${timeline}${waiting(seconds)}`;
}

function waiting(seconds: number): string {
  return seconds === 0 ? '' : `, WRITES HAVE WAITED ${seconds} s FOR A STANDBY`;
}

const listed = (partitions: readonly number[]) => partitions.join(', ') || '-';

const nodeTable = tableOf<ClusterNode>([
  'node',
  [
    'role',
    ({ role, is_drained, is_leaving }) =>
      [role, ...(is_drained ? ['drained'] : []), ...(is_leaving ? ['leaves'] : [])].join(', '),
  ],
  ['runs', ({ partitions }) => listed(partitions)],
  ['moved to it', ({ wanted_partitions: wanted }) => listed(wanted)],
  ['behind', 'behind_entries'],
  ['seen', ({ seen_seconds: seconds }) => `${seconds} s ago`],
  ['links by', ({ links_by }) => links_by ?? '-'],
  'release',
  'started',
  'address',
]);

function withMismatch(table: string, nodes: readonly ClusterNode[]): string {
  const there = nodes.filter(({ role, links_by }) => role !== 'gone' && links_by !== null);
  const isMixed = new Set(there.map(({ links_by }) => links_by)).size > 1;
  return isMixed ? `${table}\n${mixedLinks}` : table;
}

function withDamage(table: string, nodes: readonly ClusterNode[]): string {
  const damaged = nodes.filter(({ damaged_partitions: partitions }) => partitions.length > 0);
  const lines = damaged.map(
    ({ node, damaged_partitions: partitions }) =>
      `NODE ${node} HAS DAMAGED FILES of ${inWords(partitions)}, which others are to run: ${makeFolderAnew}.`,
  );
  return [table, ...lines].join('\n');
}

const makeFolderAnew = 'make its folder anew (docs/operations.md, A damaged folder among several nodes)';

const mixedLinks =
  'NODES THAT LINK BY DIFFERENT THINGS DO NOT LINK: set PAYMENTS_CLUSTER_CERT_FILE on all nodes, or on none.';

function standbysOf({ primary, standbys }: PostgresState): string {
  const ahead = standbys.filter(({ is_ahead }) => is_ahead).map(({ name }) => name);
  return [
    replicaTable(primary)(standbys),
    ...(ahead.length === 0 ? [] : [`WRONG PRIMARY: ${promoteInstead(primary, ahead.join(', '))}.`]),
    ...(standbys.some(({ state }) => state === null) ? [unseenStandbys] : []),
  ].join('\n');
}

const unseenStandbys =
  'The role of PAYMENTS_JOURNAL_URL may not see how far they are: grant pg_monitor to it.';

const replicaTable = (primary: string) =>
  tableOf<Replica>([[`standby of ${primary}`, 'name'], 'state', 'sync', ['behind', 'behind_bytes']]);

const takeoverTable = tableOf<Takeover>([['takeover', 'at'], 'epoch', 'node', 'previous', 'reason']);
