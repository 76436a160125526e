// What two threads are connected over: a wire where both run on other nodes, a channel through this one otherwise.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { MessageChannel, MessagePort } from 'node:worker_threads';
import { Wiring } from '../../src/cluster/wires.ts';
import { connectBetween, connectShard, Newest } from '../../src/threads/connect-threads.ts';
import type { SupervisedThread } from '../../src/threads/supervised-thread.ts';
import type { Thread } from '../../src/threads/thread.ts';

/** Keeps what it is connected over. */
function thread(process: string | null) {
  const connected: unknown[] = [];
  const connect = ({ number }: { number: number }, over: unknown) => {
    connected.push([number, over]);
    if (over instanceof MessagePort) over.close();
  };
  return { connected, thread: { process, connect } as unknown as Thread };
}

const wiring = () => {
  const made = new Wiring(7);
  made.together('p', 'q');
  return made;
};

for (const [shardAt, edgeAt, over] of [
  ['p', 'q', 'a wire'],
  ['p', 'p', 'a wire'],
  ['p', 'r', 'a channel'],
  [null, 'p', 'a channel'],
  ['p', null, 'a channel'],
  [null, null, 'a channel'],
] as const)
  test(`a shard at ${shardAt ?? 'this node'} and an edge at ${edgeAt ?? 'this node'}: ${over}`, () => {
    const [shard, edge] = [thread(shardAt), thread(edgeAt)];
    connectShard(shard.thread, 3, edge.thread, wiring());
    const ends = [...shard.connected, ...edge.connected] as [number, unknown][];
    assert.deepEqual(
      ends.map(([number]) => number),
      [0, 3],
    );
    for (const [, end] of ends) assert.equal(end instanceof MessagePort ? 'a channel' : 'a wire', over);
  });

test('only what runs on the two nodes is connected anew', () => {
  const at = (process: string | null) => {
    const made = thread(process);
    return {
      ...made,
      supervised: { ready: made.thread, thread: made.thread } as unknown as SupervisedThread,
    };
  };
  const none = { ready: null, thread: null } as unknown as SupervisedThread;
  const shards = [at('p'), at('q'), at('r'), at(null)];
  const edges = [at('q'), at('p'), at('r'), at(null)];
  const supervised = (all: readonly ReturnType<typeof at>[]) => [...all.map((each) => each.supervised), none];
  connectBetween(['p', 'q'], supervised(shards), supervised(edges), wiring());
  const counts = (all: readonly ReturnType<typeof at>[]) => all.map(({ connected }) => connected.length);
  assert.deepEqual(
    [counts(shards), counts(edges)],
    [
      [1, 1, 0, 0],
      [1, 1, 0, 0],
    ],
  );
});

test('without links between nodes there are no wires', () => {
  const [shard, edge] = [thread('p'), thread('p')];
  connectShard(shard.thread, 3, edge.thread, null);
  for (const [, end] of [...shard.connected, ...edge.connected] as [number, unknown][])
    assert(end instanceof MessagePort);
});

test('a wire that comes after what has taken its place is closed', async () => {
  const connected: [number, MessagePort][] = [];
  const newest = new Newest<number>();
  const ports = [1, 2, 3].map((count) => ({ count, ...new MessageChannel() }));
  const take = (number: number, place: number) => {
    const { count, port1: port } = ports[place]!;
    if (newest.takes(number, { count, port })) connected.push([number, port]);
  };
  const [, late, other] = ports.map(({ port1 }) => port1);
  const { port2: early } = ports[0]!;
  early.ref();
  const closed = once(early, 'close');
  take(0, 1);
  take(0, 0);
  take(1, 2);
  assert.deepEqual(connected, [
    [0, late],
    [1, other],
  ]);
  await closed;
  for (const { port1 } of ports) port1.close();
});
