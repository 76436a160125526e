// Connections that are kept: until their endpoint or all are told to hang up, or others need the room.

import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { queryObjects } from 'node:v8';
import { Connection, type ConnectionUser, idleMsMax } from '../../src/http-client/connections.ts';
import { Posts } from '../../src/http-client/posts.ts';
import { clientSockets, postOptions, withReceiver } from '../webhooks/attempt-harness.ts';

/** Posts of several endpoints to one receiver, with room for so many connections. */
async function posting(
  connectionsMax: number,
  check: (
    post: (endpoint: string) => Promise<void>,
    posts: Posts,
    isOpen: (count: number) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  await withReceiver({}, async (receiver) => {
    const posts = new Posts({ ...postOptions, connectionsMax });
    const url = `http://shop.example:${receiver.port}/pay`;
    const post = async (endpoint: string) => {
      const input = { endpoint, url, headers: '', body: '{}', answerBytesMax: 100, isIdempotent: true };
      assert.equal((await posts.post(input)).failure, null);
    };
    const isOpen = async (count: number) => {
      while (receiver.openCount !== count) await new Promise(setImmediate);
      assert.equal(posts.connections.idleCount, count);
    };
    await check(post, posts, isOpen);
    posts.connections.close();
    await isOpen(0);
  });
}

test('an endpoint that hangs up leaves the connections of others, and connects anew', async () => {
  await posting(100, async (post, { connections }, isOpen) => {
    await Promise.all([post('a'), post('a'), post('b')]);
    await isOpen(3);
    connections.hangUp('a');
    await isOpen(1);
    connections.hangUp('a');
    connections.hangUp('nobody');
    await isOpen(1);
    await post('b');
    await isOpen(1);
    await post('a');
    await isOpen(2);
  });
});

test('as many are in use as those who send have, and none of them makes room', async () => {
  await posting(1, async (post, { connections }, isOpen) => {
    await Promise.all([post('a'), post('b'), post('a')]);
    await isOpen(3);
    connections.close();
    await isOpen(0);
    await post('a');
    await isOpen(1);
  });
});

test('nothing is kept of connections that are closed', async () => {
  await posting(100, async (post, { connections }, isOpen) => {
    const pass = async (count: number) => {
      for (let passed = 0; passed < count; passed++) {
        await post('a');
        connections.close();
        await isOpen(0);
      }
      clientSockets.length = 0;
      return queryObjects(Connection, { format: 'count' });
    };
    const before = await pass(5);
    const after = await pass(30);
    assert.ok(after < before + 15, `${before}, ${after}`);
  });
});

test('the connection that is idle for longest makes room, once as many are open as may be', async () => {
  await posting(2, async (post, { connections }, isOpen) => {
    // What was closed takes no room.
    for (let turn = 0; turn < 5; turn++) {
      await post('a');
      connections.hangUp('a');
      await isOpen(0);
    }
    await post('a');
    await post('b');
    await isOpen(2);
    await post('a');
    await post('c');
    await isOpen(2);
    connections.hangUp('b');
    await isOpen(2);
    connections.hangUp('a');
    await isOpen(1);
  });
});

for (const { keptMs, closedMs } of [
  { keptMs: 1_000, closedMs: 1_000 },
  { keptMs: Infinity, closedMs: 5_000 },
])
  test(`a connection kept for ${keptMs} ms is idle for ${closedMs} ms, however long its request might have taken`, ({
    mock,
  }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    const socket = new Socket();
    const connection = new Connection({
      socket,
      origin: 'http://shop.example',
      monotonic: () => nowMs,
      idleMsMax,
      nextTurn: () => 1,
      onClosed() {},
    });
    connection.use({} as ConnectionUser, 20_000);
    connection.keep(keptMs);
    const pass = (ms: number) => {
      nowMs += ms;
      mock.timers.tick(ms);
    };
    pass(closedMs - 1);
    assert.equal(socket.destroyed, false);
    pass(1);
    assert.equal(socket.destroyed, true);
  });
