// Which partitions can be moved to which nodes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterNode, ClusterStatus } from '../../src/cluster/cluster-status.ts';
import { notThere, refusalOfMove } from '../../src/operator/use-cases/cluster.ts';
import { withoutFormer } from '../../src/postgresql/cluster-state.ts';

function node(name: string, fields: Partial<ClusterNode> = {}): ClusterNode {
  return {
    node: name,
    role: 'stands by',
    address: null,
    link: `${name}:9000`,
    links_by: 'secrets key',
    release: '1.0.0',
    started: '2026-11-26T00:00:00.000Z',
    seen_seconds: 0,
    partitions: [],
    wanted_partitions: [],
    damaged_partitions: [],
    is_drained: false,
    is_leaving: false,
    behind_entries: 0,
    ...fields,
  };
}

function status(...nodes: readonly ClusterNode[]): ClusterStatus {
  const postgresql = { primary: 'p:5432', timeline: 1, waiting_seconds: 0, standbys: [] };
  return { serving: 'a', epoch: 1, partitions: 4, nodes, postgresql, other_databases: [], takeovers: [] };
}

const serves = (fields: Partial<ClusterNode> = {}) => node('a', { role: 'serves', ...fields });

const cases: readonly (readonly [
  name: string,
  nodes: readonly ClusterNode[],
  partition: number,
  to: string,
  refusal: RegExp | null,
])[] = [
  ['a node that stands by and has a link', [serves(), node('b')], 3, 'b', null],
  ['back to the node that has the lease', [serves({ link: null }), node('b')], 0, 'a', null],
  ['a partition that does not exist', [serves(), node('b')], 4, 'b', /no partition 4: .* from 0 to 3/],
  ['a node that does not exist', [serves(), node('b')], 0, 'c', /no node c is there: a, b/],
  ['a node that is gone', [serves(), node('b', { role: 'gone' })], 0, 'b', /no node b is there: a/],
  [
    'a node that was drained',
    [serves(), node('b', { is_drained: true })],
    0,
    'b',
    /was drained: .* cluster join b/,
  ],
  [
    'a node whose files of it are damaged',
    [serves(), node('b', { damaged_partitions: [0] })],
    0,
    'b',
    /b has damaged files of partition 0: .* cluster status/,
  ],
  [
    'back to the node that has the lease, and damaged files of it',
    [serves({ damaged_partitions: [3] }), node('b')],
    3,
    'a',
    /a has damaged files of partition 3/,
  ],
  [
    'a node that has damaged files of others',
    [serves(), node('b', { damaged_partitions: [0] })],
    1,
    'b',
    null,
  ],
  ['a node that leaves', [serves(), node('b', { is_leaving: true })], 0, 'b', /b is about to leave/],
  ['a node without a link', [serves(), node('b', { link: null })], 0, 'b', /b runs no .*CLUSTER_LINK/],
  ['from a node that lends none', [serves({ link: null }), node('b')], 0, 'b', /a lends no .*CLUSTER_LINK/],
  [
    'to one that links by a certificate',
    [serves(), node('b', { links_by: 'certificate' })],
    0,
    'b',
    /b links by certificate, and node a by secrets key/,
  ],
  ['to another release', [serves(), node('b', { release: '1.1.0' })], 0, 'b', /release 1.1.0, .* own, 1.0.0/],
  ['while nobody serves', [node('a'), node('b')], 0, 'b', /no node serves/],
];

for (const [name, nodes, partition, to, refusal] of cases)
  test(name, () => {
    const found = refusalOfMove(status(...nodes), partition, to);
    if (refusal === null) assert.equal(found, null);
    else assert.match(found ?? 'it can be moved', refusal);
  });

test('where no node is there at all, that is said of one that is asked for', () => {
  assert.equal(notThere('b', [node('a', { role: 'gone' })]), 'no node b is there, and no other one');
});

test('of a node that was started again the former processes are not shown', () => {
  const nodes = [
    node('a', { role: 'gone', seen_seconds: 90 }),
    node('a'),
    node('b', { role: 'gone', seen_seconds: 80 }),
    node('b', { role: 'gone', seen_seconds: 20 }),
    node('c', { role: 'serves' }),
  ];
  const shown = withoutFormer(nodes).map(({ node: name, role, seen_seconds: s }) => `${name} ${role} ${s}`);
  assert.deepEqual(shown, ['a stands by 0', 'b gone 20', 'c serves 0']);
});
