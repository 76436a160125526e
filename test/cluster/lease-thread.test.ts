// The thread that keeps a node's lease, where PostgreSQL is not there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnershipBoard } from '../../src/journal/ownership.ts';
import { ProgressBoard } from '../../src/threads/progress-board.ts';
import { Thread } from '../../src/threads/thread.ts';
import type { LeaseThreadData } from '../../src/threads/thread-protocol.ts';
import { freePort } from '../free-port.ts';
import { linkConfig } from './link-config.ts';

const entry = new URL('../../src/threads/lease-thread.ts', import.meta.url);

test('it stops although nobody can be asked', { timeout: 60_000 }, async () => {
  const data: LeaseThreadData = {
    config: linkConfig('a', await freePort()),
    service: { folder: 'f', generation: 1, shards: 1 },
    identity: { node: 'a', process: 'pa', release: '1.0.0' },
    ownership: OwnershipBoard.memory(1),
    progress: ProgressBoard.memory(1),
  };
  const thread = Thread.worker({ name: 'lease', entry }).begin(data);
  await thread.ready;
  await thread.stop();
  assert.equal(await thread.ended, null);
});
