// The operators' socket of a node that stands by.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchange } from '../../../src/operator/socket/operator-client.ts';
import { openStandbySocket } from '../../../src/operator/socket/standby-socket.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

test('a node that stands by tells of itself, and where all else is done', async (context) => {
  const dataDir = temporaryFolder();
  const failures: unknown[] = [];
  const socket = await openStandbySocket({
    dataDir,
    node: 'b',
    tells: {
      config: async () => [],
      doctor: async () => [{ name: 'service', ok: true, detail: 'node b stands by' }],
      metrics: () => Promise.reject(new Error('a thread has gone')),
    },
    onFailure: (_command, error) => failures.push(error),
  });
  context.after(() => socket.close());

  assert.deepEqual(await exchange(dataDir, 'config', {}), []);
  assert.deepEqual(await exchange(dataDir, 'doctor', {}), [
    { name: 'service', ok: true, detail: 'node b stands by' },
  ]);
  await assert.rejects(exchange(dataDir, 'org.create', { name: 'Souk' }), {
    kind: 'refused',
    message: /^node b stands by: run the command on the node that serves, which "payments cluster status"/,
  });
  await assert.rejects(exchange(dataDir, 'metrics', {}), { kind: 'failed' });
  assert.deepEqual(failures, [new Error('a thread has gone')]);
});
