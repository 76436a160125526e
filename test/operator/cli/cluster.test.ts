// What `payments cluster` shows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterStatus, Replica } from '../../../src/cluster/cluster-status.ts';
import type { Cluster } from '../../../src/operator/use-cases/cluster.ts';
import { runCommandLine } from './command-line.ts';

const replica: Replica = { name: 'b', state: 'streaming', sync: 'quorum', behind_bytes: 0, is_ahead: false };

async function statusWith(
  standbys: readonly Replica[],
  waiting_seconds = 0,
  other_databases: ClusterStatus['other_databases'] = [],
): Promise<string> {
  const status: ClusterStatus = {
    serving: 'a',
    epoch: 1,
    partitions: 4,
    nodes: [],
    postgresql: { primary: 'p:5432', timeline: 1, waiting_seconds, standbys },
    other_databases,
    takeovers: [],
  };
  const { code, out } = await runCommandLine(['cluster', 'status'], {
    cluster: async () => ({ status: async () => status }) as Cluster,
  });
  assert.equal(code, 0);
  return out;
}

test('status shows how far the standbys of PostgreSQL are', async () => {
  const out = await statusWith([replica]);
  assert.match(out, /^b +streaming +quorum +0$/m);
  assert.doesNotMatch(out, /pg_monitor/);
});

test('status says whose standbys they are', async () => {
  const postgresql = { primary: 'q:5432', timeline: 1, waiting_seconds: 0, standbys: [] };
  const out = await statusWith([replica], 0, [{ partitions: '2-3', trouble: null, postgresql }]);
  assert.match(out, /^STANDBY OF P:5432 +STATE .*\nb +streaming .*\n\nSTANDBY OF Q:5432 +STATE/m);
});

test('status says that writes wait for a standby', async () => {
  assert.match(
    await statusWith([], 7),
    /^postgresql +p:5432, timeline 1, WRITES HAVE WAITED 7 s FOR A STANDBY$/m,
  );
  assert.doesNotMatch(await statusWith([]), /WAITED/);
});

test('status says that a standby has more than the primary', async () => {
  const out = await statusWith([{ ...replica, state: 'startup', behind_bytes: -80, is_ahead: true }]);
  assert.match(out, /^WRONG PRIMARY: b has received what p:5432 never had, .*: promote that one instead/m);
  assert.doesNotMatch(await statusWith([replica]), /WRONG/);
});

test('status says what the role needs that may not see how far they are', async () => {
  const out = await statusWith([{ ...replica, state: null, sync: null, behind_bytes: null }]);
  assert.match(out, /^b +- +- +-\nThe role .* may not see how far they are: grant pg_monitor to it\.$/m);
});

for (const [partitions, told] of [
  [[], 'Node b ran no partition, and runs none any more, after 5 ms.'],
  [[2], 'Node b ran partition 2, and runs none any more, after 5 ms.'],
  [[0, 2], 'Node b ran partitions 0, 2, and runs none any more, after 5 ms.'],
] as const)
  test(`drain of a node with ${partitions.length} partitions`, async () => {
    const { out } = await runCommandLine(['cluster', 'drain', 'b'], {
      cluster: async () =>
        ({ drain: async () => ({ node: 'b', partitions, milliseconds: 5 }) }) as unknown as Cluster,
    });
    assert.equal(out, `${told}\n`);
  });
