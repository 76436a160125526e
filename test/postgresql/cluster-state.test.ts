// What operators are told of the nodes that share PostgreSQL, and what they tell these.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemTimers } from '../../src/core/scheduler.ts';
import { nameSuccessor, readCluster } from '../../src/postgresql/cluster-state.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { PostgresLease } from '../../src/postgresql/lease-table.ts';
import {
  forgetGone,
  PostgresNodes,
  setDrained,
  setLeaving,
  wantPartition,
} from '../../src/postgresql/node-table.ts';
import type { OwnerOptions } from '../../src/postgresql/owner-connection.ts';
import { PostgresLog } from '../../src/postgresql/partition-log.ts';
import { PartitionTables } from '../../src/postgresql/partition-table.ts';
import { findPrimary } from '../../src/postgresql/primary.ts';
import { migrate } from '../../src/postgresql/schema.ts';
import { poll } from '../poll.ts';
import { leftOut, onlyDatabase, startServers } from './servers.ts';

const skip = { skip: leftOut, timeout: 60_000 };
const started = leftOut === false ? startServers({ after }, 1) : null;

async function bench() {
  const servers = (await started)!;
  const [server, standby] = servers.all;
  const address = parseJournalUrl(servers.url);
  assert(typeof address !== 'string');
  const postgres = { address, password: null, ca: null, ...onlyDatabase, timers: systemTimers };
  const primary = await findPrimary(postgres);
  assert(typeof primary !== 'string');
  const service = { folder: 'f', generation: 0, shards: 2 };
  const optionsOf = (node: string, lease: number | null): OwnerOptions => {
    return { ...postgres, service, lease, node, isSingle: false, onTrouble() {} };
  };
  const processOf = (node: string) => {
    const [options, identity] = [
      optionsOf(node, null),
      { node, process: `process ${node}`, release: '1.2.3' },
    ];
    return {
      nodes: new PostgresNodes(options, identity),
      lease: new PostgresLease(options, identity, new PartitionTables([options])),
    };
  };
  /** The node was heard of last so long ago. What this changes waits for no standby. */
  const silence = (node: string, seconds: number) =>
    server!.query(
      `set synchronous_commit = local;
       update payments.nodes set seen_at = now() - interval '${seconds} seconds' where node = '${node}'`,
      'payments',
    );
  return { server: server!, standby: standby!, primary, optionsOf, processOf, silence };
}

test('where no node has been yet, nothing is told', skip, async () => {
  const { server, primary } = await bench();
  await migrate(primary.client);
  const { postgresql, ...cluster } = await readCluster(primary);
  assert.deepEqual(cluster, {
    ...{ serving: null, epoch: 0, partitions: 0 },
    ...{ nodes: [], other_databases: [], takeovers: [] },
  });
  assert.equal(postgresql.primary, `127.0.0.1:${server.port}`);
  assert.deepEqual([postgresql.timeline, postgresql.waiting_seconds], [1, 0]);
  const [{ behind_bytes: behind, ...standby }] = postgresql.standbys as [(typeof postgresql.standbys)[0]];
  assert.deepEqual(standby, { name: 'b', state: 'streaming', sync: 'quorum', is_ahead: false });
  assert.equal(typeof behind, 'number');
  assert.equal(await nameSuccessor(primary, 'b'), false);
  primary.close();
});

