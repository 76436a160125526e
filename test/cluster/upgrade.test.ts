// Nodes of two releases. The release that each node runs is this one; what the other one would have noted is put in its place.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dialect } from '../../src/journal/dialect.ts';
import { assertWhole, merchantsOn, pauseAll, progress, startWork } from '../machine/merchants.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { clusterCommand, startNode } from './nodes.ts';

const launcher = fileURLToPath(new URL('../../src/main/launch.mjs', import.meta.url));
const { event } = dialect.layouts;

test('nodes are upgraded one after the other, and none reads what it does not know', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 1);
  const query = (text: string) => servers.all[0]!.query<Record<string, unknown>>(text, 'payments');
  const writes = (version: number) =>
    query(`update payments.lease set dialect =
      jsonb_set(dialect, '{layouts,event}', '{"version": ${version}, "digest": "of another release"}')`);
  const cluster = clusterCommand(servers);

  const a = startNode(context, { url: servers.url, name: 'a', launcher });
  const first = await a.serving;
  const merchants = await merchantsOn(context, first);
  startWork(first, merchants);
  await progress(first, merchants, 5);

  // Node a is of the release before: the next one stands by, and takes over what that has written.
  await writes(event!.version - 1);
  const b = startNode(context, { url: servers.url, name: 'b', secretsKeyOf: a.dataDir, launcher });
  await b.says(/node b stands by"/);
  const status = await first.until(async () => {
    const found = JSON.parse((await cluster('status', '--json')).out);
    return found.nodes.length === 2 && found.nodes[1].behind_entries < 100 ? found : undefined;
  });
  for (const { release } of status.nodes) assert.match(release, /^\d+\.\d+\.\d+$/);
  const drained = await cluster('drain', 'a');
  assert.equal(drained.code, 0, drained.error);
  console.error(drained.out.trim());
  const second = await b.serving;
  await pauseAll(merchants);
  startWork(second, merchants);
  await progress(second, merchants, 5);
  const [{ layouts }] = (await query('select dialect -> $$layouts$$ as layouts from payments.lease')) as [
    { layouts: typeof dialect.layouts },
  ];
  assert.deepEqual(layouts, dialect.layouts);

  // Node b is of the release after: node a, which has started again and stands by, must not read on.
  await a.says(/is started again[\s\S]*node a stands by"/);
  await writes(event!.version + 1);
  const refusal = new RegExp(
    `node b writes what this release can't read \\(records of event in version ${event!.version + 1}\\): start a release here`,
  );
  await a.says(refusal);
  await new Promise((resolve) => {
    if (a.process.exitCode !== null) resolve(null);
    else a.process.once('exit', resolve);
  });
  assert.equal(a.process.exitCode, 1, 'it is not started again');
  const c = startNode(context, { url: servers.url, name: 'c', secretsKeyOf: a.dataDir });
  await c.says(refusal);
  await assert.rejects(c.serving, /ended with code 1/);

  // Also when the newer one has stopped: what it has written is still there.
  await progress(second, merchants, 5);
  await assertWhole(second, merchants, 'upgraded');
  const late = startNode(context, { url: servers.url, name: 'd', secretsKeyOf: a.dataDir });
  await late.says(refusal);
});
