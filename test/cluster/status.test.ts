// What `payments cluster status` tells of nodes that can't say that they are there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterStatus } from '../../src/cluster/cluster-status.ts';
import { poll } from '../poll.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { clusterCommand, startNode } from './nodes.ts';

test('while writes wait for a standby a node is unheard of, and not gone', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 1);
  const a = startNode(context, { url: servers.url, name: 'a' });
  await a.serving;
  const cluster = clusterCommand(servers);
  const status = async () => JSON.parse((await cluster('status', '--json')).out) as ClusterStatus;
  const before = await status();
  assert.deepEqual(
    before.nodes.map(({ role }) => role),
    ['serves'],
  );
  const [, standby] = servers.all;
  standby!.freeze();
  context.after(() => standby!.thaw());
  const seen = new Set<string>(before.nodes.map(({ role }) => role));
  // Long enough for whoever waits to have given up and tried again.
  await poll(async () => {
    const { nodes, postgresql } = await status();
    for (const { role } of nodes) seen.add(role);
    return postgresql.waiting_seconds >= 15 || undefined;
  });
  assert.deepEqual([...seen].sort(), ['serves', 'unheard of']);
  assert.match(a.output(), /the lease can't be seen, taken or kept[^\n]*: there is no answer after 3 s/);
  assert.match((await cluster('status')).out, /WRITES HAVE WAITED \d+ s FOR A STANDBY/);
  standby!.thaw();
  await poll(async () => {
    const { nodes } = await status();
    return nodes.some(({ role }) => role === 'serves') || undefined;
  });
});