test(
  'nodes are told with what they run, what is wanted of them, and whether they are there',
  skip,
  async () => {
    const { server, standby, primary, optionsOf, processOf, silence } = await bench();
    const [a, b] = [processOf('a'), processOf('b')];
    await a.nodes.note({ address: 'a:1', link: 'a:2', linksBy: 'secrets key' }, {}, []);
    await b.nodes.note({ address: 'b:1', link: null, linksBy: 'certificate' }, { 0: 0 }, [1]);
    const epoch = await a.lease.take(null, 'the first node', { trustMs: 2_000, attemptMs: 30_000 });
    const logs = [0, 1].map((partition) => new PostgresLog({ ...optionsOf('a', epoch), partition }));
    for (const log of logs) await log.begin((await log.acquire(0)).epoch, { sequence: 30, checksum: 7 });

    const status = () => readCluster(primary);
    /** The node as it is told when it was heard of last so long ago. */
    const nodeOf = async (name: string, silentSeconds = 0) => {
      await silence(name, silentSeconds);
      return (await status()).nodes.find(({ node }) => node === name)!;
    };
    for (const name of ['a', 'b']) await silence(name, 0);
    const { serving, epoch: told, partitions, takeovers, nodes } = await status();
    assert.deepEqual([serving, told, partitions], ['a', 1, 2]);
    assert.deepEqual(
      takeovers.map(({ at: _, ...takeover }) => takeover),
      [{ epoch: 1, node: 'a', previous: null, reason: 'the first node' }],
    );
    assert.deepEqual(
      nodes.map(({ started: _, seen_seconds: seconds, ...node }) => {
        assert(seconds < 5, `${seconds}`);
        return node;
      }),
      [
        {
          ...{ node: 'a', role: 'serves', address: 'a:1', link: 'a:2', release: '1.2.3', partitions: [0, 1] },
          links_by: 'secrets key',
          ...{ wanted_partitions: [], damaged_partitions: [] },
          ...{ is_drained: false, is_leaving: false, behind_entries: null },
        },
        {
          ...{ node: 'b', role: 'stands by', address: 'b:1', link: null, release: '1.2.3', partitions: [] },
          links_by: null,
          ...{ wanted_partitions: [], damaged_partitions: [1] },
          ...{ is_drained: false, is_leaving: false, behind_entries: 60 },
        },
      ],
    );

    // What operators want.
    assert.equal(await wantPartition(primary, primary, 1, 'b'), true);
    assert.deepEqual((await nodeOf('b')).wanted_partitions, [1]);
    assert.equal(await setDrained(primary, 'b', true), true);
    const drained = await nodeOf('b');
    assert.deepEqual([drained.is_drained, drained.wanted_partitions], [true, []]);
    assert.equal(await wantPartition(primary, primary, 0, 'b'), false);
    assert.equal(await setDrained(primary, 'b', false), true);
    await setLeaving(primary, 'b');
    const leaving = await nodeOf('b');
    assert.deepEqual([leaving.is_leaving, leaving.wanted_partitions], [true, []]);
    assert.equal(await setDrained(primary, 'b', false), true);
    assert.equal((await nodeOf('b')).is_leaving, false);
    assert.equal(await nameSuccessor(primary, 'b'), true);
    assert.equal((await a.lease.beat(epoch!, 1))?.successor, 'b');

    // It is gone once it was silent for more than five seconds; not while it can't say that it is there.
    assert.equal((await nodeOf('b', 2)).role, 'stands by');
    const gone = await nodeOf('b', 6);
    assert.deepEqual([gone.role, gone.wanted_partitions], ['gone', []]);
    assert(gone.seen_seconds >= 6);
    assert.equal(await setDrained(primary, 'b', true), false);
    standby.freeze();
    const waiting = a.lease.beat(epoch!, 2);
    await poll(async () => (await status()).postgresql.waiting_seconds >= 1 || undefined);
    const unheard = await nodeOf('b', 5.9);
    // There was no primary for a minute before: no node could say so then, and b had gone half a minute earlier.
    await silence('b', 90);
    await silence('a', 60);
    const late = await status();
    standby.thaw();
    await waiting;
    assert.equal(unheard.role, 'unheard of');
    assert.deepEqual(unheard.wanted_partitions, [1]);
    assert.deepEqual([late.serving, ...late.nodes.map(({ role }) => role)], [null, 'unheard of', 'gone']);

    const lost = await nodeOf('a', 6);
    assert.deepEqual([lost.role, lost.partitions], ['gone', []]);
    assert.equal((await status()).serving, null);
    await forgetGone(primary, 'b');
    await a.nodes.note({ address: 'a:1', link: 'a:2', linksBy: 'secrets key' }, {}, []);
    assert.equal((await a.lease.look())?.quietMs, null);
    await a.lease.release(epoch!, 7);
    const left = await a.lease.look();
    assert.deepEqual([left?.isReleased, left?.quietMs, left?.terms.trustMs], [true, 7, 2_000]);
    const released = await status();
    assert.deepEqual([released.serving, released.epoch], [null, 1]);
    assert.deepEqual(
      released.nodes.map(({ node, role }) => `${node} ${role}`),
      ['a stands by'],
    );
    // A node that leaves is forgotten on more than one disk.
    standby.freeze();
    let isForgotten = false;
    const forgotten = a.nodes.forget().then(() => {
      isForgotten = true;
    });
    const waits = "select 1 from pg_stat_activity where wait_event = 'SyncRep'";
    await poll(async () => (await server.query(waits)).length > 0 || undefined);
    assert.equal(isForgotten, false);
    standby.thaw();
    await forgotten;
    assert.deepEqual((await status()).nodes, []);
    for (const each of [a.nodes, a.lease, b.nodes, b.lease, primary, ...logs]) each.close();
  },
);

test('a node is as far behind as in a partition that it does not run and has whole', skip, async () => {
  const { server, primary, processOf } = await bench();
  const { nodes, lease } = processOf('a');
  const partitions = (['b', 'b', 'a'] as const).map((node, partition) => {
    return { partition, node, wanted: null, end: 30 };
  });
  for (const [followed, damaged, behind] of [
    [{ 0: 30, 1: 5 }, [], 25],
    [{ 0: 30, 1: 5 }, [1], 0],
    [{ 0: 30 }, [0], 30],
    [{}, [0, 1], 0],
  ] as const) {
    await nodes.note({ address: null, link: 'a:2', linksBy: 'secrets key' }, followed, damaged);
    const reachable = await nodes.reachable(partitions);
    assert.deepEqual(
      reachable.map((node) => [node.node, node.damaged, node.behind]),
      [['a', damaged, behind]],
    );
  }
  await nodes.forget();
  await lease.look();
  for (const each of [nodes, lease, primary]) each.close();
  await poll(async () => (await server.connections()) === 0 || undefined);
});

test('a node hears at once of what operators and other nodes have changed', skip, async () => {
  const { primary, optionsOf, processOf } = await bench();
  const [a, b] = [processOf('a'), processOf('b')];
  let told = 0;
  const identity = { node: 'c', process: 'process c', release: '1.2.3' };
  const c = new PostgresNodes({ ...optionsOf('c', null), onTold: () => told++ }, identity);
  const nowhere = { address: null, link: null, linksBy: 'secrets key' } as const;
  for (const { nodes } of [a, b, { nodes: c }]) await nodes.note(nowhere, {}, []);
  const seen = (await a.lease.look()) ?? null;
  const epoch = await a.lease.take(seen, 'the first node', { trustMs: 2_000, attemptMs: 30_000 });
  const log = new PostgresLog({ ...optionsOf('a', epoch), partition: 0 });
  for (const change of [
    () => log.acquire(0),
    () => setDrained(primary, 'b', true),
    () => setDrained(primary, 'b', false),
    () => wantPartition(primary, primary, 0, 'b'),
    () => nameSuccessor(primary, 'b'),
    () => setLeaving(primary, 'b'),
    () => a.lease.release(epoch!, 7),
  ]) {
    const before = told;
    await change();
    await poll(() => told > before || undefined);
  }
  const before = told;
  for (const { nodes } of [a, b, { nodes: c }]) await nodes.note(nowhere, {}, []);
  assert.equal(told, before, 'what a node notes of itself wakes nobody');
  for (const each of [a.nodes, a.lease, b.nodes, b.lease, c, log, primary]) each.close();
});
